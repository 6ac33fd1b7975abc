package guide

import "github.com/averaged/imaging/backend"

// An image that two tiles do not hold is computed in strips across its longer side. A strip of the result is made as
// soon as the arrays of the next scale reach far enough, and of those only the rows stay that are read again. So the
// memory grows with the shorter side of the image, and not with its longer one.

// step makes a strip of an array: of a_i, on the way down, or of b_i, or of the result if i is 0.
type step struct {
	down     bool
	scale    int
	from, to int // along the longer side, in pixels of the scale
}

// schedule is the steps in their order.
type schedule struct {
	pass  *pass
	sizes []backend.Shape // of each scale
	wide  bool            // the longer side is the width
	strip int             // rows, or columns, of a strip at the first scale
	a, b  []int           // how far the arrays of each scale are made
	steps []step
}

// newSchedule returns the steps for an image of shape s.
func (p *pass) newSchedule(s backend.Shape) *schedule {
	c := &schedule{pass: p, wide: s.W > s.H, a: make([]int, len(p.widths)), b: make([]int, len(p.widths))}
	// As many pixels as a tile has: strips overlap, and each is a move of what stays.
	c.strip = p.strip * max(1, p.side*p.side/(min(s.H, s.W)*p.strip))
	for i := range p.widths {
		s.C = p.widths[i]
		c.sizes = append(c.sizes, s)
		s = s.Unshuffled(2)
	}
	c.through(0, c.length(0))
	return c
}

// length is that of the longer side at a scale.
func (c *schedule) length(i int) int {
	if c.wide {
		return c.sizes[i].W
	}
	return c.sizes[i].H
}

// region returns rows, or columns, [from, to) of a scale.
func (c *schedule) region(i, from, to int) backend.Region {
	r := c.sizes[i].Whole()
	if c.wide {
		r.X0, r.X1 = from, to
	} else {
		r.Y0, r.Y1 = from, to
	}
	return r
}

// span returns the rows, or columns, of a region.
func (c *schedule) span(r backend.Region) (from, to int) {
	if c.wide {
		return r.X0, r.X1
	}
	return r.Y0, r.Y1
}

// next is the step after those that were made, towards a row, or column: of as many at most as all scales make at the
// same pace, and of no more than are needed, so that few have to stay.
func (c *schedule) next(down bool, i, made, to int) step {
	grid := c.pass.dev.ConvolutionGrid()
	return step{down, i, made, min(c.length(i), made+max(1, c.strip>>i), ceil(to, grid)*grid)}
}

// window returns what a region of a step's array is made of: of the array that it reads, or of the image.
func (c *schedule) window(s step, r backend.Region) backend.Region {
	p, i := c.pass, s.scale
	if i == 0 {
		return p.window(three, r, c.sizes[0])
	}
	if r = p.window(block, r, c.sizes[i]); s.down {
		r = backend.Region{Y0: 2 * r.Y0, Y1: min(c.sizes[i-1].H, 2*r.Y1), X0: 2 * r.X0, X1: min(c.sizes[i-1].W, 2*r.X1)}
	}
	return r
}

// read returns the rows, or columns, of the window of a step.
func (c *schedule) read(s step) (from, to int) {
	return c.span(c.window(s, c.region(s.scale, s.from, s.to)))
}

// through makes b_i, or the result, as far as to.
func (c *schedule) through(i, to int) {
	for c.b[i] < to {
		s := c.next(false, i, c.b[i], to)
		_, end := c.read(s)
		if i+1 < len(c.sizes) {
			c.through(i+1, (end+1)/2)
		}
		c.down(i, end)
		c.steps = append(c.steps, s)
		c.b[i] = s.to
	}
}

// down makes a_i as far as to.
func (c *schedule) down(i, to int) {
	for c.a[i] < to {
		s := c.next(true, i, c.a[i], to)
		if _, end := c.read(s); i > 0 {
			c.down(i-1, end)
		}
		c.steps = append(c.steps, s)
		c.a[i] = s.to
	}
}

// kept is an array of which only the rows, or columns, from first on are in the buffer.
type kept struct {
	buffer backend.Buffer
	first  int
	// from has for each step of the schedule the first one that it or a later step reads, and size the most that are in
	// the buffer at once.
	from []int
	size int
}

// keep finds out what has to stay of the arrays a and b of each scale.
func (c *schedule) keep() (a, b []*kept) {
	for i := range c.sizes {
		make := func() *kept { return &kept{from: make([]int, len(c.steps))} }
		a, b = append(a, make()), append(b, make())
		needA, needB := c.length(i), c.length(i)
		for k := len(c.steps) - 1; k >= 0; k-- {
			s := c.steps[k]
			from, _ := c.read(s)
			if s.down && s.scale == i+1 || !s.down && s.scale == i {
				needA = min(needA, from)
			}
			if !s.down && s.scale+1 == i {
				needB = min(needB, from/2)
			}
			a[i].from[k], b[i].from[k] = needA, needB
			if s.scale == i && s.down {
				a[i].size = max(a[i].size, s.to-needA)
			} else if s.scale == i {
				b[i].size = max(b[i].size, s.to-needB)
			}
		}
	}
	return a, b
}

// place returns where a pixel of an array's scale is in its buffer.
func (c *schedule) place(a *kept, y, x int) (row, column int) {
	if c.wide {
		return y, x - a.first
	}
	return y - a.first, x
}

// placed returns where a region of an array's scale is in its buffer.
func (c *schedule) placed(a *kept, r backend.Region) backend.Region {
	y, x := c.place(a, r.Y0, r.X0)
	h, w := r.Size()
	return backend.Region{Y0: y, Y1: y + h, X0: x, X1: x + w}
}
