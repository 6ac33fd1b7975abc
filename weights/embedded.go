package weights

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Names of the weights that are part of the library; README.md in this folder says what
// each is, what it reaches and how it was made. All but Guided were trained on photographs of
// BSDS500, which are given for non-commercial research and education.
const (
	// General is one averaged network for all noise levels, the default.
	General = "general"
	// Guided is an averaged network whose projections another network sets for every pixel
	// of a photograph, for all noise levels. It learned from photographs under CC0 and CC BY,
	// and is under Apache-2.0.
	Guided = "guided"
	// Deblur is General trained on as the prior of restore.Deblur, the default there.
	Deblur = "deblur"
	// Fast is a small one, for large pictures and previews.
	Fast = "fast"
	// Euler, Heun and RK4 are the paper's networks, for noise of 0.15.
	Euler = "euler"
	Heun  = "heun"
	RK4   = "rk4"
	// DnCNN is the unconstrained network to compare with, for noise of 0.15. Nothing is
	// proven of it.
	DnCNN = "dncnn"
)

// Names returns the names above in that order, also of those whose weights this build does
// not have.
func Names() []string { return []string{General, Guided, Deblur, Fast, Euler, Heun, RK4, DnCNN} }

//go:embed trained/*.safetensors
var trained embed.FS

// place is where the weights of a name are in trained.
func place(name string) string { return "trained/" + name + ".safetensors" }

// Embedded returns those of Names whose weights this build has: Open returns them.
func Embedded() []string { return slices.Clone(embedded()) }

var embedded = sync.OnceValue(func() []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		_, err := fs.Stat(trained, place(name))
		return err != nil
	})
})

// Open returns the embedded weights of a name, one of Embedded. The caller may change what
// it gets.
func Open(name string) (*File, error) {
	if !slices.Contains(embedded(), name) {
		return nil, fmt.Errorf("weights: this build has no weights %.40q, it has: %s", name, strings.Join(embedded(), ", "))
	}
	b, err := trained.ReadFile(place(name)) // a copy
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return Decode(b)
}

// IsEmbedded tells whether the file is, in every byte that it would be written as, one that
// is part of the library. The certificates of those are proven by the library's tests, so
// that a program need not prove them again.
func (f *File) IsEmbedded() bool {
	b, err := f.Encode()
	if err != nil {
		return false // what cannot be written was not read
	}
	return slices.ContainsFunc(embedded(), func(name string) bool {
		own, err := trained.ReadFile(place(name))
		return err == nil && bytes.Equal(own, b)
	})
}
