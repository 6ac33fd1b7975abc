package backendtest

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
)

// The checks in this file call operations wrongly.

// aliasable reports whether operands i and j may be one buffer.
func (c *testCase) aliasable(i, j int) bool {
	for _, p := range c.inPlace {
		if p == [2]int{i, j} || p == [2]int{j, i} {
			return true
		}
	}
	return false
}

// conflict reports whether one of operands i and j is written.
func (c *testCase) conflict(i, j int) bool {
	return c.operands[i].role != source || c.operands[j].role != source
}

// checkInPlace calls with a destination that is one of its sources, once as the
// same buffer and once as two views of the same channels.
func (c *testCase) checkInPlace(e *environment, op prepared, first outcome) error {
	for _, pair := range c.inPlace {
		d, s := pair[0], pair[1]
		if c.operands[d].shape != c.operands[s].shape {
			continue
		}
		for _, views := range []bool{false, true} {
			if views && c.operands[d].shape.N != 1 {
				continue
			}
			err := func() error {
				p, err := c.place(e.dev)
				if err != nil {
					return err
				}
				defer p.free()
				p.buffers[d] = p.buffers[s]
				if views {
					if p.buffers[d], err = e.dev.Channels(p.buffers[s], 0, c.operands[d].shape.C); err != nil {
						return fmt.Errorf("Channels: %w", err)
					}
				}
				if _, err := op.call(p.buffers); err != nil {
					return err
				}
				got, err := download(e.dev, p.buffers[d])
				if err != nil {
					return err
				}
				return checkBits(c.operands[d].name, c.operands[d].shape, got, first.arrays[d])
			}()
			if err != nil {
				return fmt.Errorf("%s is %s (two views: %v): %w", c.operands[d].name, c.operands[s].name, views, err)
			}
		}
	}
	return nil
}

// checkAliases lays pairs of operands, one of them written, into one array: over
// each other, which is ErrAlias unless they are the same and that is allowed; and
// beside each other, which is no error.
func (c *testCase) checkAliases(e *environment, op prepared, first outcome) error {
	for i, a := range c.operands {
		for j, b := range c.operands[:i] {
			if !c.conflict(i, j) {
				continue
			}
			if a.shape == b.shape && !c.aliasable(i, j) {
				if err := c.checkSameBuffer(e, op, i, j); err != nil {
					return err
				}
			}
			if a.shape.N != 1 || b.shape.N != 1 || a.shape.H != b.shape.H || a.shape.W != b.shape.W {
				continue
			}
			// One channel in common, with i before and behind j; nothing in common.
			for _, from := range [][2]int{{0, a.shape.C - 1}, {b.shape.C - 1, 0}, {0, a.shape.C}, {b.shape.C, 0}} {
				if from == [2]int{0, 0} && a.shape == b.shape {
					continue // the same channels: dealt with above or allowed
				}
				if err := c.checkOverlap(e, op, first, i, j, from); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *testCase) checkSameBuffer(e *environment, op prepared, i, j int) error {
	p, err := c.place(e.dev)
	if err != nil {
		return err
	}
	defer p.free()
	p.buffers[i] = p.buffers[j]
	_, err = op.call(p.buffers)
	return wantError(fmt.Sprintf("%s is %s", c.operands[i].name, c.operands[j].name), err, backend.ErrAlias)
}

// checkOverlap makes operands i and j views of one array that begin at the given
// channels.
func (c *testCase) checkOverlap(e *environment, op prepared, first outcome, i, j int, from [2]int) error {
	p, err := c.place(e.dev)
	if err != nil {
		return err
	}
	defer p.free()
	a, b := c.operands[i], c.operands[j]
	s := a.shape
	s.C = max(from[0]+a.shape.C, from[1]+b.shape.C)
	contents := make([]float32, s.Len())
	copy(contents[from[0]*s.Plane():], c.initial(i))
	copy(contents[from[1]*s.Plane():], c.initial(j))
	parent, err := upload(e.dev, s, contents)
	if err != nil {
		return err
	}
	p.owned = append(p.owned, parent)
	if p.buffers[i], err = e.dev.Channels(parent, from[0], a.shape.C); err != nil {
		return fmt.Errorf("Channels: %w", err)
	}
	if p.buffers[j], err = e.dev.Channels(parent, from[1], b.shape.C); err != nil {
		return fmt.Errorf("Channels: %w", err)
	}
	what := fmt.Sprintf("%s at channel %d and %s at channel %d of one array", a.name, from[0], b.name, from[1])
	if from[0] < from[1]+b.shape.C && from[1] < from[0]+a.shape.C {
		_, err = op.call(p.buffers)
		return wantError(what, err, backend.ErrAlias)
	}
	got, err := c.collect(e.dev, op, p)
	if err != nil {
		return fmt.Errorf("%s, which only touch: %w", what, err)
	}
	if err := c.checkSame(got, first); err != nil {
		return fmt.Errorf("%s, which only touch: %w", what, err)
	}
	return nil
}

// checkShapes changes one extent of one operand at a time.
func (c *testCase) checkShapes(e *environment, op prepared, _ outcome) error {
	if c.fits == nil {
		return nil
	}
	shapes := make([]backend.Shape, len(c.operands))
	for i, o := range c.operands {
		shapes[i] = o.shape
	}
	if !c.fits(shapes) {
		return fmt.Errorf("the case's own shapes %v do not fit", shapes)
	}
	p, err := c.place(e.dev)
	if err != nil {
		return err
	}
	defer p.free()
	for i := range shapes {
		for extent := range 4 {
			for _, by := range []int{1, -1} {
				right := shapes[i]
				e4 := [...]*int{&shapes[i].N, &shapes[i].C, &shapes[i].H, &shapes[i].W}
				*e4[extent] += by
				if *e4[extent] > 0 && !c.fits(shapes) {
					if err := c.checkWrongShape(e, op, p.buffers, i, shapes[i]); err != nil {
						return err
					}
				}
				shapes[i] = right
			}
		}
	}
	return nil
}

func (c *testCase) checkWrongShape(e *environment, op prepared, right []backend.Buffer, i int, s backend.Shape) error {
	wrong, err := e.dev.Alloc(s)
	if err != nil {
		return fmt.Errorf("Alloc: %w", err)
	}
	defer wrong.Free()
	buffers := slices.Clone(right)
	buffers[i] = wrong
	what := fmt.Sprintf("%s of shape %v instead of %v", c.operands[i].name, s, c.operands[i].shape)
	return wantError(what, guarded(func() error { _, err := op.call(buffers); return err }), backend.ErrShape)
}

// checkLifetimes puts a freed buffer, a freed view, a view of a freed array, a
// buffer of another device, and nil in place of every operand.
func (c *testCase) checkLifetimes(e *environment, op prepared, _ outcome) error {
	other, err := e.other()
	if err != nil {
		return err
	}
	p, err := c.place(e.dev)
	if err != nil {
		return err
	}
	defer p.free()
	for i, o := range c.operands {
		foreign, err := other.Alloc(o.shape)
		if err != nil {
			return err
		}
		defer foreign.Free()
		own, err := e.dev.Alloc(o.shape)
		if err != nil {
			return err
		}
		call := func(b backend.Buffer) error {
			buffers := slices.Clone(p.buffers)
			buffers[i] = b
			return guarded(func() error { _, err := op.call(buffers); return err })
		}
		if err := wantError(o.name+" of another device", call(foreign), backend.ErrForeign); err != nil {
			return err
		}
		if err := wantError(o.name+" is nil", call(nil)); err != nil {
			return err
		}
		var view, freedView backend.Buffer
		if o.shape.N == 1 {
			if view, err = e.dev.Channels(own, 0, o.shape.C); err != nil {
				return fmt.Errorf("Channels: %w", err)
			}
			if freedView, err = e.dev.Channels(own, 0, o.shape.C); err != nil {
				return fmt.Errorf("Channels: %w", err)
			}
			freedView.Free()
			if err := wantError(o.name+", a freed view", call(freedView), backend.ErrFreed); err != nil {
				return err
			}
		}
		own.Free()
		if err := wantError(o.name+" after Free", call(own), backend.ErrFreed); err != nil {
			return err
		}
		if view != nil {
			if err := wantError(o.name+", a view of a freed array", call(view), backend.ErrFreed); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkClosed calls the operation on a closed device.
func (c *testCase) checkClosed(e *environment) error {
	dev, err := e.fresh()
	if err != nil {
		return err
	}
	defer func() { _ = dev.Close() }() // a second time, where all goes well
	op, err := c.prepare(dev)
	if err != nil {
		return err
	}
	p, err := c.place(dev)
	if err != nil {
		return err
	}
	if err := dev.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	err = guarded(func() error { _, err := op.call(p.buffers); return err })
	if err := wantError("after Close", err, backend.ErrClosed); err != nil {
		return err
	}
	// Buffers need not be freed before Close, but may be freed after it.
	return guarded(func() error { p.free(); op.free(); return nil })
}
