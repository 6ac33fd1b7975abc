package estimate

import (
	"context"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// Turned is the turn of a camera about a point, on its optical axis or beside it, during the exposure.
type Turned struct {
	Y, X   float64 // the point, in samples below and right of the middle of the frame
	Motion deblur.CameraMotion
}

// Angle is by how much the camera turned, in radians, but for the first and the last hundredth of the exposure: the weights there
// are uncertain.
func (t *Turned) Angle() float64 {
	const share = 0.01
	first, last := math.Inf(1), 0.0
	sum := 0.0
	for _, p := range t.Motion.Poses {
		if sum += p.Weight; sum >= share {
			first = min(first, p.Angle)
		}
		if sum-p.Weight <= 1-share {
			last = p.Angle
		}
	}
	return last - first
}

// Turn estimates the turn of the camera about a point from a photograph. It returns nil if the photograph shows none, for
// example because its blur is the same all over the frame. pix is as in Kernel. Options.Size is the largest length of the blur
// at the root mean square distance of the frame's samples from the point. The mean angle is 0.
//
// The point follows from the power spectra of squares of the photograph (spectra), by a search over the frame and around it.
// With it the photograph becomes an image of angles and radii, in which the turn is a motion along the rows, the same all over
// the image. Its kernel of one row is estimated as in Kernel.
func Turn(ctx context.Context, pix []float32, channels, h, w int, opt Options) (*Turned, error) {
	p, err := newPhoto(ctx, pix, channels, h, w, opt)
	if err != nil {
		return nil, err
	}
	return p.turn(ctx)
}

// Blur estimates the turn of the camera or, if the photograph shows none, the kernel of a blur that is the same all over the
// frame: the results of Turn and Kernel, of which one is nil.
func Blur(ctx context.Context, pix []float32, channels, h, w int, opt Options) (*Turned, *Estimate, error) {
	p, err := newPhoto(ctx, pix, channels, h, w, opt)
	if err != nil {
		return nil, nil, err
	}
	shapes, err := p.shapes(ctx)
	if err != nil {
		return nil, nil, err
	}
	var e *Estimate
	if len(shapes) > 0 {
		shaped := false
		if e, shaped, err = p.kernel(ctx, shapes); shaped || err != nil {
			return nil, e, p.end(err)
		}
	}
	if t, err := p.turn(ctx); t != nil || err != nil {
		return t, nil, err
	}
	if e == nil {
		e, _, err = p.kernel(ctx, nil)
	}
	return nil, e, p.end(err)
}

// The squares of a photograph in which a turn is looked for have a side of turnSquare samples, or of a share 1/turnSquares of its
// shorter side, whichever is more.
const turnSquare, turnSquares, lastTurnCycle = 64, 8, 25.6

func (p photo) turn(ctx context.Context) (*Turned, error) {
	h, w := p.whole.v.h, p.whole.v.w
	pool := parallel.New(p.opt.Threads)
	defer pool.Close()
	s, err := newSpectra(ctx, pool, p.whole.v, p.sigma, fft.GoodSize(max(turnSquare, min(h, w)/turnSquares)), lastTurnCycle)
	if err != nil || s.count() == 0 {
		return nil, err
	}
	half := math.Hypot(float64(h), float64(w)) / 2
	point, seen := s.turn(ctx, half)
	if err := ctx.Err(); err != nil || !seen {
		return nil, err
	}
	p.sigma = max(p.sigma, s.sigma)
	e := p.estimation(ctx, pool)
	e.row = true
	t := &Turned{Y: point.a * half, X: point.b * half}
	if t.Motion, err = e.turnAbout(p.whole, t.Y, t.X, (p.opt.Size-1)/2); err != nil {
		return nil, err
	}
	if t.Motion.Poses == nil {
		return nil, nil
	}
	return t, p.end(nil)
}

// maxPolar is how many samples an image of angles and radii may have. A larger photograph is made smaller before.
const maxPolar = 1 << 20

// turnAbout estimates the motion of a camera that turned about the point y samples below and x right of the middle, with
// kernels that reach at most largest samples. It has no pose if there is no blur.
func (e *estimation) turnAbout(whole part, y, x float64, largest int) (m deblur.CameraMotion, err error) {
	h, w := whole.v.h, whole.v.w
	p := newPolar(h, w, y, x)
	smaller := max(1, math.Sqrt(float64(p.rows)*float64(p.columns)/maxPolar))
	if smaller > 1 {
		h, w = int(math.Round(float64(h)/smaller)), int(math.Round(float64(w)/smaller))
		whole = whole.resized(h, w)
		p = newPolar(h, w, y/smaller, x/smaller)
	}
	round := p.of(whole)
	largest = min(int(float64(largest)/smaller), min(p.rows, p.columns)/5)
	if largest < 1 {
		return m, nil
	}
	k, parts, err := e.find(func(int) []part { return []part{round} }, largest)
	if err != nil {
		return m, err
	}
	levels, err := e.levels(parts, 0, k.r)
	if err != nil {
		return m, err
	}
	if k, err = e.finish(levels, k, finishing.soft); err != nil {
		return m, err
	}
	if k.count() < 2 {
		return m, nil // no blur
	}
	return k.turn(y, x, 1/p.unit, int(math.Ceil(smaller*p.far/p.unit))), nil
}

// turn is the motion about a point by the weights in the middle row of a kernel, which are step apart in radians. Between
// two of them there are parts−1 more, by linear interpolation.
func (s support) turn(y, x, step float64, parts int) (m deblur.CameraMotion) {
	row := s.k[s.r*s.side() : (s.r+1)*s.side()]
	at := func(i int) float64 {
		if i < 0 || i >= len(row) {
			return 0
		}
		return row[i]
	}
	var angles, weights []float64
	sum, mean := 0.0, 0.0
	for i := -parts; i < len(row)*parts; i++ {
		j := int(math.Floor(float64(i) / float64(parts)))
		f := float64(i-j*parts) / float64(parts)
		v := (1-f)*at(j) + f*at(j+1)
		if v == 0 {
			continue
		}
		angle := step * float64(i) / float64(parts)
		angles, weights = append(angles, angle), append(weights, v)
		sum += v
		mean += v * angle
	}
	for i, a := range angles {
		m.Poses = append(m.Poses, deblur.PoseAbout(y, x, a-mean/sum, weights[i]/sum))
	}
	return m
}
