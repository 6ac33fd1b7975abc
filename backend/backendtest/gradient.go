package backendtest

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

func gradientCases() []*testCase {
	var cases []*testCase
	for _, l := range layers {
		cases = append(cases, filterGradientCase(l, 0, 1), filterGradientCase(l, 0.9, -0.4))
	}
	for _, s := range plainShapes {
		cases = append(cases, biasGradientCase(s, 0), biasGradientCase(s, 0.9))
	}
	for _, s := range plainShapes {
		cases = append(cases, activationGradientCase(s, leaky))
	}
	return append(cases,
		activationGradientCase(backend.Image(2, 5, 7), backend.Activation{}),
		activationGradientCase(backend.Image(2, 5, 7), backend.Activation{Kind: backend.LeakyReLU, Slope: 1}))
}

func timedGradientCases(p Photograph) []*testCase {
	var cases []*testCase
	for _, l := range timedLayers(p) {
		cases = append(cases, filterGradientCase(l, 1, 1))
	}
	return append(cases, biasGradientCase(p.image(64), 1), activationGradientCase(p.image(64), leaky))
}

func filterGradientCase(l layer, beta, scale float32) *testCase {
	dw := operand{name: "dw", role: updated, shape: l.filter()}
	if beta == 0 {
		dw.role = destination
	}
	return (&testCase{
		operation: "FilterGradient",
		name:      fmt.Sprintf("%v, beta %v, scale %v", l, beta, scale),
		operands:  []operand{dw, {name: "x", shape: l.in}, {name: "dy", shape: l.result()}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.FilterGradient(b[0], b[1], b[2], beta, scale)
		}),
		reference: silent(func(x []tensor) { referenceFilterGradient(x[0], x[1], x[2], beta, scale) }),
		limit:     directSum,
		fits: func(x []backend.Shape) bool {
			dw, in, dy := x[0], x[1], x[2]
			return dw.N == dy.C && dw.C == in.C && dw.H%2 == 1 && dw.W%2 == 1 &&
				in.N == dy.N && in.H == dy.H && in.W == dy.W
		},
		flops: l.flops(),
	}).complete()
}

func biasGradientCase(s backend.Shape, beta float32) *testCase {
	db := operand{name: "db", role: updated, shape: backend.Vector(s.C)}
	if beta == 0 {
		db.role = destination
	}
	return (&testCase{
		operation: "BiasGradient",
		name:      fmt.Sprintf("%s, beta %v", size(s), beta),
		operands:  []operand{db, {name: "dy", shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.BiasGradient(b[0], b[1], beta)
		}),
		reference: silent(func(x []tensor) { referenceBiasGradient(x[0], x[1], beta) }),
		limit:     directSum,
		fits:      func(x []backend.Shape) bool { return x[0] == backend.Vector(x[1].C) },
		bytes:     4 * float64(s.Len()),
	}).complete()
}

func activationGradientCase(s backend.Shape, a backend.Activation) *testCase {
	return (&testCase{
		operation: "ActivationGradient",
		name:      fmt.Sprintf("%v %s", a, size(s)),
		operands: []operand{
			{name: "dst", role: destination, shape: s},
			// Every third output is 0, where the derivative is the negative side's.
			{name: "out", shape: s, quiet: true, adjust: func(x tensor) {
				for i := range x.v {
					if i%3 == 2 {
						x.v[i] = 0
					}
				}
			}},
			{name: "dy", shape: s},
		},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.ActivationGradient(b[0], b[1], b[2], a)
		}),
		reference: silent(func(x []tensor) { referenceActivationGradient(x[0], x[1], x[2], a) }),
		limit:     elementwise,
		fits:      same,
		inPlace:   [][2]int{{0, 2}},
		local:     true,
		bytes:     12 * float64(s.Len()),
	}).complete()
}

func gradientChecks() []check {
	return []check{
		{operation: "FilterGradient", name: "finite differences", run: checkFilterDifferences},
		{operation: "BiasGradient", name: "finite differences", run: checkBiasDifferences},
		{operation: "ActivationGradient", name: "finite differences", run: checkActivationDifferences},
		{operation: "ActivationGradient", name: "arguments", run: checkActivationGradientArguments},
	}
}

func checkActivationGradientArguments(e *environment) error {
	var b [3]backend.Buffer
	for i := range b {
		var err error
		if b[i], err = e.dev.Alloc(backend.Image(1, 2, 2)); err != nil {
			return err
		}
	}
	var err error
	for _, a := range wrongActivations {
		err = errors.Join(err, wantError(fmt.Sprintf("activation %v", a),
			e.dev.ActivationGradient(b[0], b[1], b[2], a), backend.ErrArgument))
	}
	return err
}

// network is one layer as training sees it, with the loss ½‖activation(A·x + b)‖².
type network struct {
	layer
	activation    backend.Activation
	x, w, b       []float32
	dev           backend.Device
	shapeX, shape backend.Shape
}

func newNetwork(dev backend.Device, a backend.Activation) *network {
	l := layer{backend.Shape{N: 2, C: 3, H: 9, W: 11}, 4, 3, 5}
	return &network{
		layer: l, activation: a, dev: dev, shapeX: l.in, shape: l.result(),
		x: random(l.in.Len(), "x"), w: l.weights(), b: random(l.out, "b"),
	}
}

// forward returns the layer's output on the device for the given parameters.
func (n *network) forward(w, b []float32) (backend.Buffer, error) {
	bw, err := upload(n.dev, n.filter(), w)
	if err != nil {
		return nil, err
	}
	defer bw.Free()
	f, err := n.dev.NewFilter(bw)
	if err != nil {
		return nil, err
	}
	defer f.Free()
	bias, err := upload(n.dev, backend.Vector(n.out), b)
	if err != nil {
		return nil, err
	}
	defer bias.Free()
	x, err := upload(n.dev, n.shapeX, n.x)
	if err != nil {
		return nil, err
	}
	defer x.Free()
	out, err := n.dev.Alloc(n.shape)
	if err != nil {
		return nil, err
	}
	// All but the output are freed when this returns, be the work done or not.
	return out, n.dev.Convolve(out, x, f, backend.ConvEnd{Bias: bias, Activation: n.activation})
}

func (n *network) loss(w, b []float32) (float64, error) {
	out, err := n.forward(w, b)
	if err != nil {
		return 0, err
	}
	defer out.Free()
	v, err := download(n.dev, out)
	if err != nil {
		return 0, err
	}
	o := widen(n.shape, v)
	return inner(o, o).value / 2, nil
}

// gradient returns the derivatives of the loss with respect to weights and bias.
func (n *network) gradient() (dw, db []float32, err error) {
	out, err := n.forward(n.w, n.b)
	if err != nil {
		return nil, nil, err
	}
	defer out.Free()
	dy, err := n.dev.Alloc(n.shape)
	if err != nil {
		return nil, nil, err
	}
	defer dy.Free()
	x, err := upload(n.dev, n.shapeX, n.x)
	if err != nil {
		return nil, nil, err
	}
	defer x.Free()
	bw, err := n.dev.Alloc(n.filter())
	if err != nil {
		return nil, nil, err
	}
	defer bw.Free()
	bb, err := n.dev.Alloc(backend.Vector(n.out))
	if err != nil {
		return nil, nil, err
	}
	defer bb.Free()
	// The loss's derivative with respect to the output is the output.
	if n.activation.Kind == backend.Identity {
		err = n.dev.LinearCombination(dy, backend.Term{A: 1, X: out})
	} else {
		err = n.dev.ActivationGradient(dy, out, out, n.activation)
	}
	if err := errors.Join(err, n.dev.FilterGradient(bw, x, dy, 0, 1), n.dev.BiasGradient(bb, dy, 0)); err != nil {
		return nil, nil, err
	}
	if dw, err = download(n.dev, bw); err != nil {
		return nil, nil, err
	}
	db, err = download(n.dev, bb)
	return dw, db, err
}

// checkDifferences compares the derivative of the loss along a random direction
// with a central difference, which is exact for a quadratic up to rounding and,
// with an activation, up to the few outputs that change sides.
func (n *network) checkDifferences(moveWeights, moveBias bool) error {
	const h, limit = 1.0 / 256, 1e-3
	dw, db, err := n.gradient()
	if err != nil {
		return err
	}
	vw, vb := random(len(n.w), "direction of weights"), random(len(n.b), "direction of bias")
	derivative := 0.0
	shifted := func(sign float32) (w, b []float32) {
		w, b = append(w, n.w...), append(b, n.b...)
		for i := range w {
			if moveWeights {
				w[i] += sign * h * vw[i]
			}
		}
		for i := range b {
			if moveBias {
				b[i] += sign * h * vb[i]
			}
		}
		return w, b
	}
	for i, v := range vw {
		if moveWeights {
			derivative += float64(dw[i]) * float64(v)
		}
	}
	for i, v := range vb {
		if moveBias {
			derivative += float64(db[i]) * float64(v)
		}
	}
	above, err := n.loss(shifted(1))
	if err != nil {
		return err
	}
	below, err := n.loss(shifted(-1))
	if err != nil {
		return err
	}
	difference := (above - below) / (2 * h)
	if !(math.Abs(difference-derivative) <= limit*(above+below)/2) {
		return fmt.Errorf("derivative %v, central difference %v, of a loss of %v", derivative, difference, (above+below)/2)
	}
	return nil
}

func checkFilterDifferences(e *environment) error {
	return newNetwork(e.dev, backend.Activation{}).checkDifferences(true, false)
}

func checkBiasDifferences(e *environment) error {
	return newNetwork(e.dev, backend.Activation{}).checkDifferences(false, true)
}

func checkActivationDifferences(e *environment) error {
	return newNetwork(e.dev, backend.Activation{Kind: backend.LeakyReLU, Slope: 0.2}).checkDifferences(true, true)
}
