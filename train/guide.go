package train

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/guide"
)

// Guide describes the network that looks at the photograph and sets the radii of an averaged network's balls
// (package guide): a U-Net of residual blocks.
type Guide struct {
	// Widths are the channels at each scale. The first is the width of the averaged network's blocks; each
	// further scale has half the resolution of the one before.
	Widths []int `json:"widths"`
	// Slope of LeakyReLU, in [0, 1]; 0 is ReLU. With ReLU most channels of the coarse scales became 0
	// everywhere and stopped learning.
	Slope float64 `json:"slope,omitempty"`
	// Rate is the learning rate of the guide's parameters, relative to that of the averaged network's, and
	// LastRate that of its last layer, relative to the guide's. With the full rate the radii diverge in the
	// first steps.
	Rate     float64 `json:"rate"`
	LastRate float64 `json:"last_rate"`
	// MaxFactor, if not 0, is the largest factor on a radius, as in use (guide.MaxFactor). Beyond it, gradients that
	// ask for less act on the guide, and gradients that ask for more do not.
	MaxFactor float64 `json:"max_factor,omitempty"`
}

// GuidedConfig is the recipe of a denoiser for all noise levels whose radii a guide sets. Crops of 72 pixels
// are whole tiles of the processor's convolutions at half the resolution. Four of five are saved as JPEG
// first, since photographs are. The gradient's limit is ten times its usual size, so that a bad batch does
// not change the radii much.
func GuidedConfig() Config {
	c := DefaultConfig().ForNoiseLevels(0.01, 0.3)
	c.Guide = &Guide{Widths: []int{64, 96, 128}, Slope: 0.1, Rate: 0.5, LastRate: 0.1}
	c.Crop, c.Reduce, c.Saved, c.Optimiser.GradientLimit = 72, 2, 0.8, 0.1
	return c
}

func (g *Guide) check() error {
	if err := guide.CheckWidths(g.Widths); err != nil {
		return err
	}
	if err := guide.CheckSlope(g.Slope); err != nil {
		return err
	}
	if !(g.Rate > 0 && g.Rate <= 10) || !(g.LastRate > 0 && g.LastRate <= 10) {
		return errors.New("the rates of a guide must be above 0 and at most 10")
	}
	if g.MaxFactor != 0 && !(g.MaxFactor >= 1) {
		return errors.New("max_factor of a guide must be at least 1, or 0 for none")
	}
	return nil
}

// guideNet is a guide (package guide) in training.
type guideNet struct {
	dev    backend.Device
	config *Guide
	// activation on the way, and on the way back.
	activation, reverse backend.Activation

	memory   *devicequeue.Pool // of one pass
	kept     *devicequeue.Pool
	layers   []*convolution // in the order of guide.Layers
	in, out  *convolution
	down, up []*convolution // between scale i and i+1
	enter    []residual     // of each scale, on the way down
	leave    []residual     // and on the way up
	shuffled []backend.Buffer
	ends     []backend.Buffer // of the scales, on the way up
	input    backend.Buffer
}

// minSlope stands for the slope of ReLU, 0, on the way back. Gradients so much smaller than
// others change nothing. With 2⁻¹⁰⁰, as on the way, they are subnormal numbers,
// which processors take a hundred times as long for: a whole iteration took 2.5 times as long.
const minSlope = 0x1p-24

// residual is a block of two convolutions, with what the way back needs.
type residual struct {
	first, second *convolution
	begin, hidden backend.Buffer
}

// newGuideNet allocates a guide of so many radii a pixel, for a network of that many channels.
func newGuideNet(dev backend.Device, c *Guide, channels, radii int) (*guideNet, error) {
	g := &guideNet{
		dev: dev, config: c, activation: guide.Activation(c.Slope), reverse: guide.Activation(max(c.Slope, minSlope)),
		memory: devicequeue.NewPool(dev), kept: devicequeue.NewPool(dev),
	}
	q := &devicequeue.Queue{Dev: dev}
	for _, l := range guide.Layers(c.Widths, channels, radii) {
		layer := newConvolution(q, g.kept, l.Name, l.Out, l.In, l.Kernel)
		for _, p := range layer.parameters() {
			p.rate = c.Rate
		}
		// Muon's steps are those of a matrix of the usual size, however small it begins.
		layer.weights.length = math.Sqrt(float64(l.Out))
		g.layers = append(g.layers, layer)
	}
	block := func(at int) residual { return residual{first: g.layers[at], second: g.layers[at+1]} }
	for i := range c.Widths {
		g.enter = append(g.enter, block(guide.EnterAt(i)))
		g.leave = append(g.leave, block(guide.LeaveAt(i)))
		if i+1 < len(c.Widths) {
			g.down = append(g.down, g.layers[guide.DownAt(i)])
			g.up = append(g.up, g.layers[guide.UpAt(i)])
		}
	}
	g.in, g.out = g.layers[0], g.layers[len(g.layers)-1]
	for _, p := range g.out.parameters() {
		p.rate *= c.LastRate
	}
	if q.Err != nil {
		g.release()
		return nil, q.Err
	}
	return g, nil
}

func (g *guideNet) parameters() []*Parameter {
	var list []*Parameter
	for _, l := range g.layers {
		list = append(list, l.parameters()...)
	}
	return list
}

// initialise draws weights that keep the size of what goes through (He et al. 2015), of a
// block's second convolution and of the last layer far smaller ones: a guide that says nothing
// yet.
func (g *guideNet) initialise(random *generator) error {
	draw := func(l *convolution, gain float64) {
		inputs := len(l.weights.values) / l.weights.shape[0]
		bound := math.Sqrt(3 / float64(inputs))
		for i := range l.weights.values {
			l.weights.values[i] = float32(gain * bound * (2*random.uniform() - 1))
		}
	}
	for _, l := range g.layers {
		draw(l, 1)
	}
	for _, blocks := range [][]residual{g.enter, g.leave} {
		for _, b := range blocks {
			for i := range b.first.weights.values {
				b.first.weights.values[i] *= math.Sqrt2
			}
			for i := range b.second.weights.values {
				b.second.weights.values[i] *= 0.3
			}
		}
	}
	for i := range g.out.weights.values {
		g.out.weights.values[i] *= 0.01
	}
	q := &devicequeue.Queue{Dev: g.dev}
	g.prepare(q)
	return q.Err
}

// prepare brings the parameters to the device.
func (g *guideNet) prepare(q *devicequeue.Queue) {
	for _, l := range g.layers {
		l.prepare(q, nil)
	}
}

func (g *guideNet) zeroGradients(q *devicequeue.Queue) {
	for _, l := range g.layers {
		l.zeroGradients(q)
	}
}

func (g *guideNet) gradients(q *devicequeue.Queue) {
	for _, l := range g.layers {
		l.gradients(q)
	}
}

func (g *guideNet) effective(dst []array) []array {
	for _, p := range g.parameters() {
		a := p.array
		a.values = slices.Clone(a.values)
		dst = append(dst, a)
	}
	return dst
}

// apply returns a convolution of x.
func (g *guideNet) apply(q *devicequeue.Queue, l *convolution, x backend.Buffer, a backend.Activation) backend.Buffer {
	s := x.Shape()
	s.C = l.filter.Shape().N
	y := g.memory.Take(q, s)
	q.Convolve(y, x, l.filter, backend.ConvEnd{Bias: l.bias, Activation: a})
	return y
}

func (g *guideNet) forwardBlock(q *devicequeue.Queue, b *residual, x backend.Buffer) backend.Buffer {
	b.begin = x
	b.hidden = g.apply(q, b.first, x, g.activation)
	y := g.apply(q, b.second, b.hidden, backend.Activation{})
	q.Combine(y, backend.Term{A: 1, X: y}, backend.Term{A: 1, X: x})
	return y
}

// backwardBlock turns the gradient dy of the block's end into that of its beginning.
func (g *guideNet) backwardBlock(q *devicequeue.Queue, b *residual, dy backend.Buffer) {
	b.second.back(q, b.hidden, dy)
	dh := g.memory.Take(q, b.hidden.Shape())
	q.Adjoint(dh, dy, b.second.filter, 0, 1)
	q.ActivationGradient(dh, b.hidden, dh, g.reverse)
	b.first.back(q, b.begin, dh)
	q.Adjoint(dy, dh, b.first.filter, 1, 1)
	g.memory.Give(dh)
}

// forward sets dst to the logarithms of what the radii are multiplied by, N×radii×H×W, for
// src, the image as the averaged network's blocks see it, with noise of standard deviation
// sigma. It keeps what backward needs.
func (g *guideNet) forward(q *devicequeue.Queue, dst, src backend.Buffer, sigma float64) {
	g.memory.Reclaim()
	g.shuffled, g.ends = g.shuffled[:0], g.ends[:0]
	scale, plane := guide.Units(sigma)
	s := src.Shape()
	image := g.memory.Take(q, s)
	q.Fill(image, -0.5)
	q.Combine(image, backend.Term{A: scale, X: src}, backend.Term{A: scale, X: image})
	s.C++
	g.input = g.memory.Take(q, s)
	q.Fill(g.input, plane)
	q.Channels(g.input, image)
	x := g.apply(q, g.in, g.input, backend.Activation{})
	last := len(g.enter) - 1
	skips := make([]backend.Buffer, last+1)
	for i := range g.enter {
		x = g.forwardBlock(q, &g.enter[i], x)
		skips[i] = x
		if i < last {
			u := g.memory.Take(q, x.Shape().Unshuffled(2))
			fine := x
			q.Do(func() error { return g.dev.Unshuffle(u, fine, 2) })
			g.shuffled = append(g.shuffled, u)
			x = g.apply(q, g.down[i], u, backend.Activation{})
		}
	}
	g.ends = make([]backend.Buffer, last+1)
	for i := last; i >= 0; i-- {
		x = g.forwardBlock(q, &g.leave[i], x)
		g.ends[i] = x
		if i > 0 {
			coarse := g.apply(q, g.up[i-1], x, backend.Activation{})
			x = g.memory.Take(q, skips[i-1].Shape())
			fine := x
			q.Do(func() error { return g.dev.Shuffle(fine, coarse, 2) })
			q.Combine(x, backend.Term{A: 1, X: x}, backend.Term{A: 1, X: skips[i-1]})
		}
	}
	q.Convolve(dst, x, g.out.filter, backend.ConvEnd{Bias: g.out.bias})
}

// backward adds to the gradients, given that with respect to dst of the last forward.
func (g *guideNet) backward(q *devicequeue.Queue, gradient backend.Buffer) {
	g.out.back(q, g.ends[0], gradient)
	last := len(g.enter) - 1
	// Those of the ways up, each of which goes on to the way down beside it.
	skips := make([]backend.Buffer, last+1)
	d := g.memory.Take(q, g.ends[0].Shape())
	q.Adjoint(d, gradient, g.out.filter, 0, 1)
	for i := range g.leave {
		g.backwardBlock(q, &g.leave[i], d)
		if skips[i] = d; i == last {
			break
		}
		coarse := g.memory.Take(q, d.Shape().Unshuffled(2))
		fine := d
		q.Do(func() error { return g.dev.Unshuffle(coarse, fine, 2) })
		g.up[i].back(q, g.ends[i+1], coarse)
		d = g.memory.Take(q, g.ends[i+1].Shape())
		q.Adjoint(d, coarse, g.up[i].filter, 0, 1)
		g.memory.Give(coarse)
	}
	for i := last; i >= 0; i-- {
		d = skips[i]
		g.backwardBlock(q, &g.enter[i], d)
		if i == 0 {
			break
		}
		u := g.shuffled[i-1]
		g.down[i-1].back(q, u, d)
		coarse := g.memory.Take(q, u.Shape())
		q.Adjoint(coarse, d, g.down[i-1].filter, 0, 1)
		fine := g.memory.Take(q, skips[i-1].Shape())
		q.Do(func() error { return g.dev.Shuffle(fine, coarse, 2) })
		q.Combine(skips[i-1], backend.Term{A: 1, X: skips[i-1]}, backend.Term{A: 1, X: fine})
		g.memory.Give(coarse, fine)
	}
	g.in.back(q, g.input, skips[0])
}

// modelOf takes the guide's effective arrays from the end of a list, and returns the others and
// the guide.
func (g *guideNet) modelOf(arrays []array) ([]array, *guide.Model) {
	rest := len(arrays) - 2*len(g.layers)
	m := &guide.Model{Slope: g.config.Slope}
	for i, l := range g.layers {
		s, of := l.filter.Shape(), arrays[rest+2*i:]
		m.Layers = append(m.Layers, guide.Layer{
			Name: strings.TrimSuffix(of[0].name, ".weight"), Out: s.N, In: s.C, Kernel: s.H, Weight: of[0].values, Bias: of[1].values,
		})
	}
	for _, b := range g.enter {
		m.Widths = append(m.Widths, b.first.filter.Shape().N)
	}
	return arrays[:rest], m
}

// widens returns whether the guide can begin with one of those widths: as many scales, each as
// wide or wider, and the first as wide, since it is that of the averaged network's blocks.
func (g *Guide) widens(widths []int) bool {
	if len(widths) != len(g.Widths) || widths[0] != g.Widths[0] {
		return false
	}
	for i, w := range widths {
		if w > g.Widths[i] {
			return false
		}
	}
	return true
}

// beginWith sets the parameters to a guide that is as wide or narrower (Guide.widens). The
// channels that are new are those that were drawn, and what was there does not look at them yet:
// the guide says what it said before (Chen, Goodfellow and Shlens 2016, Net2Net).
func (g *guideNet) beginWith(m *guide.Model) {
	for i, l := range g.layers {
		from := m.Layers[i]
		clear(l.biases.values)
		copy(l.biases.values, from.Bias)
		row, fromRow := len(l.weights.values)/len(l.biases.values), len(from.Weight)/from.Out
		for out := range from.Out {
			to := l.weights.values[out*row:][:row]
			copy(to, from.Weight[out*fromRow:][:fromRow])
			clear(to[fromRow:])
		}
	}
}

func (g *guideNet) release() {
	for _, l := range g.layers {
		l.free()
	}
	g.memory.Free()
	g.kept.Free()
}
