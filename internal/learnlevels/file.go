package main

import (
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/weights"
)

// fileOf returns a weight file of the network, with its numbers in 16 bits. The card gives the name, the provenance and the
// licence.
func fileOf(m *noise.Model, card weights.Card) (*weights.File, error) {
	card.Architecture = weights.Architecture{
		Family: weights.FamilyLevelMap, Channels: 3, Width: m.Layers[0].Out, Blocks: len(m.Layers), Kernel: 3,
		Activation: "leakyrelu", Slope: noise.Slope, Shuffle: 2,
	}
	f := &weights.File{}
	for _, l := range m.Layers {
		w, err := weights.NewTensor(l.Name+".weight", weights.F16, []int{l.Out, l.In, l.Kernel, l.Kernel}, l.Weight)
		if err != nil {
			return nil, err
		}
		b, err := weights.NewTensor(l.Name+".bias", weights.F16, []int{l.Out}, l.Bias)
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, w, b)
	}
	return f, f.SetCard(card)
}
