package record

import "github.com/averaged/imaging/weights"

// Network is a network in JSON.
type Network struct {
	File     string `json:"file"` // of --weights, or EmbeddedFile
	Name     string `json:"name"`
	Checksum string `json:"checksum"`
	Licence  string `json:"licence"`
	Sigma    Number `json:"sigma"` // what noise it is for
	// Levels are the noise levels that a network for all of them was trained at.
	Levels []float64 `json:"levels,omitempty"`
}

// EmbeddedFile is what stands for the name of a file where weights are part of the program.
const EmbeddedFile = "embedded"

// NetworkOf describes the network in a weight file.
func NetworkOf(file string, card weights.Card) *Network {
	return &Network{
		File: file, Name: card.Name, Checksum: card.Checksum, Licence: card.Licence,
		Sigma: Number(card.Sigma), Levels: card.Architecture.Sigmas,
	}
}
