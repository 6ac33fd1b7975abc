package noise

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/nn/tensors"
	"github.com/averaged/imaging/weights"
)

const (
	// Square is the side of a square of the map, in pixels.
	Square = 16
	// Scales is the number of scales, of 1/2, 1/4 and 1/8 of the resolution.
	Scales = 3
	// Denoisers is how many denoisers the network says levels for.
	Denoisers = 2
	// Slope is that of the activation, LeakyReLU.
	Slope = 0.1
	// Gain is what samples less ½ are multiplied by.
	Gain = 4
)

// Model is the network as plain numbers. Layers are in the order of Names.
type Model struct{ Layers []Layer }

// Layer is a convolution of Out×In×Kernel×Kernel weights and Out biases.
type Layer struct {
	Name            string
	Out, In, Kernel int
	Weight, Bias    []float32
}

// Layers returns the layers without numbers, of networks with these channels at each scale and in the head: two for
// each scale, four of the head, and the choice of the denoiser.
func Layers(widths [Scales]int, head int) []Layer {
	var list []Layer
	add := func(name string, out, in, kernel int) {
		list = append(list, Layer{Name: name, Out: out, In: in, Kernel: kernel})
	}
	in, features := 12, BandsOf+countsOf
	for i, w := range widths {
		add(fmt.Sprintf("scale.%d.0", i), w, in, 3)
		add(fmt.Sprintf("scale.%d.1", i), w, w, 3)
		in, features = 4*w, features+w
	}
	add("head.0", head, Statistics*features, 1)
	add("head.1", head, head, 3)
	add("head.2", head, head, 3)
	add("head.3", Denoisers, head, 1)
	add("choice", 1, head, 1)
	return list
}

// The places of layers in the list.
const (
	Head   = 2 * Scales
	Choice = Head + 4
)

// maxWidth keeps numbers from a file within reason.
const maxWidth = 512

// FromFile reads the network of a weight file of the family "levelmap".
func FromFile(f *weights.File) (*Model, error) {
	card, err := f.CardOf(weights.FamilyLevelMap)
	if err != nil {
		return nil, err
	}
	var sizes [Scales + 1]int
	for i := range sizes {
		name := "head.0"
		if i < Scales {
			name = fmt.Sprintf("scale.%d.0", i)
		}
		t, err := f.Tensor(name + ".bias")
		if err != nil {
			return nil, err
		}
		if len(t.Shape) != 1 || t.Shape[0] < 1 || t.Shape[0] > maxWidth {
			return nil, fmt.Errorf("the bias of layer %q has the shape %v, must have 1 to %d numbers", name, t.Shape, maxWidth)
		}
		sizes[i] = t.Shape[0]
	}
	m := &Model{Layers: Layers([Scales]int(sizes[:Scales]), sizes[Scales])}
	taker := tensors.NewTaker(f)
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Weight, l.Bias = taker.Take(l.Name+".weight", l.Out, l.In, l.Kernel, l.Kernel), taker.Take(l.Name+".bias", l.Out)
	}
	if err := taker.End(); err != nil {
		return nil, fmt.Errorf("weights %q: %w", card.Name, err)
	}
	for _, l := range m.Layers {
		for _, v := range slices.Concat(l.Weight, l.Bias) {
			if v-v != 0 { // NaN for NaN and infinities
				return nil, fmt.Errorf("weights %q: a number of layer %q is %v, must be finite", card.Name, l.Name, v)
			}
		}
	}
	return m, nil
}
