package estimate

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/coarsenoise"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/parallel"
)

// Options are the settings of an estimation. The zero value is useful.
type Options struct {
	// Sigma is the standard deviation of the noise in each channel, where 1 is white. 0 means that it is
	// estimated, from the brightness.
	Sigma float64
	// Coding is the standard deviation of what compression with loss, such as JPEG, has changed in the brightness, where 1 is
	// white; 0 is none. Smooth parts have none, so an estimate does not see it, and it is added to an estimated Sigma.
	Coding float64
	// Size is the largest side of the kernel in samples; 0 means DefaultSize. It is limited to two fifths of
	// the photograph's shorter side.
	Size int
	// Threads is the number of threads, 0 for all. The result does not depend on it.
	Threads int
	// Progress, if not nil, is called with an estimate of the share of the work that is done. Its error stops
	// the estimation and is returned.
	Progress backend.ProgressFunc
}

const (
	// DefaultSize is the largest side of a kernel if none is given.
	DefaultSize = 101
	// MaxSize is the largest side that may be given.
	MaxSize = 301
	// minImage is the shorter side below which a photograph shows no kernel.
	minImage = 24
)

// Estimate is an estimated kernel, with measures of how far to trust it.
type Estimate struct {
	// Kernel is the estimated kernel. Its centre of mass is within half a sample of its centre.
	Kernel deblur.Kernel
	// Shape is the kind of the blur. If it is a simple one, Kernel was made from its numbers.
	Shape Shape
	// Sigma is the noise level of the brightness that the estimate assumed.
	Sigma float64
	// Likeness is the similarity of the common kernel to the kernels that parts of the photograph give by
	// themselves: the correlation of each with Kernel as it was before the last steps, at most 1. It is empty
	// if the photograph is too small for parts, or has too few edges.
	Likeness []float64
	// Variation is how far the blur varies over the frame: 1 minus the smallest correlation of the kernels of
	// two parts, corrected for noise and lack of edges. Each part's kernel is found starting at the common
	// one. It is 0 if no variation is visible, or if there are fewer than two parts.
	Variation float64
	// Spreads are the spreads of those two kernels, the smaller one first: the root mean square distance of
	// the weights from their centre of mass, in samples.
	Spreads [2]float64
	// Halves is the correlation of the kernels of two halves of the photograph, each found in the last steps
	// starting at the common one; 0 if the halves are too small. It is measured only for kernels of kind Free
	// and almost no noise, and is 1 otherwise.
	Halves float64
	// Note is a sentence that says why no kernel was found, or empty.
	Note string
}

// Agreement returns the mean of Likeness, 0 if it is empty.
func (e *Estimate) Agreement() float64 {
	if len(e.Likeness) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range e.Likeness {
		sum += v
	}
	return sum / float64(len(e.Likeness))
}

// Without noise it is the kernel's error that counts, and a kernel is settled where parts and halves of the photograph
// agree to settled. Of 108 runs without noise, Levin's 16 real shakes among them, all that agree so have an error ratio
// below 3 (docs/notebook/kernel-estimation.md).
const settled = 0.9

// Settled tells whether the photograph has enough noise to hide the kernel's error, or its halves and parts
// agree closely on the kernel.
func (e *Estimate) Settled() bool {
	return e.Sigma >= calm || min(e.Halves, e.Agreement()) >= settled
}

// Kernel estimates the kernel of a photograph of 1 channel (grey) or 3 (red, green, blue), planes of h×w
// finite samples in [0,1] one after the other. The same input gives the same result for any number of
// threads. It is safe for concurrent use.
func Kernel(ctx context.Context, pix []float32, channels, h, w int, opt Options) (*Estimate, error) {
	p, err := newPhoto(ctx, pix, channels, h, w, opt)
	if err != nil {
		return nil, err
	}
	shapes, err := p.shapes(ctx)
	if err != nil {
		return nil, err
	}
	e, _, err := p.kernel(ctx, shapes)
	return e, p.end(err)
}

// end reports that the work is done, unless there was an error.
func (p photo) end(err error) error {
	if err != nil || p.opt.Progress == nil {
		return err
	}
	return p.opt.Progress(backend.Progress{Fraction: 1})
}

// kernel estimates the kernel from coarse to fine. The last steps begin with what is found, or with one of the shapes
// if that explains the photograph better: shaped.
func (p photo) kernel(ctx context.Context, shapes []Shape) (found *Estimate, shaped bool, err error) {
	h, w := p.whole.v.h, p.whole.v.w
	found = &Estimate{Sigma: p.sigma, Halves: 1}
	largest := p.largest()
	switch {
	case min(h, w) < minImage:
		return found, false, found.nothing(fmt.Sprintf("the photograph has %d×%d pixels, too few to show a kernel", w, h))
	case largest < 1:
		return found, false, found.nothing("kernels of one sample are no blur")
	}
	pool := parallel.New(p.opt.Threads)
	defer pool.Close()
	e := p.estimation(ctx, pool)
	s, parts, err := e.find(func(reach int) []part { return pieces(p.whole, reach) }, largest)
	if err != nil {
		return nil, false, err
	}
	for _, shape := range shapes {
		t := drawn(shape, max(s.r, min(int(math.Ceil(shape.Length/2+shape.Radius))+3, largest)), 0, 0)
		others := pieces(p.whole, t.r)
		if better, err := e.explainedBetter(others, t, s, 0, 0); err != nil {
			return nil, false, err
		} else if better {
			s, parts, shaped = t, others, true
		}
	}
	if e.sigma, err = p.noiseUnder(ctx, pool, s); err != nil {
		return nil, false, err
	}
	found.Sigma = e.sigma
	if err := found.judge(e, s, parts); err != nil {
		return nil, false, err
	}
	return found, shaped, nil
}

// photo is a photograph as the estimates of all kinds of blur start from it.
type photo struct {
	whole part
	sigma float64                  // of the noise of the brightness
	opt   Options                  // with a size
	tell  func(work float64) error // reports the progress of all estimates together
}

// largest is how far a kernel may reach.
func (p photo) largest() int { return min((p.opt.Size-1)/2, min(p.whole.v.h, p.whole.v.w)/5) }

func newPhoto(ctx context.Context, pix []float32, channels, h, w int, opt Options) (p photo, err error) {
	if err := checkPhotograph(pix, channels, h, w, opt); err != nil {
		return p, err
	}
	if err := ctx.Err(); err != nil {
		return p, err
	}
	p = photo{grey(pix, channels, h, w), opt.Sigma * noiseOfGrey(channels), opt, meter(opt.Progress, h, w)}
	if opt.Size == 0 {
		p.opt.Size = DefaultSize
	}
	if opt.Sigma == 0 {
		if p.sigma, err = noiseIn(p.whole); err != nil {
			return p, err
		}
		p.sigma = math.Hypot(p.sigma, opt.Coding)
	}
	return p, nil
}

func (p photo) estimation(ctx context.Context, pool *parallel.Pool) *estimation {
	return &estimation{ctx: ctx, pool: pool, sigma: p.sigma, edges: edgesFor(p.sigma), tell: p.tell}
}

func checkPhotograph(pix []float32, channels, h, w int, opt Options) error {
	if channels != 1 && channels != 3 || h < 1 || w < 1 || h > len(pix)/w || len(pix) != channels*h*w {
		return fmt.Errorf("estimate: %d samples of %d channels of %d×%d, want 1 channel or 3", len(pix), channels, h, w)
	}
	if opt.Size < 0 || opt.Size > MaxSize {
		return fmt.Errorf("estimate: kernels of at most %d samples, want 3 to %d", opt.Size, MaxSize)
	}
	if !(opt.Sigma >= 0) || math.IsInf(opt.Sigma, 0) {
		return fmt.Errorf("estimate: noise of standard deviation %v, want a finite number above 0", opt.Sigma)
	}
	if !(opt.Coding >= 0) || math.IsInf(opt.Coding, 0) {
		return fmt.Errorf("estimate: coding noise of standard deviation %v, want a finite number, 0 or more", opt.Coding)
	}
	for i, v := range pix {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("estimate: sample in row %d, column %d is %v, want a finite number", i%(h*w)/w, i%w, v)
		}
	}
	return nil
}

// noiseIn estimates the standard deviation of the noise of a photograph's brightness.
func noiseIn(p part) (float64, error) {
	m, err := noise.MeasureWhite(p.v.pix, 1, p.v.h, p.v.w)
	return m.Sigma, err
}

// noiseUnder is the noise level under a kernel. Cameras and JPEG leave noise that is stronger at low frequencies, and where noiseIn
// measures, at high ones, hardly any. Only a kernel says where the blur has left nothing else. A level that is given remains.
func (p photo) noiseUnder(ctx context.Context, pool *parallel.Pool, s support) (float64, error) {
	if p.opt.Sigma != 0 {
		return p.sigma, nil
	}
	k, err := s.kernel()
	if err != nil {
		return 0, err
	}
	n, err := coarsenoise.Measure(ctx, pool, [][]float32{p.whole.v.pix}, p.whole.v.h, p.whole.v.w, deblur.OneKernel(k))
	if err != nil || !n.Coarse(p.sigma) {
		return p.sigma, err
	}
	return n.Highest, nil
}

// judge makes the result of the kernel that was found in the parts.
func (found *Estimate) judge(e *estimation, s support, parts []part) error {
	levels, err := e.levels(parts, 0, s.r)
	if err != nil {
		return err
	}
	m := newMoments(s.r)
	for _, l := range levels {
		if err := l.sharpen(s, e.edges); err != nil {
			return err
		}
		if err := m.measure(l, s); err != nil {
			return err
		}
	}
	if m.data == 0 || m.a[len(m.a)/2] <= 1e-9*m.data {
		return found.nothing("the photograph has no edge that would show a kernel")
	}
	if s.sharp() {
		return found.nothing("")
	}
	whole := parts
	if len(parts) == 1 {
		parts = parts[0].quarters()
		if min(parts[0].v.h, parts[0].v.w) < 4*s.reach()+32 {
			parts = nil
		}
	}
	parts = withEdges(parts)
	if found.Likeness, err = e.agreement(parts, s); err != nil {
		return err
	}
	if found.Variation, found.Spreads, err = e.variation(parts, s); err != nil {
		return err
	}
	if found.Shape = m.simple(s); found.Shape.narrow() {
		return found.nothing("") // noise left islands around a kernel like those of sharp photographs
	}
	// Parts and shapes were compared with a kernel that was found as theirs are.
	free, err := e.finish(levels, s, finishing.soft)
	if err != nil {
		return err
	}
	if found.Shape.Kind != Free {
		shape, fits, err := e.fitting(levels, found.Shape, free)
		if err != nil {
			return err
		}
		if found.Shape = shape; !fits {
			found.Shape = Shape{}
		}
	}
	if found.Shape.narrow() {
		return found.nothing("") // the last steps have made it narrow
	}
	if found.Shape.Kind != Free {
		found.Kernel, err = found.Shape.Kernel()
		return err
	}
	if pays, err := e.pays(levels, free); err != nil {
		return err
	} else if !pays {
		return found.nothing("the photograph is explained better without the blur that was found, and is taken for sharp")
	}
	if found.Sigma < calm {
		if found.Halves, err = e.halves(whole, s); err != nil {
			return err
		}
	}
	found.Kernel, err = free.kernel()
	return err
}

// fitting returns a shape, refined, and whether it explains the photograph as well as the kernel after the last steps, each with
// the sharp image that is found for it. A kernel before these steps is too far from the truth: a shape that leaves no more than
// it does may still be a worse one.
func (e *estimation) fitting(levels []*level, shape Shape, free support) (_ Shape, fits bool, err error) {
	edges := lastEdgesFor(e.sigma)
	m, err := explained(levels, free, edges)
	if err != nil {
		return shape, false, err
	}
	shape, _ = m.refine(shape, free)
	of, err := explained(levels, drawn(shape, free.r, 0, 0), edges)
	if err != nil {
		return shape, false, err
	}
	// Schwarz's criterion allows for the noise, and of the rest, for which neither kernel is made, it may leave a little more.
	noise := float64(2 * e.sigma * e.sigma * m.data)
	allowed := shapeBias*m.schwarz(free.count()) + float64((finishing.maxLeft-1)*max(m.left-noise, 0))
	return shape, of.left <= m.left+allowed, nil
}

func (s support) kernel() (deblur.Kernel, error) {
	weights := make([]float32, len(s.k))
	for i, v := range s.k {
		weights[i] = float32(v)
	}
	return deblur.NewKernel(weights, s.side(), s.side())
}

// nothing makes the result no blur.
func (found *Estimate) nothing(note string) (err error) {
	found.Shape, found.Note = Shape{Kind: None}, note
	found.Likeness, found.Variation, found.Spreads, found.Halves = nil, 0, [2]float64{}, 1
	found.Kernel, err = found.Shape.Kernel()
	return err
}

// sharp says whether the kernel is that of a photograph without blur. Photographs that are sharp have
// narrow kernels, or such as have nearly all weight on one sample and those around it, with a weak
// island now and then, which texture that repeats makes.
func (s support) sharp() bool {
	main := s.largestIsland()
	top := main.normalise()
	peak, n := 0, s.side()
	for i, v := range s.k {
		if v > s.k[peak] {
			peak = i
		}
	}
	yy, xx, _ := main.variance()
	around := 0.0
	for y := max(peak/n-1, 0); y <= min(peak/n+1, n-1); y++ {
		for x := max(peak%n-1, 0); x <= min(peak%n+1, n-1); x++ {
			around += s.k[y*n+x]
		}
	}
	return top >= minMain && yy+xx <= maxSharp || around >= minAround && s.energy() >= minEnergy
}

// Seventeen sharp photographs had main islands of variance 0.1 to 0.9, or 0.79 of the weight and more
// around the peak at an energy of 0.176 and more. A Gaussian of standard deviation 0.8 has an energy of
// 0.12, and a motion of 5 samples 0.6 around its peak.
const (
	minMain   = 0.6
	maxSharp  = 0.9
	minAround = 0.75
	minEnergy = 0.17
)

// grey is the brightness of a photograph, and where one of its channels is clipped at black or white.
func grey(pix []float32, channels, h, w int) part {
	p := part{newPlane(h, w), newPlane(h, w), newPlane(h, w)}
	n := h * w
	for c, weight := range brightness(channels) {
		for i, v := range pix[c*n : (c+1)*n] {
			p.v.pix[i] += weight * v
			if v >= clipping.White || v <= darkest {
				p.clipped.pix[i] = 1
			}
			if v >= clipping.White {
				p.lamps.pix[i] = 1
			}
		}
	}
	top, bottom, left, right := unframed(pix, h, w)
	for i := range n {
		if y, x := i/w, i%w; y < top || y >= bottom || x < left || x >= right {
			p.clipped.pix[i], p.lamps.pix[i] = 1, 1
		}
	}
	return p
}

// unframed returns the rows from top to bottom and the columns from left to right, these ends excluded, that are left of planes of
// h×w samples without a frame around them: rows and columns of one colour.
func unframed(pix []float32, h, w int) (top, bottom, left, right int) {
	plain := func(from, step, count int) bool {
		for c := 0; c < len(pix); c += h * w {
			for i := range count {
				if pix[c+from+i*step] != pix[c+from] {
					return false
				}
			}
		}
		return true
	}
	bottom, right = h, w
	for framed := true; framed && top < bottom && left < right; {
		height, width := bottom-top, right-left
		switch framed = true; {
		case plain(top*w+left, 1, width):
			top++
		case plain((bottom-1)*w+left, 1, width):
			bottom--
		case plain(top*w+left, w, height):
			left++
		case plain(top*w+right-1, w, height):
			right--
		default:
			framed = false
		}
	}
	return top, bottom, left, right
}

// brightness is how much of it each channel has.
func brightness(channels int) []float32 {
	if channels == 3 {
		return []float32{.299, .587, .114}
	}
	return []float32{1}
}

// noiseOfGrey is the noise of the brightness, of that of a channel.
func noiseOfGrey(channels int) float64 {
	square := 0.0
	for _, w := range brightness(channels) {
		square += float64(w) * float64(w)
	}
	return math.Sqrt(square)
}

// darkest is the value up to which a sample counts as clipped at black.
const darkest = 0.25 / 255

// meter returns the function that reports work done, in samples of each step.
func meter(progress backend.ProgressFunc, h, w int) func(float64) error {
	if progress == nil {
		return func(float64) error { return nil }
	}
	// Scales above and below half size, the turned kernel, the parts by themselves, and now and then a wider support; then
	// the last steps.
	all := float64(min(h*w, wholeSamples)) * float64(4*tuned.steps+finishing.free+finishing.bound+finishing.soft)
	done := 0.0
	return func(work float64) error {
		done += work
		// Never at the end before the end.
		return progress(backend.Progress{Fraction: 1 - math.Exp(-2*done/all)})
	}
}
