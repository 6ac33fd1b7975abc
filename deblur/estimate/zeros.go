package estimate

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/parallel"
)

// The power response of an even motion and of a disk has zeros, which the power spectra of a photograph show. From these
// such a blur is found without a sharp image, also where the way from coarse to fine does not lead to it: in noise, in
// JPEGs, and where it is long.

const (
	// lastZerosCycle leaves the highest frequencies of a square of 128 out, where there is hardly more than noise.
	lastZerosCycle = 51.2
	// minZeros is how much better than an ellipse a shape has to explain a power, on the average.
	minZeros = 0.004
	// leak is added to the power response: squares end, and neither cameras nor lenses are quite even.
	leak = 0.004
	// widthOfDisk is the length of motions, of radii, of which the zeros are about as far from each other as those of a disk.
	widthOfDisk = 2.5
	// minSquares is how many squares there have to be. What edges a few have is not yet a power law.
	minSquares = 6
)

// zerosSquares are the sides of the squares in which zeros are looked for, and the shortest motion for each. The shortest have few
// zeros, and are found from coarse to fine. In small squares the zeros of long motions are too near to each other.
var zerosSquares = []struct {
	side  int
	first float64
}{{128, 5}, {256, 20}}

// shapes returns the even motions and disks whose zeros the power spectra of the photograph show.
func (p photo) shapes(ctx context.Context) (all []Shape, err error) {
	pool := parallel.New(p.opt.Threads)
	defer pool.Close()
	parts := pieces(p.whole, p.largest())
	for _, squares := range zerosSquares {
		if min(p.whole.v.h, p.whole.v.w) < squares.side {
			break
		}
		seen, err := p.seen(ctx, pool, parts, squares.side, squares.first)
		if err != nil {
			return nil, err
		}
		if seen.Kind != Free {
			all = append(all, seen)
		}
	}
	return all, nil
}

// seen returns the shape whose zeros the squares of parts show, of the width of a motion of first or more, or Free.
func (p photo) seen(ctx context.Context, pool *parallel.Pool, parts []part, side int, first float64) (Shape, error) {
	var all []*spectra
	count := 0
	for _, part := range parts {
		s, err := newSpectra(ctx, pool, part.v, p.sigma, side, lastZerosCycle)
		if err != nil {
			return Shape{}, err
		}
		all = append(all, s)
		count += len(s.squares)
	}
	if count < minSquares {
		return Shape{}, nil
	}
	return common(all).shape(ctx, first, float64(min(2*p.largest(), side/2))), ctx.Err()
}

// common is one spectrum: the mean of those with most power, half of all, each divided by its geometric mean. A blur that is the
// same all over the frame has its zeros at the same frequencies in all of them.
func common(all []*spectra) *spectra {
	type scaled struct {
		power       []float64
		total, gain float64
	}
	var squares []scaled
	for _, s := range all {
		for _, q := range s.squares {
			total, logs := 0.0, 0.0
			for _, p := range q.power {
				total += p
				logs += math.Log(max(p, math.SmallestNonzeroFloat64))
			}
			squares = append(squares, scaled{q.power, total, math.Exp(-logs / float64(len(q.power)))})
		}
	}
	slices.SortStableFunc(squares, func(a, b scaled) int { return cmp.Compare(b.total, a.total) })
	one := *all[0]
	mean := square{power: make([]float64, len(one.length))}
	noise := 0.0
	for _, q := range squares[:(len(squares)+1)/2] {
		noise += q.gain
		for i, p := range q.power {
			mean.power[i] += float64(q.gain * p)
		}
	}
	for i := range mean.power {
		mean.power[i] /= noise
	}
	one.squares, one.columns, one.coloured = []square{mean}, 1, true
	return &one
}

// shape returns the even motion or the disk that explains the spectra best, or Free if an ellipse explains them as well. No motion
// is shorter than first or longer than longest.
func (s *spectra) shape(ctx context.Context, first, longest float64) Shape {
	const finer, axes, maxAngles = 1.12, 6, 36
	var ellipses, motions, disks []smear
	for _, noise := range []float64{0, 2.5} {
		add := func(to *[]smear, kind smearKind, angle, ratio, size float64) {
			*to = append(*to, smear{kind, angle, ratio, math.Log(size), firstFall, noise})
		}
		for _, length := range []float64{.5, 1.5, 4, 12} {
			add(&ellipses, normalSmear, 0, 1, length)
			add(&ellipses, evenSmear, 0, 1, length)
			for i := range axes {
				add(&ellipses, evenSmear, math.Pi*float64(i)/axes, .3, length)
			}
		}
		for length := first; length <= longest; length *= finer {
			angles := min(int(math.Pi/2*length)+axes, maxAngles)
			for i := range angles {
				add(&motions, motionSmear, math.Pi*float64(i)/float64(angles), 1, length)
			}
			add(&disks, diskSmear, 0, 1, length/widthOfDisk)
		}
	}
	margin := minZeros * float64(s.count())
	_, ellipse := s.likeliestOf(ctx, ellipses)
	motion, moved := s.likeliestOf(ctx, motions)
	disk, round := s.likeliestOf(ctx, disks)
	length, radius := math.Exp(motion.size), math.Exp(disk.size)
	switch {
	case moved < min(ellipse-margin, round) && length >= first && length <= longest:
		return Shape{Kind: Motion, Length: length, Angle: -motion.a * 180 / math.Pi} // rows count downward
	case round < min(ellipse-margin, moved) && radius >= first/widthOfDisk && radius <= longest/widthOfDisk:
		return Shape{Kind: Disk, Radius: radius}
	}
	return Shape{}
}

// likeliestOf is likeliest near each of the few best of some smears.
func (s *spectra) likeliestOf(ctx context.Context, all []smear) (best smear, least float64) {
	const few = 3
	misfits := map[smear]float64{}
	for _, m := range all {
		if ctx.Err() != nil {
			break
		}
		misfits[m] = s.smearMisfit(m, 1)
	}
	slices.SortStableFunc(all, func(a, b smear) int { return cmp.Compare(misfits[a], misfits[b]) })
	least = math.Inf(1)
	for _, start := range all[:min(few, len(all))] {
		if m, misfit := s.likeliest(ctx, 1, []smear{start}); misfit < least {
			best, least = m, misfit
		}
	}
	return best, least
}

// response is the power response of a smear that is the same all over the frame.
func (m smear) response(s *spectra) []float64 {
	all := make([]float64, len(s.fy))
	size := math.Exp(m.size)
	sin, cos := math.Sincos(m.a)
	for i, fy := range s.fy {
		fx, v := s.fx[i], 1.0
		along, across := float64(cos*fx)+float64(sin*fy), m.b*(float64(cos*fy)-float64(sin*fx))
		switch m.kind {
		case evenSmear:
			q := math.Sqrt2 * math.Pi * size
			long, short := q*along, q*across
			all[i] = 1 / (1 + float64(long*long) + float64(short*short))
			continue
		case normalSmear:
			long, short := math.Pi*size*along, math.Pi*size*across
			v = math.Exp(-float64(long*long) - float64(short*short))
		case motionSmear:
			if q := math.Pi * size * along; q != 0 {
				v = math.Sin(q) / q
			}
		case diskSmear:
			if q := 2 * math.Pi * size * math.Hypot(fy, fx); q != 0 {
				v = 2 * math.J1(q) / q
			}
		}
		all[i] = float64(v*v) + leak
	}
	return all
}
