package denoise

import (
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/internal/draw"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/internal/nn/guide"
)

// RandomModel returns a network with independent Gaussian weights and biases. They depend on the seed alone, on every
// machine. Such a network restores nothing; it is for tests and trials without trained weights.
//
// Every filter is scaled so that its norm is about the given one, above 0. The paper's training begins at 1, and
// Certify finds the exact bound. Biases have a standard deviation of 0.1, or 1 in units of the noise with noise
// levels. Gains are uniform in [0, 1]. With Balls there are radii instead of gains, uniform between 0 and twice the
// length that such biases of a group have. The weights of a guide keep the size of what passes through.
func RandomModel(seed uint64, a Architecture, norm float64) (Model, error) {
	a = a.withDefaults()
	if !(norm > 0) || norm > math.MaxFloat32 {
		return Model{}, fmt.Errorf("a random network with filters of norm %v, must be above 0 and within float32", norm)
	}
	if a.Blocks < 1 || a.Blocks > maxBlocks || a.Width < 1 || a.Kernel < 1 || a.Width > maxChannels || a.Kernel > maxSide {
		return Model{}, fmt.Errorf("a random network of %d blocks, %d channels, %d×%d kernels: all must be at least 1", a.Blocks, a.Width, a.Kernel, a.Kernel)
	}
	if a.Group < 0 || (a.Group > 0) != a.Activation.IsBalls() || a.Group > 0 && a.Width%a.Group != 0 {
		return Model{}, fmt.Errorf("a random network with groups of %d of %d channels and the activation %q: only %q has groups, whose size divides the channels",
			a.Group, a.Width, a.Activation.Name, activation.Balls().Name)
	}
	m := Model{Channels: a.Channels, Width: a.Width, Kernel: a.Kernel, Activation: a.Activation, Integrator: a.Integrator,
		Shuffle: a.Shuffle, Sigmas: slices.Clone(a.Sigmas)}
	g := draw.Gaussians{Seed: seed}
	shape := backend.Shape{N: a.Width, C: a.Width, H: a.Kernel, W: a.Kernel}
	if err := shape.Check(); err != nil {
		return Model{}, err
	}
	for range a.Blocks {
		b := Block{Filter: g.Take(shape.Len(), 1)}
		deviation := 0.1
		if len(a.Sigmas) > 0 {
			deviation = 1
		}
		b.Bias = g.Take(m.rows()*a.Width, deviation)
		switch {
		case a.Group > 0:
			b.Radius = g.Uniform(m.rows()*a.Width/a.Group, 2*deviation*math.Sqrt(float64(a.Group)))
		case len(a.Sigmas) > 0:
			b.Gain = g.Uniform(m.rows()*a.Width, 1)
		}
		factor, err := normFactor(b.Filter, shape, norm)
		if err != nil {
			return Model{}, err
		}
		for i, v := range b.Filter {
			b.Filter[i] = float32(float64(v) * factor)
		}
		m.Blocks = append(m.Blocks, b)
	}
	if len(a.Guide) > 0 {
		if err := guide.CheckWidths(a.Guide); err != nil {
			return Model{}, err
		}
		m.Guide = &guide.Model{Widths: slices.Clone(a.Guide), Slope: a.GuideSlope, Layers: guide.Layers(a.Guide, m.lifted(), m.allGroups())}
		for i := range m.Guide.Layers {
			l := &m.Guide.Layers[i]
			inputs := l.In * l.Kernel * l.Kernel
			l.Weight, l.Bias = g.Take(l.Out*inputs, 1/math.Sqrt(float64(inputs))), g.Take(l.Out, 0.1)
		}
	}
	return m, m.Check()
}

// normFactor returns by what to multiply a filter to give it that norm, to about 12
// bits, so that the rounding of how it is found does not show.
func normFactor(w []float32, shape backend.Shape, norm float64) (float64, error) {
	lower, err := normbound.Search(w, shape)
	if err != nil || lower == 0 {
		return 0, err // weights that are all 0 stay so
	}
	fraction, power := math.Frexp(norm / lower)
	return math.Ldexp(math.Round(fraction*(1<<12)), power-12), nil
}
