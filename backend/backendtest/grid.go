package backendtest

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

func gridChecks() []check {
	return []check{
		{operation: "ConvolutionGrid", name: "is positive", run: checkGridPositive},
		{operation: "ConvolutionGrid", name: "of Convolve", run: func(e *environment) error {
			return checkGrid(e, func(l layer) *testCase { return convolveCase(l, true, leaky) })
		}},
		{operation: "ConvolutionGrid", name: "of ConvolveAdjoint", run: func(e *environment) error {
			return checkGrid(e, func(l layer) *testCase { return adjointCase(l, 0.5, -0.3) })
		}},
	}
}

func checkGridPositive(e *environment) error {
	if g := e.dev.ConvolutionGrid(); g < 1 {
		return fmt.Errorf("the grid is %d, want at least 1", g)
	}
	return nil
}

// gridLayers have the channel counts of the networks, others that fill no register,
// and filters other than 3×3. Images are made as large as the grid asks for.
var gridLayers = []layer{
	{backend.Image(3, 1, 1), 64, 3, 3},
	{backend.Image(64, 1, 1), 64, 3, 3},
	{backend.Image(64, 1, 1), 3, 3, 3},
	{backend.Image(16, 1, 1), 20, 3, 3},
	{backend.Image(20, 1, 1), 33, 3, 3},
	{backend.Shape{N: 2, C: 33, H: 1, W: 1}, 16, 3, 3},
	{backend.Image(4, 1, 1), 16, 1, 1},
	{backend.Image(16, 1, 1), 4, 5, 5},
	{backend.Image(5, 1, 1), 3, 3, 5},
}

// checkGrid cuts images out of a larger one at multiples of the grid and compares
// the bits of the results in all tiles whose reach is in the cut.
func checkGrid(e *environment, operation func(l layer) *testCase) error {
	g := e.dev.ConvolutionGrid()
	if g < 1 {
		return checkGridPositive(e)
	}
	unit := (1 + g) / g * g // of at least 2 pixels, which is as far as filters reach
	for _, l := range gridLayers {
		l.in.H, l.in.W = 2*unit+g+3, 2*unit+g+4
		c := operation(l)
		op, err := c.prepare(e.dev)
		if err != nil {
			return err
		}
		whole, err := c.run(e.dev, op)
		if err != nil {
			return err
		}
		for _, r := range []backend.Region{
			// At the frame's corners, and inside; at odd and at even multiples.
			{Y0: unit, Y1: l.in.H, X0: unit + g, X1: l.in.W},
			{Y1: unit + g + 2, X1: unit + g + 3},
			{Y0: unit + g, Y1: l.in.H, X1: unit + g + 2},
			{Y0: unit, Y1: 2*unit + g + 2, X0: unit, X1: 2*unit + g + 2},
		} {
			if err := c.checkCut(e, op, whole, r, max(l.h, l.w)/2, g); err != nil {
				return fmt.Errorf("%s, cut to %v, grid %d: %w", c.title(), r, g, err)
			}
		}
		op.free()
	}
	return nil
}

// checkCut calls the operation on the region of all operands that are images.
func (c *testCase) checkCut(e *environment, op prepared, whole outcome, r backend.Region, radius, grid int) error {
	full := c.operands[0].shape
	small := *c
	small.operands = nil
	var contents [][]float32
	for i, o := range c.operands {
		v := c.initial(i)
		if o.shape.H == full.H && o.shape.W == full.W {
			v = cut(o.shape, v, r)
			o.shape = regionShape(o.shape, r)
		}
		small.operands, contents = append(small.operands, o), append(contents, v)
	}
	p, err := small.placeContents(e.dev, contents)
	if err != nil {
		return err
	}
	defer p.free()
	got, err := small.collect(e.dev, op, p)
	if err != nil {
		return err
	}
	inside := whole.arrays[0]
	compared := 0
	for y := r.Y0; y < r.Y1; y++ {
		for x := r.X0; x < r.X1; x++ {
			reach := backend.Region{Y0: y, Y1: y + 1, X0: x, X1: x + 1}.Reach(radius, grid, full)
			if reach.Y0 < r.Y0 || reach.Y1 > r.Y1 || reach.X0 < r.X0 || reach.X1 > r.X1 {
				continue
			}
			compared++
			for k := range full.N * full.C {
				i := k*full.Plane() + y*full.W + x
				s := small.operands[0].shape
				g := got.arrays[0][k*s.Plane()+(y-r.Y0)*s.W+x-r.X0]
				if !sameBits(g, inside[i]) {
					return fmt.Errorf("%s%s is %v in the cut, want the bits of %v", c.operands[0].name, position(full, i), g, inside[i])
				}
			}
		}
	}
	if compared == 0 {
		return fmt.Errorf("no tile has its reach in the cut")
	}
	return nil
}
