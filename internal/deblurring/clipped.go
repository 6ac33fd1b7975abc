package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/operator"
)

// beyondWhite is how bright the blurred image has to be at a clipped sample for this to be no data in annealed steps and
// in the run after them. White paper and sky are about 1 there: as data they are wrong by less than 0.02, and without
// data a network makes them grey. At the start, which hardly shows how bright a lamp is, white itself is the limit.
const beyondWhite = 1.02

// clipped is what Deblur does about the samples of a photograph that are clipped at white. They only say that
// the light was at least that bright. So where the image says so, too, they are no data, nor are the samples around them, into
// which cameras and programs mix what was clipped: K is M·K, M the projection onto the other samples, and the image may be
// brighter than white. Where the image, blurred, is darker, they are data like others. M is set from the image that a run begins
// with and stays until the run ends: what is proven of a run with K is proven with M·K. Invisible samples are no data either: what
// fills them is not a blurred image.
type clipped struct {
	dev    backend.Device
	blur   operator.Linear
	at     [][]int32 // of each channel, where samples are clipped
	count  int
	hidden []int32             // where the photograph is invisible
	plane  []float32           // room for one, while there is use for it
	planar *imageplanes.Planes // the photograph
	// whole is the photograph. An iteration for M·whole has the same steps for whole, for Kᵀ·M·(M·Kx − y) leaves out the same samples
	// of both.
	whole, mask backend.Buffer
	k           *operator.Masked
	kept        float64 // share of the samples that are data
	rest        float64 // sum of the squares of the others
}

// clippedSamples returns where each channel of a photograph is clipped at white, and how many samples are. In one
// with samples above white none is.
func clippedSamples(p *imageplanes.Planes) (at [][]int32, count int) {
	for c := range p.Channels {
		var of []int32
		for i, v := range p.Plane(c) {
			if v > 1 {
				return make([][]int32, p.Channels), 0
			}
			if v >= clipping.White {
				of = append(of, int32(i))
			}
		}
		at, count = append(at, of), count+len(of)
	}
	return at, count
}

// hiddenSamples returns where a photograph is invisible, nil if nowhere or all over.
func hiddenSamples(p *imageplanes.Planes) (at []int32) {
	for i, a := range p.Alpha {
		if a == 0 {
			at = append(at, int32(i))
		}
	}
	if len(at) == p.Width*p.Height {
		return nil
	}
	return at
}

// newClipped returns nil where nothing is clipped or invisible in p, of which whole has the samples.
func newClipped(dev backend.Device, blur operator.Linear, p *imageplanes.Planes, whole backend.Buffer) (_ *clipped, err error) {
	at, count := clippedSamples(p)
	hidden := hiddenSamples(p)
	if count == 0 && hidden == nil {
		return nil, nil
	}
	c := &clipped{dev: dev, blur: blur, at: at, count: count, hidden: hidden, planar: p, whole: whole}
	defer func() {
		if err != nil {
			c.free()
		}
	}()
	if c.mask, err = dev.Alloc(whole.Shape()); err != nil {
		return nil, err
	}
	c.k, err = operator.Mask(dev, blur, c.mask)
	return c, err
}

// leaveOut leaves out the clipped samples where x, blurred, is at least as bright as white, those around them, and the invisible ones.
func (c *clipped) leaveOut(x backend.Buffer, white float32) error {
	s := c.whole.Shape()
	room, err := c.dev.Alloc(backend.Image(1, s.H, s.W))
	if err != nil {
		return err
	}
	defer room.Free()
	defer c.borrowPlane()()
	out := 0
	c.rest = 0
	for i, at := range c.at {
		from, err := c.dev.Channels(x, i, 1)
		if err != nil {
			return err
		}
		err = c.blur.Apply(room, from)
		from.Free()
		if err != nil {
			return err
		}
		blurred, err := c.of(room, 0)
		if err != nil {
			return err
		}
		var bright []int32
		for _, j := range at {
			if blurred[j] >= white {
				bright = append(bright, j)
			}
		}
		for j := range c.plane {
			c.plane[j] = 1
		}
		of := c.planar.Plane(i)
		for _, j := range bright {
			out += c.blank(int(j), func(k int) { c.rest += float64(of[k]) * float64(of[k]) })
		}
		for _, j := range c.hidden {
			if c.plane[j] != 0 {
				c.plane[j] = 0
				c.rest += float64(of[j]) * float64(of[j])
				out++
			}
		}
		if err := c.put(c.mask, i); err != nil {
			return err
		}
	}
	c.kept = 1 - float64(out)/float64(s.Len())
	return nil
}

// blank sets c.plane to 0 at sample i and the eight around it, calls f with those that were not 0, and returns how many they are.
func (c *clipped) blank(i int, f func(j int)) (count int) {
	h, w := c.planar.Height, c.planar.Width
	for y := max(i/w-1, 0); y <= min(i/w+1, h-1); y++ {
		for x := max(i%w-1, 0); x <= min(i%w+1, w-1); x++ {
			if j := y*w + x; c.plane[j] != 0 {
				c.plane[j] = 0
				count++
				f(j)
			}
		}
	}
	return count
}

// borrowPlane makes room in c.plane, and returns what gives it back: a run needs none.
func (c *clipped) borrowPlane() func() {
	c.plane = make([]float32, c.planar.Height*c.planar.Width)
	return func() { c.plane = nil }
}

// of returns channel i of b in c.plane.
func (c *clipped) of(b backend.Buffer, i int) ([]float32, error) {
	view, err := c.dev.Channels(b, i, 1)
	if err != nil {
		return nil, err
	}
	defer view.Free()
	return c.plane, c.dev.Download(c.plane, view)
}

// put sets channel i of b to c.plane.
func (c *clipped) put(b backend.Buffer, i int) error {
	view, err := c.dev.Channels(b, i, 1)
	if err != nil {
		return err
	}
	defer view.Free()
	return c.dev.Upload(view, c.plane)
}

func (c *clipped) free() {
	if c.k != nil {
		c.k.Free()
	}
	if c.mask != nil {
		c.mask.Free()
	}
}

// A linear estimate has beads around clipped lamps, several kernels long, and a network takes
// them for detail. So a smoother estimate is made, for unclippedRatio times the noise, and brightenings times
// again, each time for a photograph whose clipped samples are brighter by overshoot times what the one before
// says (expectation and maximisation, over-relaxed). A lamp of several times white: 37.1 dB outside of it,
// 36.0 with an overshoot of 1, 33.6 with the estimate of other photographs.
const (
	unclippedRatio = 100 // of the variances of noise and image
	brightenings   = 6
	overshoot      = 1.9 // below 2
)

// brighten makes the initial estimate x for a clipped photograph from the first one.
func (d *Problem) brighten(ctx context.Context, x backend.Buffer) error {
	y, err := d.dev.Alloc(d.y.Shape())
	if err != nil {
		return err
	}
	defer y.Free()
	for range brightenings {
		if err := d.clipped.brighter(y, x); err != nil {
			return err
		}
		if err := d.wiener(ctx, x, y); err != nil {
			return err
		}
	}
	return nil
}

// brighter sets y to the photograph, brighter where it is clipped and x, blurred, is.
func (c *clipped) brighter(y, x backend.Buffer) error {
	defer c.borrowPlane()()
	if err := c.blur.Apply(y, x); err != nil {
		return err
	}
	for i, at := range c.at {
		blurred, err := c.of(y, i)
		if err != nil {
			return err
		}
		values := make([]float32, len(at))
		for j, p := range at {
			values[j] = blurred[p]
		}
		photograph, err := c.of(c.whole, i)
		if err != nil {
			return err
		}
		for j, p := range at {
			photograph[p] += max(0, float32(overshoot*(values[j]-photograph[p])))
		}
		if err := c.put(y, i); err != nil {
			return err
		}
	}
	return nil
}

// leaveOutClipped has the runs leave out what is clipped in the photograph.
func (d *Problem) leaveOutClipped(report *outcome.Report) (err error) {
	if d.clipped, err = newClipped(d.dev, d.k, d.planar, d.y); d.clipped != nil {
		report.Noise.Clipped = float64(d.clipped.count) / float64(len(d.planar.Pix))
	}
	return err
}

// lookAtClipped chooses which of the clipped samples are left out in what begins at x: those where it is at least white.
func (d *Problem) lookAtClipped(x backend.Buffer, white float32) error {
	if d.light != nil {
		return d.light.linearise(x)
	}
	if d.clipped == nil {
		return nil
	}
	return d.clipped.leaveOut(x, white)
}

// operator is K, or M·K where samples are clipped.
func (d *Problem) operator() operator.Linear {
	if d.light != nil {
		return d.light.j
	}
	if d.clipped == nil {
		return d.k
	}
	return d.clipped.k
}

// peak is the upper end of the box.
func (d *Problem) peak() float64 {
	if d.clips() {
		return inverse.MaxBrightness
	}
	return d.brightest
}

// clips tells whether the photograph has clipped samples.
func (d *Problem) clips() bool { return d.clipped != nil && d.clipped.count > 0 }

// kept is the share of the photograph's samples that are data, and the sum of the squares of the others.
func (d *Problem) kept() (share, rest float64) {
	if d.clipped == nil || d.light != nil {
		return 1, 0
	}
	return d.clipped.kept, d.clipped.rest
}
