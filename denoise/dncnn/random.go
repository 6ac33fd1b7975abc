package dncnn

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/internal/draw"
)

// Random returns a DnCNN with ReLU and independent Gaussian weights that depend on
// the seed alone, on every machine, of a size at which activations neither die out nor
// grow (He, Zhang, Ren and Sun 2015): for tests, and to try things out where there are
// no trained weights. It restores nothing. The paper's has 3 channels, width 64 and 18
// layers.
func Random(seed uint64, channels, width, layers int) (Model, error) {
	const kernel = 3
	if channels < 1 || width < 1 || layers < 1 || channels > maxChannels || width > maxChannels || layers > maxLayers {
		return Model{}, fmt.Errorf("a DnCNN of %d layers of %d channels on images of %d: all must be at least 1", layers, width, channels)
	}
	g := draw.Gaussians{Seed: seed}
	convolution := func(out, in int) Convolution {
		return Convolution{
			Filter: g.Take(out*in*kernel*kernel, math.Sqrt(2/float64(in*kernel*kernel))),
			Bias:   g.Take(out, 0.05),
		}
	}
	around := func(center, deviation float64) []float32 {
		x := g.Take(width, deviation)
		for i, v := range x {
			x[i] = float32(math.Abs(center + float64(v)))
		}
		return x
	}
	d := Model{Channels: channels, Width: width, Kernel: kernel, Activation: activation.ReLU(), Lift: convolution(width, channels)}
	for range layers {
		d.Layers = append(d.Layers, NormalisedLayer{
			Convolution: convolution(width, width),
			Scale:       around(1, 0.1), Shift: g.Take(width, 0.1), Mean: g.Take(width, 0.1), Variance: around(1, 0.2),
		})
	}
	d.Project = convolution(channels, width)
	return d, d.Check()
}
