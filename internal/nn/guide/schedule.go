package guide

import "github.com/averaged/imaging/backend"

// An image that one tile does not hold is computed in strips across its longer side. A strip of the result is made as
// soon as the arrays of the next scale reach far enough, and of those only the rows stay that are read again. So the
// memory grows with the shorter side of the image, and not with its longer one.

// step makes a strip of an array: of z_i, on the way down, or of b_i, or of the result if i is 0.
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
	z, b  []int           // how far the arrays of each scale are made
	steps []step
}

// newSchedule returns the steps for an image of shape s.
func (p *pass) newSchedule(s backend.Shape) *schedule {
	c := &schedule{pass: p, wide: s.W > s.H, z: make([]int, len(p.widths)), b: make([]int, len(p.widths))}
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

// strip is how many rows, or columns, a step makes. All scales go at the same pace.
func (c *schedule) strip(i int) int { return max(1, c.pass.strip>>i) }

// read returns what a step reads of z at its scale, or at the one before on the way down.
func (c *schedule) read(s step) (from, to int) {
	if s.down {
		i := s.scale - 1
		return c.span(c.pass.window(i, down, c.region(i, 2*s.from, min(2*s.to, c.length(i))), c.sizes[i]))
	}
	return c.span(c.pass.window(s.scale, reachOf(s.scale), c.region(s.scale, s.from, s.to), c.sizes[s.scale]))
}

// through makes b_i, or the result, as far as to.
func (c *schedule) through(i, to int) {
	for c.b[i] < to {
		s := step{false, i, c.b[i], min(c.length(i), c.b[i]+c.strip(i))}
		_, end := c.read(s)
		if i+1 < len(c.sizes) {
			c.through(i+1, (end+1)/2)
		}
		c.down(i, end)
		c.steps = append(c.steps, s)
		c.b[i] = s.to
	}
}

// down makes z_i as far as to; z_0 is made of the image where it is needed.
func (c *schedule) down(i, to int) {
	for i > 0 && c.z[i] < to {
		s := step{true, i, c.z[i], min(c.length(i), c.z[i]+c.strip(i))}
		_, end := c.read(s)
		c.down(i-1, end)
		c.steps = append(c.steps, s)
		c.z[i] = s.to
	}
}

// kept is an array of which only the rows, or columns, from first on are in the buffer.
type kept struct {
	buffer backend.Buffer
	first  int
	// from has for each step of the schedule the first one that it or a later step reads, and size the most that are
	// in the buffer at once.
	from []int
	size int
}

// keep finds out what has to stay of the arrays z and b of each scale but the first.
func (c *schedule) keep() (z, b []*kept) {
	for i := range c.sizes {
		make := func() *kept { return &kept{from: make([]int, len(c.steps))} }
		z, b = append(z, make()), append(b, make())
		needZ, needB := c.length(i), c.length(i)
		for k := len(c.steps) - 1; k >= 0; k-- {
			s := c.steps[k]
			from, _ := c.read(s)
			if s.down && s.scale == i+1 || !s.down && s.scale == i {
				needZ = min(needZ, from)
			}
			if !s.down && s.scale+1 == i {
				needB = min(needB, from/2)
			}
			z[i].from[k], b[i].from[k] = needZ, needB
			if s.scale == i && s.down {
				z[i].size = max(z[i].size, s.to-needZ)
			} else if s.scale == i {
				b[i].size = max(b[i].size, s.to-needB)
			}
		}
	}
	return z, b
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
