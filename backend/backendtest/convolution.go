package backendtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
)

// layer is a convolution of images of shape `in` with `out` channels of h×w
// weights each.
type layer struct {
	in        backend.Shape
	out, h, w int
}

func (l layer) filter() backend.Shape { return backend.Shape{N: l.out, C: l.in.C, H: l.h, W: l.w} }

func (l layer) result() backend.Shape {
	s := l.in
	s.C = l.out
	return s
}

func (l layer) String() string {
	return fmt.Sprintf("%d channels, %d×%d, of %s", l.out, l.h, l.w, size(l.in))
}

func (l layer) flops() float64 { return 2 * float64(l.result().Len()) * float64(l.in.C*l.h*l.w) }

// layers have images smaller than the filter, every count of channels that a
// vector register or a block can be filled with in part, and several images.
var layers = []layer{
	{backend.Image(1, 1, 1), 1, 1, 1},
	{backend.Image(1, 1, 1), 2, 3, 3},
	{backend.Image(2, 1, 7), 3, 3, 3},
	{backend.Image(3, 7, 1), 5, 3, 3},
	{backend.Image(1, 5, 4), 1, 7, 7},
	{backend.Image(3, 2, 2), 16, 5, 5},
	{backend.Image(5, 3, 5), 2, 3, 1},
	{backend.Image(2, 6, 9), 5, 1, 5},
	{backend.Image(16, 8, 16), 16, 3, 3},
	{backend.Image(64, 7, 9), 64, 3, 3},
	{backend.Image(17, 5, 33), 19, 3, 3},
	{backend.Image(16, 17, 31), 3, 3, 3},
	{backend.Image(3, 67, 129), 8, 3, 3},
	{backend.Image(4, 67, 129), 3, 1, 1},
	{backend.Shape{N: 2, C: 3, H: 5, W: 9}, 4, 3, 3},
	{backend.Shape{N: 3, C: 2, H: 8, W: 8}, 3, 5, 3},
	{backend.Shape{N: 5, C: 1, H: 1, W: 1}, 1, 3, 3},
	// Filters that are large, and too large for the fast memory of a device.
	{backend.Image(9, 6, 40), 33, 5, 5},
	{backend.Image(2, 9, 21), 3, 33, 35},
}

// tiledLayers have the 3×3 filters and the channel counts of the networks, and
// images of less than one tile of a fast algorithm, of whole ones, and of whole
// ones and a rest.
var tiledLayers = []layer{
	{backend.Image(64, 1, 1), 64, 3, 3},
	{backend.Image(64, 6, 6), 64, 3, 3},
	{backend.Image(64, 12, 12), 64, 3, 3},
	{backend.Image(3, 2, 7), 64, 3, 3},
	{backend.Image(3, 13, 30), 64, 3, 3},
	{backend.Image(64, 5, 6), 3, 3, 3},
	{backend.Image(64, 31, 33), 3, 3, 3},
	{backend.Image(1, 12, 12), 1, 3, 3},
	{backend.Image(1, 31, 33), 1, 3, 3},
	{backend.Image(17, 7, 13), 33, 3, 3},
	{backend.Shape{N: 2, C: 17, H: 13, W: 6}, 33, 3, 3},
	{backend.Image(128, 5, 8), 64, 3, 3},
}

func timedLayers(p Photograph) []layer {
	return []layer{
		{p.image(3), 64, 3, 3},
		{p.image(64), 64, 3, 3},
		{p.image(64), 3, 3, 3},
		{p.image(64), 64, 1, 1},
	}
}

var leaky = backend.Activation{Kind: backend.LeakyReLU, Slope: 0.01}

func convolutionCases() []*testCase {
	var cases []*testCase
	for _, l := range layers {
		cases = append(cases,
			convolveCase(l, false, backend.Activation{}),
			convolveCase(l, true, leaky))
	}
	l := layers[14]
	cases = append(cases,
		convolveCase(l, true, backend.Activation{}),
		convolveCase(l, false, leaky),
		convolveCase(l, true, backend.Activation{Kind: backend.LeakyReLU, Slope: 1}))
	for _, l := range layers {
		cases = append(cases, adjointCase(l, 0, 1), adjointCase(l, 1, -0.3))
	}
	cases = append(cases, adjointCase(l, -0.7, 2), adjointCase(l, 1, 0), adjointCase(l, 0, 0.1))
	cases = append(cases, addAdjointCase(l, -0.3), addAdjointCase(l, 0), addAdjointCase(tiledLayers[0], 2))
	for i, l := range tiledLayers {
		cases = append(cases, convolveCase(l, true, leaky), adjointCase(l, float32(i%2), -0.3))
	}
	return cases
}

func timedConvolutionCases(p Photograph) []*testCase {
	var cases []*testCase
	for _, l := range timedLayers(p) {
		cases = append(cases, convolveCase(l, true, leaky), adjointCase(l, 1, -0.3))
	}
	return cases
}

// weights returns the filter of a layer.
func (l layer) weights() []float32 { return random(l.filter().Len(), "weights", l.String()) }

// newFilter prepares the layer's filter. The weights are copied, so the buffer
// they came in is overwritten and freed at once.
func (l layer) newFilter(dev backend.Device) (backend.Filter, error) {
	w, err := upload(dev, l.filter(), l.weights())
	if err != nil {
		return nil, err
	}
	f, err := dev.NewFilter(w)
	if err != nil {
		w.Free()
		return nil, fmt.Errorf("NewFilter: %w", err)
	}
	junk := make([]float32, l.filter().Len())
	poison(junk)
	err = dev.Upload(w, junk)
	w.Free()
	if f.Shape() != l.filter() {
		err = errors.Join(err, fmt.Errorf("the filter's shape is %v, want %v", f.Shape(), l.filter()))
	}
	return f, err
}

// fitsLayer is the rule for operands (result, input).
func (l layer) fitsLayer(result, in backend.Shape) bool {
	return in.C == l.in.C && result.C == l.out && in.N == result.N && in.H == result.H && in.W == result.W
}

func convolveCase(l layer, bias bool, a backend.Activation) *testCase {
	c := &testCase{
		operation: "Convolve",
		name:      fmt.Sprintf("%v, bias %v, activation %v", l, bias, a),
		operands:  []operand{{name: "dst", role: destination, shape: l.result()}, {name: "src", shape: l.in}},
		limit:     convolution,
		fits:      func(x []backend.Shape) bool { return l.fitsLayer(x[0], x[1]) },
		local:     true,
		flops:     l.flops(),
	}
	if bias {
		c.operands = append(c.operands, operand{name: "bias", shape: backend.Vector(l.out)})
		c.fits = func(x []backend.Shape) bool { return l.fitsLayer(x[0], x[1]) && x[2] == backend.Vector(l.out) }
	}
	c.prepare = func(dev backend.Device) (prepared, error) {
		f, err := l.newFilter(dev)
		if err != nil {
			return prepared{}, err
		}
		return prepared{
			call: func(b []backend.Buffer) ([]float64, error) {
				end := backend.ConvEnd{Activation: a}
				if bias {
					// A nil in place of a bias means none, so a missing operand
					// is shown as one.
					if end.Bias = b[2]; end.Bias == nil {
						return nil, errors.New("no bias")
					}
				}
				return nil, dev.Convolve(b[0], b[1], f, end)
			},
			free: f.Free,
		}, nil
	}
	c.tiled = func(x []tensor, grid int) {
		var b *tensor
		if bias {
			b = &x[2]
		}
		referenceConvolution(x[0], x[1], widen(l.filter(), l.weights()), b, a)
		spreadInTiles(x[0], grid)
	}
	c.reference = silent(func(x []tensor) { c.tiled(x, 1) })
	return c.complete()
}

func adjointCase(l layer, beta, scale float32) *testCase {
	dst := operand{name: "dst", role: updated, shape: l.in}
	if beta == 0 {
		dst.role = destination
	}
	c := &testCase{
		operation: "ConvolveAdjoint",
		name:      fmt.Sprintf("%v, beta %v, scale %v", l, beta, scale),
		operands:  []operand{dst, {name: "src", shape: l.result()}},
		prepare: func(dev backend.Device) (prepared, error) {
			f, err := l.newFilter(dev)
			if err != nil {
				return prepared{}, err
			}
			return prepared{
				call: func(b []backend.Buffer) ([]float64, error) {
					return nil, dev.ConvolveAdjoint(b[0], b[1], f, beta, scale)
				},
				free: f.Free,
			}, nil
		},
		limit: convolution,
		fits:  func(x []backend.Shape) bool { return l.fitsLayer(x[1], x[0]) },
		local: true,
		flops: l.flops(),
	}
	c.tiled = func(x []tensor, grid int) {
		sum := newTensor(l.in)
		referenceConvolutionAdjoint(sum, x[1], widen(l.filter(), l.weights()), 0, scale)
		spreadInTiles(sum, grid)
		for i, v := range sum.v {
			blend(x[0], i, beta, v)
		}
	}
	c.reference = silent(func(x []tensor) { c.tiled(x, 1) })
	return c.complete()
}

func addAdjointCase(l layer, scale float32) *testCase {
	c := &testCase{
		operation: "AddAdjoint",
		name:      fmt.Sprintf("%v, scale %v", l, scale),
		operands:  []operand{{name: "dst", role: destination, shape: l.in}, {name: "start", shape: l.in}, {name: "src", shape: l.result()}},
		prepare: func(dev backend.Device) (prepared, error) {
			f, err := l.newFilter(dev)
			if err != nil {
				return prepared{}, err
			}
			return prepared{
				call: func(b []backend.Buffer) ([]float64, error) {
					return nil, dev.AddAdjoint(b[0], b[1], b[2], f, scale)
				},
				free: f.Free,
			}, nil
		},
		limit:   convolution,
		inPlace: [][2]int{{0, 1}},
		fits:    func(x []backend.Shape) bool { return l.fitsLayer(x[2], x[0]) && x[1] == x[0] },
		local:   true,
		flops:   l.flops(),
	}
	c.tiled = func(x []tensor, grid int) {
		sum := newTensor(l.in)
		referenceConvolutionAdjoint(sum, x[2], widen(l.filter(), l.weights()), 0, scale)
		spreadInTiles(sum, grid)
		for i, v := range sum.v {
			x[0].v[i] = x[1].v[i]
			blend(x[0], i, 1, v)
		}
	}
	c.reference = silent(func(x []tensor) { c.tiled(x, 1) })
	return c.complete()
}

// checkAddAdjointBits holds AddAdjoint against a copy and ConvolveAdjoint.
func checkAddAdjointBits(e *environment) error {
	for _, l := range tiledLayers {
		c := addAdjointCase(l, -0.3)
		f, err := l.newFilter(e.dev)
		if err != nil {
			return err
		}
		defer f.Free()
		p, err := c.place(e.dev)
		if err != nil {
			return err
		}
		defer p.free()
		dst, start, src := p.buffers[0], p.buffers[1], p.buffers[2]
		if err := errors.Join(e.dev.LinearCombination(dst, backend.Term{A: 1, X: start}), e.dev.ConvolveAdjoint(dst, src, f, 1, -0.3)); err != nil {
			return err
		}
		want, err := download(e.dev, dst)
		if err != nil {
			return err
		}
		if err := e.dev.AddAdjoint(dst, start, src, f, -0.3); err != nil {
			return fmt.Errorf("AddAdjoint: %w", err)
		}
		got, err := download(e.dev, dst)
		if err != nil {
			return err
		}
		if err := checkBits(l.String(), l.in, got, want); err != nil {
			return err
		}
	}
	return nil
}

func convolutionChecks() []check {
	return []check{
		{operation: "AddAdjoint", name: "equals a copy and ConvolveAdjoint", run: checkAddAdjointBits},
		{operation: "NewFilter", name: "arguments", run: checkFilterArguments},
		{operation: "NewFilter", name: "lifetime", run: checkFilterLifetime},
		{operation: "UpdateFilter", name: "equals a new filter", run: checkUpdateFilter},
		{operation: "Convolve", name: "arguments", run: checkActivationArguments},
		{operation: "ConvolveAdjoint", name: "adjointness", run: checkConvolutionAdjointness},
	}
}

func checkFilterArguments(e *environment) error {
	var err error
	for _, s := range []backend.Shape{{N: 2, C: 3, H: 2, W: 3}, {N: 2, C: 3, H: 3, W: 4}} {
		w, aerr := e.dev.Alloc(s)
		if aerr != nil {
			return aerr
		}
		_, ferr := e.dev.NewFilter(w)
		err = errors.Join(err, wantError(fmt.Sprintf("weights %v of even size", s), ferr, backend.ErrShape))
	}
	return errors.Join(err, wantError("nil weights", guarded(func() error {
		_, err := e.dev.NewFilter(nil)
		return err
	})))
}

func checkFilterLifetime(e *environment) error {
	l := layer{backend.Image(2, 3, 4), 3, 3, 3}
	other, err := e.other()
	if err != nil {
		return err
	}
	theirs, err := l.newFilter(other)
	if err != nil {
		return err
	}
	defer theirs.Free()
	f, err := l.newFilter(e.dev)
	if err != nil {
		return err
	}
	x, err := e.dev.Alloc(l.in)
	if err != nil {
		return err
	}
	y, err := e.dev.Alloc(l.result())
	if err != nil {
		return err
	}
	w, err := e.dev.Alloc(l.filter())
	if err != nil {
		return err
	}
	freed, err := e.dev.Alloc(l.filter())
	if err != nil {
		return err
	}
	freed.Free()
	foreign, err := other.Alloc(l.filter())
	if err != nil {
		return err
	}
	defer foreign.Free()
	_, fromFreed := e.dev.NewFilter(freed)
	_, fromForeign := e.dev.NewFilter(foreign)
	uses := func(what string, f backend.Filter, wanted ...error) error {
		return errors.Join(
			wantError("Convolve with a filter "+what, guarded(func() error { return e.dev.Convolve(y, x, f, backend.ConvEnd{}) }), wanted...),
			wantError("ConvolveAdjoint with a filter "+what, guarded(func() error { return e.dev.ConvolveAdjoint(x, y, f, 0, 1) }), wanted...),
			wantError("UpdateFilter of a filter "+what, guarded(func() error { return e.dev.UpdateFilter(f, w) }), wanted...))
	}
	err = errors.Join(
		wantError("NewFilter from a freed buffer", fromFreed, backend.ErrFreed),
		wantError("NewFilter from another device's buffer", fromForeign, backend.ErrForeign),
		wantError("UpdateFilter from a freed buffer", e.dev.UpdateFilter(f, freed), backend.ErrFreed),
		wantError("UpdateFilter from another device's buffer", e.dev.UpdateFilter(f, foreign), backend.ErrForeign),
		wantError("UpdateFilter from nil", guarded(func() error { return e.dev.UpdateFilter(f, nil) })),
		uses("of another device", theirs, backend.ErrForeign),
		uses("that is nil", nil))
	f.Free()
	f.Free()
	return errors.Join(err, uses("after Free", f, backend.ErrFreed))
}

// checkUpdateFilter compares a filter that was made from other weights and updated
// with one made from the right weights: the same bits, forward and adjoint.
func checkUpdateFilter(e *environment) error {
	for _, l := range layers {
		l.in.H, l.in.W = min(l.in.H, 12), min(l.in.W, 12) // the weights are the same all over the image
		f, err := l.newFilter(e.dev)
		if err != nil {
			return err
		}
		defer f.Free()
		w, err := upload(e.dev, l.filter(), random(l.filter().Len(), "other weights"))
		if err != nil {
			return err
		}
		fresh, err := e.dev.NewFilter(w)
		if err != nil {
			return err
		}
		defer fresh.Free()
		// Results with the old weights first, so that nothing kept from then is used.
		if _, _, err := bothWays(e.dev, l, f); err != nil {
			return err
		}
		if err := e.dev.UpdateFilter(f, w); err != nil {
			return err
		}
		w.Free()
		forward, adjoint, err := bothWays(e.dev, l, f)
		if err != nil {
			return err
		}
		wantForward, wantAdjoint, err := bothWays(e.dev, l, fresh)
		if err != nil {
			return err
		}
		if err := errors.Join(
			checkBits("Convolve", l.result(), forward, wantForward),
			checkBits("ConvolveAdjoint", l.in, adjoint, wantAdjoint)); err != nil {
			return fmt.Errorf("%v: %w", l, err)
		}
		wrong := l.filter()
		wrong.N++
		larger, err := e.dev.Alloc(wrong)
		if err != nil {
			return err
		}
		if err := wantError("weights of another shape", e.dev.UpdateFilter(f, larger), backend.ErrShape); err != nil {
			return err
		}
	}
	return nil
}

// bothWays returns A·x and Aᵀ·y for fixed x and y.
func bothWays(dev backend.Device, l layer, f backend.Filter) (forward, adjoint []float32, err error) {
	x, err := upload(dev, l.in, random(l.in.Len(), "x"))
	if err != nil {
		return nil, nil, err
	}
	defer x.Free()
	y, err := upload(dev, l.result(), random(l.result().Len(), "y"))
	if err != nil {
		return nil, nil, err
	}
	defer y.Free()
	ax, err := dev.Alloc(l.result())
	if err != nil {
		return nil, nil, err
	}
	defer ax.Free()
	aty, err := dev.Alloc(l.in)
	if err != nil {
		return nil, nil, err
	}
	defer aty.Free()
	if err := errors.Join(dev.Convolve(ax, x, f, backend.ConvEnd{}), dev.ConvolveAdjoint(aty, y, f, 0, 1)); err != nil {
		return nil, nil, err
	}
	if forward, err = download(dev, ax); err != nil {
		return nil, nil, err
	}
	adjoint, err = download(dev, aty)
	return forward, adjoint, err
}

var wrongActivations = []backend.Activation{
	{Kind: backend.LeakyReLU}, {Kind: backend.LeakyReLU, Slope: -0.1}, {Kind: backend.LeakyReLU, Slope: 1.1},
	{Kind: backend.LeakyReLU, Slope: nan}, {Kind: backend.LeakyReLU + 1, Slope: 0.5},
}

func checkActivationArguments(e *environment) error {
	l := layer{backend.Image(1, 2, 2), 1, 1, 1}
	f, err := l.newFilter(e.dev)
	if err != nil {
		return err
	}
	x, err := e.dev.Alloc(l.in)
	if err != nil {
		return err
	}
	y, err := e.dev.Alloc(l.result())
	if err != nil {
		return err
	}
	for _, a := range wrongActivations {
		err = errors.Join(err, wantError(fmt.Sprintf("activation %v", a),
			e.dev.Convolve(y, x, f, backend.ConvEnd{Activation: a}), backend.ErrArgument))
	}
	return err
}

func checkConvolutionAdjointness(e *environment) error {
	for _, l := range slices.Concat(layers, []layer{{backend.Image(16, 70, 141), 16, 3, 3}}) {
		f, err := l.newFilter(e.dev)
		if err != nil {
			return err
		}
		err = checkAdjoint(e.dev, l.in, l.result(),
			func(dst, src backend.Buffer) error { return e.dev.Convolve(dst, src, f, backend.ConvEnd{}) },
			func(dst, src backend.Buffer) error { return e.dev.ConvolveAdjoint(dst, src, f, 0, 1) })
		f.Free()
		if err != nil {
			return fmt.Errorf("%v: %w", l, err)
		}
	}
	return nil
}
