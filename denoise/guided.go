package denoise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/internal/nn/guide"
	"github.com/averaged/imaging/internal/nn/tensors"
	"github.com/averaged/imaging/internal/nn/tile"
	"github.com/averaged/imaging/weights"
)

// A guided network is a family Φ_ρ, one map for every choice of radii ρ ≥ 0, a number for each
// pixel and each group of hidden channels. The projection of a block is then the one onto the
// product of the balls of all pixels and groups,
//
//	C = ∏ over pixels p and groups g of B(0, ρ[p,g]),
//
// a closed convex set whatever ρ is. So it is firmly nonexpansive and the gradient of the convex
// function ½‖u‖² − ½dist(u, C)², with the Lipschitz constant 1, which is all that the theorems
// about blocks ask of an activation: Φ_ρ is averaged with one constant for every ρ, and the
// certificate is of the filters and the steps alone. ρ may come from anywhere. Here it comes
// from a guide (Model.Guide, package guide), a network of which nothing is proven, that looks at
// a photograph y once. What is proven is then of Φ_ρ with the ρ that this photograph got. Nothing
// is claimed of y ↦ Φ_ρ(y)(y), which is no nonexpansive map.

// ErrNoGuide is wrapped by the error of asking a network without a guide for radii.
var ErrNoGuide = errors.New("the network has no guide")

// checkGuide returns an error unless the guide fits the blocks.
func (m Model) checkGuide() error {
	if m.Guide == nil {
		return nil
	}
	if !m.Activation.IsBalls() || m.implicit() {
		return fmt.Errorf("a guide sets the radii of %q and needs an explicit integrator, not %q with %q", activation.Balls().Name, m.Activation.Name, m.Integrator.Name)
	}
	return m.Guide.Check(m.lifted(), m.allGroups())
}

// allGroups returns the number of groups of all blocks.
func (m Model) allGroups() int {
	n := 0
	for _, b := range m.Blocks {
		n += m.groups(b)
	}
	return n
}

// addGuide appends the guide's tensors.
func (m Model) addGuide(list []weights.Tensor, dtype weights.DType) ([]weights.Tensor, error) {
	for _, l := range m.Guide.Layers {
		w, err := weights.NewTensor(l.Name+".weight", dtype, []int{l.Out, l.In, l.Kernel, l.Kernel}, l.Weight)
		if err != nil {
			return nil, err
		}
		b, err := weights.NewTensor(l.Name+".bias", dtype, []int{l.Out}, l.Bias)
		if err != nil {
			return nil, err
		}
		list = append(list, w, b)
	}
	return list, nil
}

// takeGuide reads the tensors of a guide of these widths and this slope.
func (m Model) takeGuide(r *tensors.Taker, widths []int, slope float64) (*guide.Model, error) {
	if err := guide.CheckWidths(widths); err != nil {
		return nil, err
	}
	g := &guide.Model{Widths: widths, Slope: slope, Layers: guide.Layers(widths, m.lifted(), m.allGroups())}
	for i := range g.Layers {
		l := &g.Layers[i]
		l.Weight, l.Bias = r.Take(l.Name+".weight", l.Out, l.In, l.Kernel, l.Kernel), r.Take(l.Name+".bias", l.Out)
	}
	return g, nil
}

// Radii are the radii of a network's balls for every pixel of an image: for each block a map with a channel for each
// group, of the pixels that the blocks see.
type Radii struct {
	image backend.Shape
	maps  []backend.Buffer
	coded *codedRadii // in place of maps, or nil
}

// Free releases the memory. A network that was frozen with r frees it.
func (r *Radii) Free() {
	for _, b := range r.maps {
		b.Free()
	}
	r.maps, r.coded = nil, nil
}

// Guided reports whether the network has a guide.
func (n *Network) Guided() bool { return n.guide != nil }

// GuideCost returns the number of the guide's parameters, and of its multiplications for each pixel of the image.
// Both are 0 without a guide.
func (n *Network) GuideCost() (parameters int, multiplications float64) {
	if n.guide == nil {
		return 0, 0
	}
	parameters, multiplications = n.guide.Cost()
	q := float64(max(1, n.shuffle))
	return parameters, multiplications / (q * q)
}

// Guide returns the radii that the guide chooses for the pixels of a photograph with noise of standard deviation
// sigma > 0. strength, 0 or more, multiplies them: 1 is what the guide was trained for, less leaves more noise and
// texture, and 0 makes the identity. n must be the network for sigma (For). Beyond Levels the guide sees the
// photograph rescaled to the nearest level, as the network does. A photograph of one channel is repeated in all
// channels of the network. The error wraps ErrNoGuide if the network has no guide.
//
// For photographs above about 4 megapixels the radii are stored in a byte each, rounded by at most 1.4 %.
func (n *Network) Guide(ctx context.Context, photograph backend.Buffer, sigma, strength float64) (*Radii, error) {
	return n.guideRadii(ctx, photograph, sigma, strength, maxRadii)
}

// guideRadii is Guide with radii that are coded where they would take more bytes than most.
func (n *Network) guideRadii(ctx context.Context, photograph backend.Buffer, sigma, strength float64, most int) (*Radii, error) {
	switch {
	case !n.Guided():
		return nil, ErrNoGuide
	case photograph == nil:
		return nil, errNoBuffer
	case !(sigma > 0) || math.IsInf(sigma, 1):
		return nil, fmt.Errorf("noise level %v, must be above 0 and finite", sigma)
	case !(strength >= 0) || math.IsInf(strength, 1):
		return nil, fmt.Errorf("strength %v, must be 0 or more and finite", strength)
	}
	seen, err := n.guidePhotograph(photograph)
	if err != nil {
		return nil, err
	}
	if levels := n.Levels(); len(levels) > 0 {
		nearest := min(max(sigma, levels[0]), levels[len(levels)-1])
		seen.Scale, sigma = float32(nearest/sigma), nearest
	}
	base, err := n.baseRadii()
	if err != nil {
		return nil, err
	}
	radii, err := n.someRadii(n.shapeOf(seen), most)
	if err != nil {
		return nil, err
	}
	made := false
	defer func() {
		if !made { // also after a panic of who is told about the progress
			radii.Free()
		}
	}()
	if radii.coded != nil {
		radii.coded.setBase(base, strength)
	}
	said := n.newSaid()
	err = n.guide.Apply(ctx, seen, sigma, func(r backend.Region, x backend.Buffer) error {
		return said.each(x, func(block int, factors []float32) error {
			if radii.coded != nil {
				return radii.coded.set(r, block, factors)
			}
			return radii.set(n.dev, r, block, factors, base[block], strength)
		})
	})
	if err != nil {
		return nil, err
	}
	made = true
	return radii, nil
}

// guidePhotograph returns a photograph as the guide looks at it: with as many channels as the network has.
func (n *Network) guidePhotograph(photograph backend.Buffer) (seen guide.Photograph, err error) {
	if _, ok := n.body.(*explicit); n.guide == nil || !ok {
		return seen, ErrNoGuide
	}
	if photograph == nil {
		return seen, errNoBuffer
	}
	if c := photograph.Shape().C; c != n.channels && (c != 1 || n.channels > maxGreyChannels) {
		return seen, fmt.Errorf("%w: a guide for %d channels looks at %v", backend.ErrShape, n.channels, photograph.Shape())
	}
	return guide.Photograph{Image: photograph, Channels: n.channels, Shuffle: max(1, n.shuffle)}, nil
}

// shapeOf is that of the images that radii for a photograph are for.
func (n *Network) shapeOf(p guide.Photograph) backend.Shape {
	s := p.Image.Shape()
	s.C = n.channels
	return s
}

// baseRadii returns the radius of each block's groups that the guide's factors are of.
func (n *Network) baseRadii() ([][]float32, error) {
	var base [][]float32
	for _, b := range n.body.(*explicit).blocks {
		values := make([]float32, b.balls.Shape().C)
		if err := n.dev.Download(values, b.balls); err != nil {
			return nil, err
		}
		base = append(base, values)
	}
	return base, nil
}

// someRadii returns radii of any values for images of that shape, coded where they would take more bytes
// than most.
func (n *Network) someRadii(image backend.Shape, most int) (*Radii, error) {
	groups, s := 0, image.Unshuffled(max(1, n.shuffle))
	var list []int
	for _, g := range n.Groups() {
		groups += g
		list = append(list, g)
	}
	if n.shuffle > 1 && 4*s.N*s.Plane()*groups > most {
		return &Radii{image: image, coded: newCodedRadii(s, list)}, nil
	}
	return n.emptyRadii(image)
}

// emptyRadii allocates radii of 0 for images of that shape.
func (n *Network) emptyRadii(image backend.Shape) (*Radii, error) {
	r := &Radii{image: image}
	s := image
	s.H, s.W = n.RadiiSize(image)
	for _, b := range n.body.(*explicit).blocks {
		s.C = b.balls.Shape().C
		m, err := n.dev.Alloc(s)
		if err != nil {
			r.Free()
			return nil, err
		}
		r.maps = append(r.maps, m)
	}
	return r, nil
}

// totals returns the root of the sum of the squares of the radii of each block.
func (r *Radii) totals(dev backend.Device) ([]float64, error) {
	if r.coded != nil {
		return r.coded.totals(), nil
	}
	total, sums := make([]float64, len(r.maps)), make([]backend.Reduction, len(r.maps))
	for i, m := range r.maps {
		sums[i] = backend.Reduction{Kind: backend.SumSquares, X: m}
	}
	if err := dev.Reduce(total, sums...); err != nil {
		return nil, err
	}
	for i, v := range total {
		total[i] = math.Sqrt(v) * (1 + 1e-9)
	}
	return total, nil
}

// said is what a guide says, of a block at a time: of all blocks it takes as much memory as the radii themselves.
type said struct {
	dev    backend.Device
	groups []int // of each block
	block  []float32
}

func (n *Network) newSaid() *said { return &said{dev: n.dev, groups: n.Groups()} }

// each calls do with what x says of each block, images×groups×pixels, which do may change.
func (s *said) each(x backend.Buffer, do func(block int, factors []float32) error) error {
	shape, first := x.Shape(), 0
	var all []float32 // of several images, where a block is not one piece of memory
	if shape.N > 1 {
		all = make([]float32, shape.Len())
		if err := s.dev.Download(all, x); err != nil {
			return err
		}
	}
	for block, groups := range s.groups {
		n := shape.N * groups * shape.Plane()
		s.block = slices.Grow(s.block[:0], n)[:n]
		if shape.N > 1 {
			for i := range shape.N {
				copy(s.block[i*groups*shape.Plane():][:groups*shape.Plane()], all[(i*shape.C+first)*shape.Plane():])
			}
		} else {
			view, err := s.dev.Channels(x, first, groups)
			if err != nil {
				return err
			}
			if err := s.dev.Download(s.block, view); err != nil {
				return err
			}
		}
		if err := do(block, s.block); err != nil {
			return err
		}
		first += groups
	}
	return nil
}

// set sets the radii of a block in a region from what the guide said there, to strength·base·Factor. It changes factors.
func (r *Radii) set(dev backend.Device, region backend.Region, block int, factors, base []float32, strength float64) error {
	h, w := region.Size()
	var wait sync.WaitGroup
	errs := make([]error, r.image.N*len(base))
	for n := range errs {
		wait.Go(func() {
			of, scale := factors[n*h*w:][:h*w], float32(min(strength*float64(base[n%len(base)]), math.MaxFloat32))
			for k, x := range of {
				of[k] = min(scale*guide.Factor(x), math.MaxFloat32)
				if of[k] != of[k] {
					errs[n] = notARadius(math.NaN())
					return
				}
			}
		})
	}
	wait.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	return r.put(dev, region, block, factors)
}

// put sets the radii of a block in a region, images×groups×pixels.
func (r *Radii) put(dev backend.Device, region backend.Region, block int, values []float32) error {
	m := r.maps[block]
	s := m.Shape()
	if region == s.Whole() {
		return dev.Upload(m, values)
	}
	s.H, s.W = region.Size()
	part, err := dev.Alloc(s)
	if err != nil {
		return err
	}
	defer part.Free()
	if err := dev.Upload(part, values); err != nil {
		return err
	}
	return dev.CopyRegion(m, region.Y0, region.X0, part, part.Shape().Whole())
}

// checkedRadius returns a radius, which may be infinite, as devices take it: the largest
// number of float32 holds whatever they can compute with. A number below 0, or none, is an
// error: with it nothing would be proven.
func checkedRadius(r float64) (float32, error) {
	if !(r >= 0) {
		return 0, notARadius(r)
	}
	return float32(min(r, math.MaxFloat32)), nil
}

func notARadius(r float64) error { return fmt.Errorf("a radius is %v, must be 0 or more", r) }

// RadiiSize returns how many rows and columns of pixels the blocks see of an image.
func (n *Network) RadiiSize(image backend.Shape) (rows, columns int) {
	s := image.Unshuffled(max(1, n.shuffle))
	return s.H, s.W
}

// RadiiOf returns the given radii for images of shape s. values has for each block an array of N×groups×rows×columns
// numbers, 0 or more, also +Inf. Groups returns the number of groups of each block, and RadiiSize the rows and
// columns.
func (n *Network) RadiiOf(s backend.Shape, values [][]float32) (*Radii, error) {
	if _, ok := n.body.(*explicit); !ok || len(n.Groups()) == 0 {
		return nil, errors.New("the network has no balls that could have radii")
	}
	if s.C != n.channels {
		return nil, fmt.Errorf("%w: radii for images %v of a network of %d channels", backend.ErrShape, s, n.channels)
	}
	r, err := n.emptyRadii(s)
	if err != nil {
		return nil, err
	}
	err = func() error {
		if len(values) != len(r.maps) {
			return fmt.Errorf("%w: radii of %d blocks, must be of %d", backend.ErrShape, len(values), len(r.maps))
		}
		for i, m := range r.maps {
			if len(values[i]) != m.Shape().Len() {
				return fmt.Errorf("%w: %d radii of block %d, must be %v", backend.ErrShape, len(values[i]), i, m.Shape())
			}
			checked := make([]float32, len(values[i]))
			for k, v := range values[i] {
				var err error
				if checked[k], err = checkedRadius(float64(v)); err != nil {
					return fmt.Errorf("block %d: %w", i, err)
				}
			}
			if err := n.dev.Upload(m, checked); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		r.Free()
		return nil, err
	}
	return r, nil
}

// Groups returns the number of balls at a pixel of each block, or nil for other activations.
func (n *Network) Groups() []int {
	e, ok := n.body.(*explicit)
	if !ok {
		return nil
	}
	var list []int
	for _, b := range e.blocks {
		if b.balls == nil {
			return nil
		}
		list = append(list, b.balls.Shape().C)
	}
	return list
}

// Freeze returns Φ_ρ, the network with these radii, for images of the shape that r is for. It has the constant of n.
// It owns r, and its Free releases it; if Freeze returns an error, it has freed r. The filters are those of n, which
// must be freed after the result.
func (n *Network) Freeze(r *Radii) (*Network, error) {
	if r == nil {
		return nil, errors.New("the radii are nil")
	}
	e, ok := n.body.(*explicit)
	fits := slices.EqualFunc(n.Groups(), r.maps, func(groups int, m backend.Buffer) bool { return m.Shape().C == groups })
	if r.coded != nil {
		fits = slices.EqualFunc(n.Groups(), r.coded.base, func(groups int, base []float32) bool { return len(base) == groups })
	}
	if !ok || !fits || r.image.C != n.channels {
		r.Free()
		return nil, errors.New("the radii are of another network")
	}
	c := n.certificate
	var arithmetic *arithmetic
	if n.arithmetic != nil {
		total, err := r.totals(n.dev)
		if err == nil {
			h, w := n.RadiiSize(r.image)
			arithmetic, err = n.arithmetic.frozen(total, float64(r.image.N)*float64(h)*float64(w))
		}
		if err != nil {
			r.Free()
			return nil, err
		}
	}
	return &Network{
		dev: n.dev, channels: n.channels, shuffle: n.shuffle, tile: n.tile, body: e.with(r), card: n.card, arithmetic: arithmetic,
		certificate: c.wrapped("frozen for this photograph", "a block's constant is that of any radii, for they are those of convex sets", c.Averagedness),
		photograph:  r.image,
	}, nil
}

// with returns the flow with these radii.
func (e *explicit) with(r *Radii) body {
	if r.coded != nil {
		return newCodedFlow(e, r.coded)
	}
	own := &borrowing{explicit: explicit{dev: e.dev, tableau: e.tableau}, owned: r.maps}
	for i, b := range e.blocks {
		b.balls = r.maps[i]
		own.blocks = append(own.blocks, b)
	}
	like := newExplicit(e.dev, e.tableau, own.blocks)
	own.steps, own.reach = like.steps, like.reach
	return own
}

// Cut implements tile.Cuttable: radii for every pixel are cut like the image.
func (e *explicit) Cut(s *tile.Scratch, window backend.Region) (tile.Plan, error) {
	blocks := make([]deviceBlock, len(e.blocks))
	for i, b := range e.blocks {
		if b.balls == nil || b.balls.Shape() == backend.Vector(b.balls.Shape().C) {
			return e, nil
		}
		shape := b.balls.Shape()
		shape.H, shape.W = window.Size()
		m, err := s.Alloc(shape)
		if err != nil {
			return nil, err
		}
		if err := e.dev.CopyRegion(m, 0, 0, b.balls, window); err != nil {
			return nil, err
		}
		b.balls = m
		blocks[i] = b
	}
	return newExplicit(e.dev, e.tableau, blocks), nil
}
