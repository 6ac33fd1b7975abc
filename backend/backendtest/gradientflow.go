package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fallback"
)

// eulerLayer is one step, with an h×w filter from the network's width to so many
// hidden channels.
type eulerLayer struct {
	hidden, h, w int
	bias         bool
	activation   backend.Activation
	size         float32
	method       *method // nil for Euler's
	// balls is how many channels have a ball together that they are projected onto, in
	// the place of the activation; 0 for none. ofMap: a radius for every pixel.
	balls int
	ofMap bool
}

// method is a Runge-Kutta method.
type method struct {
	name    string
	tableau backend.Tableau
}

var (
	midpoint = &method{"midpoint", backend.Tableau{A: [][]float64{{0, 0}, {0.5, 0}}, B: []float64{0, 1}}}
	heun     = &method{"Heun", backend.Tableau{A: [][]float64{{0, 0}, {1, 0}}, B: []float64{0.5, 0.5}}}
	kutta    = &method{"Kutta's third", backend.Tableau{
		A: [][]float64{{0, 0, 0}, {0.5, 0, 0}, {-1, 2, 0}}, B: []float64{1. / 6, 2. / 3, 1. / 6},
	}}
	classical = &method{"RK4", backend.Tableau{
		A: [][]float64{{0, 0, 0, 0}, {0.5, 0, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 1, 0}}, B: []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6},
	}}
	// doubled is one stage with another weight than 1, and without rows.
	doubled = &method{"doubled Euler", backend.Tableau{B: []float64{2}}}
)

// tableau returns that of the layer's method.
func (l eulerLayer) tableau() backend.Tableau {
	if l.method == nil {
		return backend.Tableau{}
	}
	return l.method.tableau
}

func (l eulerLayer) String() string {
	s := fmt.Sprintf("%d %d×%d bias %v %v %v", l.hidden, l.h, l.w, l.bias, l.activation, l.size)
	if l.method != nil {
		s += " " + l.method.name
	}
	if l.balls > 0 {
		s += fmt.Sprintf(" balls of %d", l.balls)
		if l.ofMap {
			s += " by a map"
		}
	}
	return s
}

// eulerNetwork is one call of GradientFlow: images of shape src, lifted to width
// channels, the steps, dst channels of the end.
type eulerNetwork struct {
	src        backend.Shape
	width, dst int
	region     backend.Region // the zero value is the whole image
	steps      []eulerLayer
}

// plain are n steps with 3×3 filters, biases and the usual activation.
func plain(n, hidden int) []eulerLayer {
	return slices.Repeat([]eulerLayer{{hidden, 3, 3, true, leaky, 0.3, nil, 0, false}}, n)
}

func (n eulerNetwork) String() string {
	var steps []string
	for k := 0; k < len(n.steps); {
		same := 1
		for k+same < len(n.steps) && n.steps[k+same] == n.steps[k] {
			same++
		}
		steps = append(steps, fmt.Sprintf("%d of %v", same, n.steps[k]))
		k += same
	}
	return fmt.Sprintf("%s, %d of %d channels, %v, steps: %s", size(n.src), n.dst, n.width, n.inside(), strings.Join(steps, "; "))
}

func (n eulerNetwork) inside() backend.Region {
	if n.region == (backend.Region{}) {
		return n.src.Whole()
	}
	return n.region
}

func (n eulerNetwork) result() backend.Shape {
	s := n.src
	s.C = n.dst
	return s
}

func (n eulerNetwork) filter(k int) backend.Shape {
	l := n.steps[k]
	return backend.Shape{N: l.hidden, C: n.width, H: l.h, W: l.w}
}

// weights returns the filter of step k. Its norm is between 1 and 2, so that steps
// of a third change the numbers and leave them about as large as they are.
func (n eulerNetwork) weights(k int) []float32 {
	s := n.filter(k)
	w := random(s.Len(), "weights", fmt.Sprint(k), s.String())
	scale := float32(1.5 / math.Sqrt(float64(s.C*s.H*s.W)))
	for i := range w {
		w[i] *= scale
	}
	return w
}

// flops are those of the direct formula, over the whole image.
func (n eulerNetwork) flops() float64 {
	f := 0.0
	for k := range n.steps {
		f += 2 * 2 * float64(n.src.N*n.src.Plane()*n.filter(k).Len()*n.steps[k].tableau().Stages())
	}
	return f
}

var (
	identity = backend.Activation{}
	steep    = backend.Activation{Kind: backend.LeakyReLU, Slope: 1}
)

// eulerNetworks have images smaller than the filters and larger than any tile, of
// whole tiles and of others; regions at every border and far from all; every count
// of channels that source, destination, width and hidden layers can have against
// each other; one step and several, alike and not.
var eulerNetworks = []eulerNetwork{
	{backend.Image(1, 1, 1), 1, 1, backend.Region{}, []eulerLayer{{1, 1, 1, false, identity, 0.5, nil, 0, false}}},
	{backend.Image(5, 1, 1), 5, 5, backend.Region{}, plain(2, 5)},
	{backend.Image(2, 1, 7), 3, 2, backend.Region{Y1: 1, X0: 2, X1: 6}, plain(3, 4)},
	{backend.Image(1, 7, 1), 4, 3, backend.Region{}, []eulerLayer{{3, 3, 3, false, leaky, 0.4, nil, 0, false}}},
	{backend.Image(4, 5, 6), 4, 4, backend.Region{Y0: 4, Y1: 5, X0: 5, X1: 6}, []eulerLayer{{6, 5, 5, true, leaky, 0.3, nil, 0, false}}},
	{backend.Image(3, 13, 11), 8, 3, backend.Region{Y0: 4, Y1: 9, X0: 3, X1: 8}, []eulerLayer{
		{8, 3, 3, true, leaky, 0.3, nil, 0, false}, {5, 5, 5, false, leaky, 0.2, nil, 0, false}, {12, 1, 1, true, identity, 0.4, nil, 0, false}, {3, 3, 3, false, steep, 0.3, nil, 0, false},
	}},
	{backend.Image(3, 9, 20), 7, 2, backend.Region{}, []eulerLayer{
		{2, 3, 1, true, leaky, 0.3, nil, 0, false}, {9, 1, 5, true, backend.Activation{Kind: backend.LeakyReLU, Slope: 0.5}, -0.2, nil, 0, false},
	}},
	{backend.Image(3, 12, 18), 16, 3, backend.Region{}, slices.Concat(plain(1, 16), []eulerLayer{{16, 3, 3, false, identity, -0.3, nil, 0, false}})},
	{backend.Shape{N: 3, C: 3, H: 9, W: 14}, 6, 2, backend.Region{Y1: 4, X0: 7, X1: 14}, plain(2, 6)},
	{backend.Shape{N: 2, C: 1, H: 13, W: 7}, 16, 5, backend.Region{}, plain(1, 16)},
	{backend.Image(3, 7, 13), 20, 20, backend.Region{Y0: 5, Y1: 7, X1: 13}, plain(2, 33)},
	{backend.Image(3, 7, 8), 64, 3, backend.Region{}, plain(2, 64)},
	{backend.Image(3, 40, 50), 6, 3, backend.Region{}, plain(4, 6)},
	{backend.Image(3, 14, 9), 6, 3, backend.Region{}, []eulerLayer{
		{6, 3, 3, true, leaky, 0.3, heun, 0, false}, {4, 3, 3, false, leaky, 0.3, nil, 0, false}, {4, 1, 1, true, leaky, 0.3, midpoint, 0, false},
	}},
	{backend.Image(2, 8, 11), 16, 2, backend.Region{Y0: 3, Y1: 6, X0: 7, X1: 11}, []eulerLayer{{16, 3, 3, true, leaky, 0.4, classical, 0, false}}},
	{backend.Shape{N: 2, C: 1, H: 5, W: 6}, 3, 3, backend.Region{}, []eulerLayer{
		{5, 3, 1, true, leaky, 0.3, kutta, 0, false}, {5, 3, 3, true, leaky, 0.15, doubled, 0, false},
	}},
	{backend.Image(3, 41, 47), 4, 3, backend.Region{Y0: 20, Y1: 22, X0: 25, X1: 27}, plain(1, 16)},
}

// ballNetworks project onto balls: groups of every size that a vector of a processor may
// have, of others, and of all channels; hidden layers that fill blocks of 16 and that do
// not; between steps with other activations, and in the stages of other methods.
var ballNetworks = []eulerNetwork{
	{backend.Image(2, 1, 1), 2, 2, backend.Region{}, []eulerLayer{{2, 1, 1, false, identity, 0.5, nil, 2, false}}},
	{backend.Image(3, 7, 8), 4, 3, backend.Region{}, []eulerLayer{{6, 3, 3, true, identity, 0.4, nil, 1, false}, {6, 3, 3, false, identity, 0.4, nil, 3, false}}},
	{backend.Image(3, 13, 8), 16, 3, backend.Region{}, []eulerLayer{{16, 3, 3, true, identity, 0.3, nil, 4, false}, {20, 3, 3, true, identity, 0.3, nil, 4, false}}},
	{backend.Image(3, 7, 13), 16, 2, backend.Region{Y0: 2, Y1: 7, X0: 5, X1: 12}, []eulerLayer{{16, 3, 3, true, identity, 0.4, nil, 8, false}, {24, 3, 3, true, identity, 0.3, nil, 8, false}}},
	{backend.Image(3, 8, 5), 17, 17, backend.Region{}, []eulerLayer{{16, 3, 3, true, identity, 0.4, nil, 16, false}, {48, 3, 3, false, identity, 0.3, nil, 16, false}}},
	{backend.Shape{N: 3, C: 2, H: 9, W: 6}, 5, 2, backend.Region{}, []eulerLayer{{16, 3, 3, true, identity, 0.4, nil, 8, false}, {40, 3, 3, false, leaky, 0.3, nil, 0, false}, {24, 3, 3, true, identity, 0.3, nil, 4, false}}},
	{backend.Image(2, 9, 12), 16, 2, backend.Region{}, []eulerLayer{{24, 3, 3, true, identity, 0.3, nil, 2, false}, {18, 3, 3, false, identity, 0.3, nil, 18, false}}},
	{backend.Image(2, 7, 9), 4, 4, backend.Region{Y0: 3, Y1: 6, X1: 9}, []eulerLayer{{6, 3, 3, true, identity, 0.3, heun, 2, false}, {6, 3, 3, true, leaky, 0.3, nil, 0, false}}},
	{backend.Image(3, 8, 11), 16, 3, backend.Region{}, []eulerLayer{{16, 3, 3, true, identity, 0.3, classical, 8, false}}},
	{backend.Image(1, 14, 9), 6, 1, backend.Region{}, []eulerLayer{{32, 3, 3, true, identity, 0.3, kutta, 16, false}, {16, 3, 3, false, leaky, 0.3, midpoint, 0, false}, {16, 3, 3, true, identity, 0.2, doubled, 4, false}}},
	{backend.Image(3, 12, 7), 64, 3, backend.Region{}, slices.Repeat([]eulerLayer{{64, 3, 3, true, identity, 0.3, nil, 8, false}}, 2)},
	{backend.Image(2, 9, 8), 3, 2, backend.Region{}, []eulerLayer{{4, 5, 5, true, identity, 0.3, nil, 4, false}, {8, 1, 3, true, identity, 0.3, nil, 2, false}}},
	{backend.Image(3, 13, 8), 16, 3, backend.Region{}, []eulerLayer{{16, 3, 3, true, identity, 0.3, nil, 8, true}, {24, 3, 3, false, identity, 0.3, nil, 8, true}}},
	{backend.Shape{N: 2, C: 2, H: 9, W: 20}, 16, 2, backend.Region{Y0: 2, Y1: 7, X0: 5, X1: 19}, []eulerLayer{{48, 3, 3, true, identity, 0.3, nil, 16, true}, {16, 3, 3, false, identity, 0.3, heun, 8, true}}},
	{backend.Image(2, 9, 12), 16, 2, backend.Region{}, []eulerLayer{{16, 3, 3, true, identity, 0.3, nil, 4, true}, {6, 5, 3, true, identity, 0.3, nil, 2, true}}},
	{backend.Image(3, 12, 7), 64, 3, backend.Region{}, []eulerLayer{{64, 3, 3, true, identity, 0.3, nil, 8, true}}},
}

// byLayers are the networks that are also computed by fallback.GradientFlow, and
// ballsByLayers those with projections.
var (
	byLayers      = []int{1, 5, 8, 13, 14}
	ballsByLayers = []int{1, 3, 5, 7}
)

func eulerCases() []*testCase {
	var cases []*testCase
	for _, n := range eulerNetworks {
		cases = append(cases, eulerCase(n, false))
	}
	for _, k := range byLayers {
		cases = append(cases, eulerCase(eulerNetworks[k], true))
	}
	for _, n := range ballNetworks {
		cases = append(cases, eulerCase(n, false))
	}
	for _, k := range ballsByLayers {
		cases = append(cases, eulerCase(ballNetworks[k], true))
	}
	return cases
}

// timedEulerCases are the colour denoiser with 64 channels: ten blocks of one step, with
// the usual activation and with projections of groups of 8.
func timedEulerCases(p Photograph) []*testCase {
	n := eulerNetwork{src: p.image(3), width: 64, dst: 3, steps: plain(10, 64)}
	balls := n
	balls.steps = slices.Repeat([]eulerLayer{{64, 3, 3, true, identity, 0.3, nil, 8, false}}, 10)
	return []*testCase{eulerCase(n, false), eulerCase(balls, false)}
}

// radius is the operand of the radii of step k.
func (n eulerNetwork) radius(k int) operand {
	l := n.steps[k]
	shape := backend.Vector(l.hidden / l.balls)
	if l.ofMap {
		shape = n.src
		shape.C = l.hidden / l.balls
	}
	return radiusOperand(fmt.Sprint("radius ", k), shape, l.balls)
}

// newFilter prepares the filter of step k.
func (n eulerNetwork) newFilter(dev backend.Device, k int) (backend.Filter, error) {
	w, err := upload(dev, n.filter(k), n.weights(k))
	if err != nil {
		return nil, err
	}
	defer w.Free()
	f, err := dev.NewFilter(w)
	if err != nil {
		return nil, fmt.Errorf("NewFilter: %w", err)
	}
	return f, nil
}

// prepare makes the filters of all steps; biases and radii are left out.
func (n eulerNetwork) prepare(dev backend.Device) (steps []backend.FlowStep, free func(), err error) {
	free = func() {
		for _, s := range steps {
			s.Filter.Free()
		}
	}
	for k, l := range n.steps {
		f, err := n.newFilter(dev, k)
		if err != nil {
			free()
			return nil, nil, err
		}
		steps = append(steps, backend.FlowStep{Filter: f, Activation: l.activation, Size: l.size, Tableau: l.tableau()})
	}
	return steps, free, nil
}

func eulerCase(n eulerNetwork, layers bool) *testCase {
	region := n.inside()
	hidden := map[int]int{} // channels of the layer that radii, an operand, belong to
	c := &testCase{
		operation: "GradientFlow",
		name:      n.String(),
		operands:  []operand{{name: "dst", role: destination, shape: n.result(), region: &region}, {name: "src", shape: n.src}},
		limit:     convolution,
		local:     true,
		flops:     n.flops(),
	}
	if layers {
		c.name = "by layers, " + c.name
	}
	for k, l := range n.steps {
		if l.bias {
			c.operands = append(c.operands, operand{name: fmt.Sprint("bias ", k), shape: backend.Vector(l.hidden)})
		}
		if l.balls > 0 {
			c.operands = append(c.operands, n.radius(k))
			hidden[len(c.operands)-1] = l.hidden
		}
	}
	c.fits = func(x []backend.Shape) bool {
		for i, s := range x[2:] {
			channels, radii := hidden[2+i]
			balls := x[1]
			balls.C = channels
			if radii && arguments.CheckBalls(balls, s) != nil || !radii && s != c.operands[2+i].shape {
				return false
			}
		}
		return x[0].N == x[1].N && x[0].H == x[1].H && x[0].W == x[1].W && max(x[0].C, x[1].C) <= n.width && region.Check(x[1]) == nil
	}
	c.prepare = func(dev backend.Device) (prepared, error) {
		steps, free, err := n.prepare(dev)
		if err != nil {
			return prepared{}, err
		}
		call := func(b []backend.Buffer) ([]float64, error) {
			mine := slices.Clone(steps)
			next := 2
			for k, l := range n.steps {
				// A nil in place of a bias or of radii means none, so a missing
				// operand is shown as one.
				if l.bias {
					if mine[k].Bias = b[next]; b[next] == nil {
						return nil, errors.New("no bias")
					}
					next++
				}
				if l.balls > 0 {
					if mine[k].Radius = b[next]; b[next] == nil {
						return nil, errors.New("no radii")
					}
					next++
				}
			}
			if layers {
				return nil, fallback.GradientFlow(context.Background(), dev, b[0], b[1], region, mine)
			}
			return nil, dev.GradientFlow(context.Background(), b[0], b[1], region, mine)
		}
		return prepared{call: call, free: free}, nil
	}
	c.tiled = func(x []tensor, grid int) {
		var steps []referenceStep
		vectors := x[2:]
		for k, l := range n.steps {
			s := referenceStep{w: widen(n.filter(k), n.weights(k)), activation: l.activation, size: l.size, tableau: l.tableau()}
			if l.bias {
				s.bias, vectors = &vectors[0], vectors[1:]
			}
			if l.balls > 0 {
				s.radius, vectors = &vectors[0], vectors[1:]
			}
			steps = append(steps, s)
		}
		referenceGradientFlow(x[0], x[1], region, steps, grid)
	}
	c.reference = silent(func(x []tensor) { c.tiled(x, 1) })
	return c.complete()
}

func eulerChecks() []check {
	return []check{
		{operation: "GradientFlow", name: "context", run: checkEulerContext},
		{operation: "GradientFlow", name: "steps of nothing", run: checkEulerNothing},
		{operation: "GradientFlow", name: "arguments", run: checkEulerArguments},
		{operation: "GradientFlow", name: "filters", run: checkEulerFilters},
		{operation: "GradientFlow", name: "regions", run: checkEulerRegions},
		{operation: "GradientFlow", name: "cuts", run: checkEulerCuts},
		{operation: "GradientFlow", name: "regions with maps of radii", run: checkMapRegions},
		{operation: "GradientFlow", name: "cuts with maps of radii", run: checkMapCuts},
	}
}

// eulerSetting is a network on a device, ready to be called: without biases, with radii,
// and with a destination whose contents are known.
type eulerSetting struct {
	eulerNetwork
	dev    backend.Device
	dst    backend.Buffer
	src    backend.Buffer
	steps  []backend.FlowStep
	before []float32 // in dst
	free   func()
}

func (n eulerNetwork) set(dev backend.Device) (*eulerSetting, error) {
	s := &eulerSetting{eulerNetwork: n, dev: dev, before: random(n.result().Len(), "before")}
	var err error
	if s.steps, s.free, err = n.prepare(dev); err != nil {
		return nil, err
	}
	for k, l := range n.steps {
		if l.balls == 0 {
			continue
		}
		o := n.radius(k)
		if s.steps[k].Radius, err = upload(dev, o.shape, o.filled()); err != nil {
			return nil, err
		}
	}
	if s.src, err = upload(dev, n.src, random(n.src.Len(), "src")); err != nil {
		return nil, err
	}
	if s.dst, err = dev.Alloc(n.result()); err != nil {
		return nil, err
	}
	return s, s.reset()
}

// reset puts back into dst what was there at the beginning.
func (s *eulerSetting) reset() error { return s.dev.Upload(s.dst, s.before) }

// call makes the steps inside a region and returns all of dst.
func (s *eulerSetting) call(ctx context.Context, r backend.Region) ([]float32, error) {
	if err := s.reset(); err != nil {
		return nil, err
	}
	if err := s.dev.GradientFlow(ctx, s.dst, s.src, r, s.steps); err != nil {
		return nil, err
	}
	return download(s.dev, s.dst)
}

// regionNetworks are networks of which regions and cuts are computed.
var regionNetworks = []eulerNetwork{
	{src: backend.Image(3, 31, 37), width: 5, dst: 3, steps: []eulerLayer{{7, 3, 3, false, leaky, 0.3, nil, 0, false}, {4, 5, 5, false, leaky, 0.3, nil, 0, false}}},
	{src: backend.Image(3, 31, 37), width: 16, dst: 3, steps: []eulerLayer{{16, 3, 3, false, leaky, 0.3, nil, 0, false}}},
	{src: backend.Shape{N: 2, C: 3, H: 19, W: 25}, width: 4, dst: 4, steps: slices.Repeat([]eulerLayer{{16, 3, 3, false, leaky, 0.3, nil, 0, false}}, 2)},
	{src: backend.Image(3, 31, 37), width: 3, dst: 3, steps: []eulerLayer{{4, 3, 3, false, leaky, 0.3, heun, 0, false}}},
	{src: backend.Image(3, 11, 17), width: 64, dst: 3, steps: []eulerLayer{{64, 3, 3, false, leaky, 0.3, nil, 0, false}}},
	{src: backend.Image(3, 31, 37), width: 5, dst: 3, steps: []eulerLayer{{6, 3, 3, false, identity, 0.3, nil, 3, false}, {4, 5, 5, false, leaky, 0.3, nil, 0, false}}},
	{src: backend.Shape{N: 2, C: 3, H: 19, W: 25}, width: 4, dst: 3, steps: []eulerLayer{{24, 3, 3, false, identity, 0.3, nil, 8, false}, {16, 3, 3, false, identity, 0.3, nil, 4, false}}},
}

// mapNetworks have a radius for every pixel.
var mapNetworks = []eulerNetwork{
	{src: backend.Image(3, 31, 37), width: 5, dst: 3, steps: []eulerLayer{{6, 3, 3, false, identity, 0.3, nil, 3, true}, {4, 5, 5, false, identity, 0.3, nil, 2, false}}},
	{src: backend.Shape{N: 2, C: 3, H: 19, W: 25}, width: 4, dst: 3, steps: []eulerLayer{{24, 3, 3, false, identity, 0.3, nil, 8, true}, {16, 3, 3, false, identity, 0.3, heun, 16, true}}},
}

func checkMapCuts(e *environment) error    { return checkCutsOf(e, mapNetworks) }
func checkMapRegions(e *environment) error { return checkRegionsOf(e, mapNetworks) }

func checkEulerCuts(e *environment) error    { return checkCutsOf(e, regionNetworks) }
func checkEulerRegions(e *environment) error { return checkRegionsOf(e, regionNetworks) }

// checkCutsOf cuts what a region is made from out of an image of a few grids, and
// compares the region with that of the whole, bit for bit.
func checkCutsOf(e *environment, networks []eulerNetwork) error {
	g := e.dev.ConvolutionGrid()
	if g < 1 {
		return checkGridPositive(e)
	}
	for _, n := range networks {
		side := (n.src.H/(2*g) + 1) * 2 * g
		n.src.H, n.src.W = side+g+1, side+2*g+2
		s, err := n.set(e.dev)
		if err != nil {
			return err
		}
		defer s.free()
		whole, err := s.call(context.Background(), n.src.Whole())
		if err != nil {
			return err
		}
		h, w := n.src.H, n.src.W
		compared := 0
		for _, r := range []backend.Region{
			{Y1: 2, X1: 3}, {Y0: h - 1, Y1: h, X0: w - 2, X1: w}, {Y0: h - 3, Y1: h, X1: 1}, {Y1: h, X1: 1},
			{Y0: side / 2, Y1: side/2 + 1, X0: side / 2, X1: side/2 + 1},
		} {
			frame := backend.StepsReach(r, s.steps, g, n.src)
			frame.Y0 -= frame.Y0 % g
			frame.X0 -= frame.X0 % g
			if frame == n.src.Whole() {
				continue
			}
			compared++
			got, err := s.callCut(r, frame)
			if err != nil {
				return fmt.Errorf("%v: %w", r, err)
			}
			if err := checkBits("dst in the region", regionShape(n.result(), r), got, cut(n.result(), whole, r)); err != nil {
				return fmt.Errorf("%v, %v cut out with %v, grid %d: %w", n, r, frame, g, err)
			}
		}
		if compared == 0 {
			return fmt.Errorf("%v: no region is made from less than the whole", n)
		}
	}
	return nil
}

// callCut makes the steps in an image cut out of the source and returns the region,
// which lies in the frame that is cut out.
func (s *eulerSetting) callCut(r, frame backend.Region) ([]float32, error) {
	src, err := upload(s.dev, regionShape(s.src.Shape(), frame), cut(s.src.Shape(), random(s.src.Shape().Len(), "src"), frame))
	if err != nil {
		return nil, err
	}
	defer src.Free()
	dst, err := s.dev.Alloc(regionShape(s.result(), frame))
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	inside := backend.Region{Y0: r.Y0 - frame.Y0, Y1: r.Y1 - frame.Y0, X0: r.X0 - frame.X0, X1: r.X1 - frame.X0}
	steps := slices.Clone(s.steps)
	for k, l := range s.eulerNetwork.steps {
		if !l.ofMap {
			continue
		}
		o := s.radius(k)
		if steps[k].Radius, err = upload(s.dev, regionShape(o.shape, frame), cut(o.shape, o.filled(), frame)); err != nil {
			return nil, err
		}
		defer steps[k].Radius.Free()
	}
	if err := s.dev.GradientFlow(context.Background(), dst, src, inside, steps); err != nil {
		return nil, err
	}
	got, err := download(s.dev, dst)
	if err != nil {
		return nil, err
	}
	return cut(dst.Shape(), got, inside), nil
}

// checkRegionsOf compares regions with the whole image, bit for bit.
func checkRegionsOf(e *environment, networks []eulerNetwork) error {
	for _, n := range networks {
		s, err := n.set(e.dev)
		if err != nil {
			return err
		}
		defer s.free()
		whole, err := s.call(context.Background(), n.src.Whole())
		if err != nil {
			return err
		}
		h, w := n.src.H, n.src.W
		for _, r := range []backend.Region{
			{Y1: 1, X1: 1}, {Y0: h - 1, Y1: h, X0: w - 1, X1: w}, {Y0: 5, Y1: 6, X1: w}, {Y1: h, X0: 11, X1: 12},
			{Y0: h / 5, Y1: h/5 + 6, X0: w / 3, X1: w/3 + 12}, {Y0: h - 4, Y1: h - 1, X0: w / 2, X1: w/2 + 2},
		} {
			got, err := s.call(context.Background(), r)
			if err != nil {
				return fmt.Errorf("%v: %w", r, err)
			}
			if err := errors.Join(
				checkOutside("dst", r, n.result(), got, s.before),
				checkBits("dst in the region", regionShape(n.result(), r), cut(n.result(), got, r), cut(n.result(), whole, r))); err != nil {
				return fmt.Errorf("%v, %v: %w", n, r, err)
			}
		}
	}
	return nil
}

// fading is a context that ends when it has been asked so many times whether it
// has.
type fading struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64 // devices may ask from many goroutines
}

func newFading(asked int) *fading {
	ctx, end := context.WithCancel(context.Background())
	f := &fading{Context: ctx, end: end}
	f.left.Store(int64(asked))
	return f
}

// Err implements context.Context.
func (f *fading) Err() error {
	if f.left.Add(-1) <= 0 {
		f.end()
	}
	return f.Context.Err()
}

func checkEulerContext(e *environment) error {
	n := eulerNetwork{src: backend.Image(3, 9, 8), width: 4, dst: 3, steps: slices.Repeat([]eulerLayer{{5, 3, 3, false, leaky, 0.3, nil, 0, false}}, 4)}
	s, err := n.set(e.dev)
	if err != nil {
		return err
	}
	defer s.free()
	r := backend.Region{Y0: 2, Y1: 5, X0: 3, X1: 8}
	want, err := s.call(context.Background(), r)
	if err != nil {
		return err
	}
	stopped := func(what string, ctx context.Context, wanted error) error {
		_, err := s.call(ctx, r)
		if err := wantError(what, err, wanted); err != nil {
			return err
		}
		left, err := download(e.dev, s.dst)
		if err != nil {
			return err
		}
		return wrap(what, checkOutside("dst", r, n.result(), left, s.before))
	}
	for k := range n.steps {
		f := newFading(k + 1)
		err := stopped(fmt.Sprintf("a context that ends before step %d of %d", k, len(n.steps)), f, context.Canceled)
		f.end()
		if err != nil {
			return err
		}
	}
	over, end := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer end()
	if err := stopped("a context whose time is over", over, context.DeadlineExceeded); err != nil {
		return err
	}
	// The device works on, with a context that lasts long enough.
	lasting, end := context.WithCancel(context.Background())
	defer end()
	got, err := s.call(lasting, r)
	if err != nil {
		return err
	}
	return checkBits("dst after calls that were stopped", n.result(), got, want)
}

// checkEulerNothing makes steps that change nothing: of size 0, with weights of 0,
// and where the convolution's result is 0, which the activation has to leave at 0.
func checkEulerNothing(e *environment) error {
	base := eulerNetwork{src: backend.Image(2, 13, 9), width: 5, dst: 4, steps: slices.Repeat([]eulerLayer{{6, 3, 3, false, leaky, 0.3, nil, 0, false}}, 2)}
	lifted := func(src []float32) []float32 {
		return append(slices.Clone(src), make([]float32, base.result().Len()-len(src))...)
	}
	numbers := random(base.src.Len(), "src")
	for _, t := range []struct {
		name    string
		src     []float32
		prepare func(s *eulerSetting) error
	}{
		{"size 0", numbers, func(s *eulerSetting) error {
			for k := range s.steps {
				s.steps[k].Size = 0
			}
			return nil
		}},
		{"weights of 0", numbers, func(s *eulerSetting) error {
			zeros, err := e.dev.Alloc(base.filter(0))
			if err != nil {
				return err
			}
			defer zeros.Free()
			for k := range s.steps {
				if err := e.dev.UpdateFilter(s.steps[k].Filter, zeros); err != nil {
					return err
				}
			}
			return nil
		}},
		{"a source of 0", make([]float32, base.src.Len()), func(*eulerSetting) error { return nil }},
	} {
		s, err := base.set(e.dev)
		if err != nil {
			return err
		}
		defer s.free()
		if err := errors.Join(e.dev.Upload(s.src, t.src), t.prepare(s)); err != nil {
			return err
		}
		got, err := s.call(context.Background(), base.src.Whole())
		if err != nil {
			return err
		}
		for i, want := range lifted(t.src) {
			if got[i] != want { // of either sign, where it is 0
				return fmt.Errorf("%s: dst%s is %v, want %v", t.name, position(base.result(), i), got[i], want)
			}
		}
	}
	return nil
}

func checkEulerArguments(e *environment) error {
	n := eulerNetwork{src: backend.Image(3, 4, 5), width: 4, dst: 2, steps: slices.Repeat([]eulerLayer{{6, 3, 3, false, leaky, 0.3, nil, 0, false}}, 2)}
	s, err := n.set(e.dev)
	if err != nil {
		return err
	}
	defer s.free()
	call := func(r backend.Region, steps []backend.FlowStep) error {
		return guarded(func() error { return e.dev.GradientFlow(context.Background(), s.dst, s.src, r, steps) })
	}
	for _, r := range wrongRegions(n.src.H, n.src.W) {
		err = errors.Join(err, wantError(fmt.Sprint(r), call(r, s.steps), backend.ErrShape))
	}
	err = errors.Join(err,
		wantError("no steps", call(n.src.Whole(), nil), backend.ErrArgument),
		wantError("steps of length 0", call(n.src.Whole(), []backend.FlowStep{}), backend.ErrArgument))
	changed := func(what string, change func(s *backend.FlowStep), wanted error) error {
		var err error
		for k := range s.steps {
			steps := slices.Clone(s.steps)
			change(&steps[k])
			err = errors.Join(err, wantError(fmt.Sprintf("%s in step %d", what, k), call(n.src.Whole(), steps), wanted))
		}
		return err
	}
	for _, a := range wrongActivations {
		err = errors.Join(err, changed(fmt.Sprintf("activation %v", a), func(s *backend.FlowStep) { s.Activation = a }, backend.ErrArgument))
	}
	for _, t := range []struct {
		backend.Tableau
		wanted error
	}{
		{backend.Tableau{A: [][]float64{{1}}, B: []float64{1}}, backend.ErrArgument},
		{backend.Tableau{A: [][]float64{{0, 1}, {1, 0}}, B: []float64{0.5, 0.5}}, backend.ErrArgument},
		{backend.Tableau{A: [][]float64{{0, 0}, {math.NaN(), 0}}, B: []float64{0.5, 0.5}}, backend.ErrArgument},
		{backend.Tableau{B: []float64{math.Inf(1)}}, backend.ErrArgument},
		{backend.Tableau{B: []float64{0.5, 0.5}}, backend.ErrShape},
		{backend.Tableau{A: [][]float64{{0}}}, backend.ErrShape},
		{backend.Tableau{A: [][]float64{{0, 0}, {1}}, B: []float64{0.5, 0.5}}, backend.ErrShape},
	} {
		err = errors.Join(err, changed(fmt.Sprintf("tableau %v", t.Tableau), func(s *backend.FlowStep) { s.Tableau = t.Tableau }, t.wanted))
	}
	radii := func(shape backend.Shape) backend.Buffer {
		b, ferr := e.dev.Alloc(shape)
		err = errors.Join(err, ferr)
		return b
	}
	two := radii(backend.Vector(2))
	err = errors.Join(err, changed("an activation and radii", func(s *backend.FlowStep) { s.Radius = two }, backend.ErrArgument))
	for _, shape := range []backend.Shape{backend.Vector(4), backend.Vector(5), backend.Vector(12), backend.Image(1, 1, 2), backend.Image(2, 3, 1), {N: 2, C: 1, H: 1, W: 1}} {
		wrong := radii(shape)
		err = errors.Join(err, changed(fmt.Sprintf("radii %v for 6 channels", shape), func(s *backend.FlowStep) {
			s.Radius, s.Activation = wrong, backend.Activation{}
		}, backend.ErrShape))
	}
	// Filters of another width, of less than the source has, and of less than the
	// destination has.
	for _, width := range []int{5, 3, 2, 1} {
		other := n
		other.width = width
		f, ferr := other.newFilter(e.dev, 0)
		if ferr != nil {
			return ferr
		}
		defer f.Free()
		err = errors.Join(err, changed(fmt.Sprintf("a filter %v", f.Shape()), func(s *backend.FlowStep) { s.Filter = f }, backend.ErrShape))
		if width < n.src.C {
			alone := []backend.FlowStep{{Filter: f, Size: 0.3}}
			err = errors.Join(err, wantError(fmt.Sprintf("a filter %v from %v", f.Shape(), n.src), call(n.src.Whole(), alone), backend.ErrShape))
		}
	}
	return err
}

// checkEulerFilters gives filters that may not be used, one for all steps, and one
// that was updated.
func checkEulerFilters(e *environment) error {
	n := eulerNetwork{src: backend.Image(3, 13, 9), width: 4, dst: 3, steps: slices.Repeat([]eulerLayer{{16, 3, 3, false, leaky, 0.3, nil, 0, false}}, 2)}
	s, err := n.set(e.dev)
	if err != nil {
		return err
	}
	defer s.free()
	first, err := s.call(context.Background(), n.src.Whole())
	if err != nil {
		return err
	}
	mine := slices.Clone(s.steps)
	uses := func(what string, f backend.Filter, wanted ...error) error {
		var err error
		for k := range mine {
			steps := slices.Clone(mine)
			steps[k].Filter = f
			err = errors.Join(err, wantError(fmt.Sprintf("a filter %s in step %d", what, k), guarded(func() error {
				return e.dev.GradientFlow(context.Background(), s.dst, s.src, n.src.Whole(), steps)
			}), wanted...))
		}
		return err
	}
	other, err := e.other()
	if err != nil {
		return err
	}
	theirs, err := n.newFilter(other, 0)
	if err != nil {
		return err
	}
	defer theirs.Free()
	freed, err := n.newFilter(e.dev, 0)
	if err != nil {
		return err
	}
	freed.Free()
	if err := errors.Join(
		uses("that is nil", nil),
		uses("of another device", theirs, backend.ErrForeign),
		uses("after Free", freed, backend.ErrFreed)); err != nil {
		return err
	}

	// The first step's weights in place of the second's: one filter for both
	// steps, and the second one updated.
	s.steps = []backend.FlowStep{mine[0], mine[0]}
	want, err := s.call(context.Background(), n.src.Whole())
	if err != nil {
		return err
	}
	if slices.Equal(want, first) {
		return errors.New("the second step's filter has no effect")
	}
	w, err := upload(e.dev, n.filter(0), n.weights(0))
	if err != nil {
		return err
	}
	defer w.Free()
	if err := e.dev.UpdateFilter(mine[1].Filter, w); err != nil {
		return err
	}
	s.steps = mine
	got, err := s.call(context.Background(), n.src.Whole())
	if err != nil {
		return err
	}
	return checkBits("dst after UpdateFilter", n.result(), got, want)
}
