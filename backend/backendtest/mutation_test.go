package backendtest

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/internal/fallback"
)

// broken is a correct device with some methods replaced: a device with one bug.
type broken struct {
	backend.Device
	alloc              func(s backend.Shape) (backend.Buffer, error)
	channels           func(b backend.Buffer, from, count int) (backend.Buffer, error)
	overlaps           func(a, b backend.Buffer) (bool, error)
	upload             func(dst backend.Buffer, src []float32) error
	download           func(dst []float32, src backend.Buffer) error
	sync, close        func() error
	fill               func(dst backend.Buffer, v float32) error
	combine            func(dst backend.Buffer, terms ...backend.Term) error
	multiply           func(dst, x, y backend.Buffer) error
	clip               func(dst, src backend.Buffer, lo, hi float32) error
	mix                func(dst, src backend.Buffer, m []float32) error
	reduce             func(out []float64, rs ...backend.Reduction) error
	gaussian           func(dst backend.Buffer, seed uint64, mean, std float32) error
	iterate            func(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error
	primal             func(u, p, y backend.Buffer, step float32) error
	evaluate           func(u, p, y backend.Buffer, problem backend.TVProblem) (backend.TVValue, error)
	newBlur            func(s backend.BlurSpec) (backend.Blur, error)
	applyBlur          func(dst, src backend.Buffer, k backend.Blur) error
	applyBlurAdjoint   func(dst, src backend.Buffer, k backend.Blur) error
	newFilter          func(w backend.Buffer) (backend.Filter, error)
	updateFilter       func(f backend.Filter, w backend.Buffer) error
	convolve           func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error
	convolveAdjoint    func(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error
	addAdjoint         func(dst, start, src backend.Buffer, f backend.Filter, scale float32) error
	filterGradient     func(dw, x, dy backend.Buffer, beta, scale float32) error
	biasGradient       func(db, dy backend.Buffer, beta float32) error
	activationGradient func(dst, out, dy backend.Buffer, a backend.Activation) error
	copyRegion         func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error
	unshuffle, shuffle shuffleFunc
	projectBalls       projectionFunc
	ballsGradient      projectionGradientFunc
	euler              eulerFunc
	grid               func() int
}

type shuffleFunc func(dst, src backend.Buffer, factor int) error

type projectionFunc func(dst, src, radius backend.Buffer) error

type projectionGradientFunc func(dst, dradius, src, dy, radius backend.Buffer, beta float32) error

type eulerFunc func(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error

// room is what the largest cases need, and little more: checks of the memory's limit
// go up to it.
const room = 16 << 20

// newBroken returns a device without a bug as yet.
func newBroken() *broken {
	d := refdevice.New(refdevice.Options{Memory: room})
	return &broken{
		Device: d, alloc: d.Alloc, channels: d.Channels, overlaps: d.Overlaps, upload: d.Upload, download: d.Download,
		sync: d.Sync, close: d.Close, fill: d.Fill, combine: d.LinearCombination, multiply: d.Multiply, clip: d.Clip,
		mix: d.MixChannels, reduce: d.Reduce, gaussian: d.Gaussian, iterate: d.TVIterate, primal: d.TVPrimal,
		evaluate: d.TVEvaluate, newBlur: d.NewBlur, applyBlur: d.ApplyBlur, applyBlurAdjoint: d.ApplyBlurAdjoint,
		newFilter: d.NewFilter, updateFilter: d.UpdateFilter, convolve: d.Convolve, convolveAdjoint: d.ConvolveAdjoint,
		filterGradient: d.FilterGradient, biasGradient: d.BiasGradient, activationGradient: d.ActivationGradient,
		addAdjoint: d.AddAdjoint, copyRegion: d.CopyRegion, unshuffle: d.Unshuffle, shuffle: d.Shuffle, euler: d.GradientFlow, grid: d.ConvolutionGrid,
		projectBalls: d.ProjectBalls, ballsGradient: d.ProjectBallsGradient,
	}
}

func (d *broken) Alloc(s backend.Shape) (backend.Buffer, error) { return d.alloc(s) }
func (d *broken) Channels(b backend.Buffer, from, count int) (backend.Buffer, error) {
	return d.channels(b, from, count)
}
func (d *broken) Overlaps(a, b backend.Buffer) (bool, error)       { return d.overlaps(a, b) }
func (d *broken) Upload(dst backend.Buffer, src []float32) error   { return d.upload(dst, src) }
func (d *broken) Download(dst []float32, src backend.Buffer) error { return d.download(dst, src) }
func (d *broken) Sync() error                                      { return d.sync() }
func (d *broken) Close() error                                     { return d.close() }
func (d *broken) Fill(dst backend.Buffer, v float32) error         { return d.fill(dst, v) }
func (d *broken) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	return d.combine(dst, terms...)
}
func (d *broken) Multiply(dst, x, y backend.Buffer) error { return d.multiply(dst, x, y) }
func (d *broken) Clip(dst, src backend.Buffer, lo, hi float32) error {
	return d.clip(dst, src, lo, hi)
}
func (d *broken) MixChannels(dst, src backend.Buffer, m []float32) error { return d.mix(dst, src, m) }
func (d *broken) Reduce(out []float64, rs ...backend.Reduction) error    { return d.reduce(out, rs...) }
func (d *broken) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	return d.gaussian(dst, seed, mean, std)
}
func (d *broken) TVIterate(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
	return d.iterate(u, p, y, problem, step)
}
func (d *broken) TVPrimal(u, p, y backend.Buffer, step float32) error { return d.primal(u, p, y, step) }
func (d *broken) TVEvaluate(u, p, y backend.Buffer, problem backend.TVProblem) (backend.TVValue, error) {
	return d.evaluate(u, p, y, problem)
}
func (d *broken) NewBlur(s backend.BlurSpec) (backend.Blur, error) { return d.newBlur(s) }
func (d *broken) ApplyBlur(dst, src backend.Buffer, k backend.Blur) error {
	return d.applyBlur(dst, src, k)
}
func (d *broken) ApplyBlurAdjoint(dst, src backend.Buffer, k backend.Blur) error {
	return d.applyBlurAdjoint(dst, src, k)
}
func (d *broken) NewFilter(w backend.Buffer) (backend.Filter, error)    { return d.newFilter(w) }
func (d *broken) UpdateFilter(f backend.Filter, w backend.Buffer) error { return d.updateFilter(f, w) }
func (d *broken) Convolve(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
	return d.convolve(dst, src, f, end)
}
func (d *broken) ConvolveAdjoint(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
	return d.convolveAdjoint(dst, src, f, beta, scale)
}
func (d *broken) AddAdjoint(dst, start, src backend.Buffer, f backend.Filter, scale float32) error {
	return d.addAdjoint(dst, start, src, f, scale)
}
func (d *broken) FilterGradient(dw, x, dy backend.Buffer, beta, scale float32) error {
	return d.filterGradient(dw, x, dy, beta, scale)
}
func (d *broken) BiasGradient(db, dy backend.Buffer, beta float32) error {
	return d.biasGradient(db, dy, beta)
}
func (d *broken) ActivationGradient(dst, out, dy backend.Buffer, a backend.Activation) error {
	return d.activationGradient(dst, out, dy, a)
}
func (d *broken) CopyRegion(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
	return d.copyRegion(dst, y, x, src, r)
}
func (d *broken) Unshuffle(dst, src backend.Buffer, factor int) error {
	return d.unshuffle(dst, src, factor)
}
func (d *broken) Shuffle(dst, src backend.Buffer, factor int) error {
	return d.shuffle(dst, src, factor)
}
func (d *broken) ProjectBalls(dst, src, radius backend.Buffer) error {
	return d.projectBalls(dst, src, radius)
}
func (d *broken) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
	return d.ballsGradient(dst, dradius, src, dy, radius, beta)
}
func (d *broken) GradientFlow(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	return d.euler(ctx, dst, src, region, steps)
}
func (d *broken) ConvolutionGrid() int { return d.grid() }

// edit changes a buffer's contents behind the back of the operation.
func (d *broken) edit(b backend.Buffer, f func(x tensor)) error {
	v := make([]float32, b.Shape().Len())
	if err := d.Device.Download(v, b); err != nil {
		return err
	}
	x := widen(b.Shape(), v)
	f(x)
	for i := range v {
		v[i] = float32(x.v[i])
	}
	return d.Device.Upload(b, v)
}

// copyOf returns a second buffer with the same contents, which nobody frees.
func (d *broken) copyOf(b backend.Buffer) (backend.Buffer, error) {
	c, err := d.Device.Alloc(b.Shape())
	if err != nil {
		return nil, err
	}
	return c, d.Device.LinearCombination(c, backend.Term{A: 1, X: b})
}

// contents returns what a buffer holds.
func (d *broken) contents(b backend.Buffer) ([]float32, error) {
	if b == nil {
		return nil, errors.New("no buffer")
	}
	return download(d.Device, b)
}

// inPart makes the steps on a part of the image, as if it were all of it.
func (d *broken) inPart(ctx context.Context, dst, src backend.Buffer, r, part backend.Region, steps []backend.FlowStep) error {
	z, err := d.Device.Alloc(regionShape(src.Shape(), part))
	if err != nil {
		return err
	}
	end, err := d.Device.Alloc(regionShape(dst.Shape(), part))
	if err != nil {
		return err
	}
	if err := d.Device.CopyRegion(z, 0, 0, src, part); err != nil {
		return err
	}
	if err := d.Device.GradientFlow(ctx, end, z, z.Shape().Whole(), steps); err != nil {
		return err
	}
	inside := backend.Region{Y0: r.Y0 - part.Y0, Y1: r.Y1 - part.Y0, X0: r.X0 - part.X0, X1: r.X1 - part.X0}
	return d.Device.CopyRegion(dst, r.Y0, r.X0, end, inside)
}

// eulerBug puts something around GradientFlow.
func eulerBug(around func(d *broken, call eulerFunc) eulerFunc) func(d *broken) {
	return func(d *broken) { d.euler = around(d, d.euler) }
}

// stepsBug changes the steps, which are its own to change.
func stepsBug(change func(steps []backend.FlowStep) []backend.FlowStep) func(d *broken) {
	return eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			return call(ctx, dst, src, r, change(slices.Clone(steps)))
		}
	})
}

// copyFilters makes the device keep a copy of every filter as it was made, and
// returns a function that puts the copies in place of the filters.
func (d *broken) copyFilters() func(steps []backend.FlowStep) []backend.FlowStep {
	inner := d.Device
	copies := map[backend.Filter]backend.Filter{}
	d.newFilter = func(w backend.Buffer) (backend.Filter, error) {
		f, err := inner.NewFilter(w)
		if err != nil {
			return nil, err
		}
		copies[f], err = inner.NewFilter(w)
		return f, err
	}
	return func(steps []backend.FlowStep) []backend.FlowStep {
		steps = slices.Clone(steps)
		for k, s := range steps {
			if c := copies[s.Filter]; c != nil {
				steps[k].Filter = c
			}
		}
		return steps
	}
}

// projectionBug edits the result of ProjectBalls, of which the vectors and the radii before
// the call are known.
func projectionBug(edit func(dst, v, radius tensor)) func(d *broken) {
	return func(d *broken) {
		call := d.projectBalls
		d.projectBalls = func(dst, src, radius backend.Buffer) error {
			v, err := d.contents(src)
			if err != nil {
				return call(dst, src, radius)
			}
			r, err := d.contents(radius)
			if err != nil {
				return call(dst, src, radius)
			}
			if err := call(dst, src, radius); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) { edit(x, widen(src.Shape(), v), widen(radius.Shape(), r)) })
		}
	}
}

// ballsGradientBug edits both results of ProjectBallsGradient.
func ballsGradientBug(edit func(dst, dradius, v, dy, radius tensor, beta float32)) func(d *broken) {
	return func(d *broken) {
		call := d.ballsGradient
		d.ballsGradient = func(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
			var before [3]tensor
			for i, b := range []backend.Buffer{src, dy, radius} {
				v, err := d.contents(b)
				if err != nil {
					return call(dst, dradius, src, dy, radius, beta)
				}
				before[i] = widen(b.Shape(), v)
			}
			if err := call(dst, dradius, src, dy, radius, beta); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) {
				if err := d.edit(dradius, func(r tensor) { edit(x, r, before[0], before[1], before[2], beta) }); err != nil {
					panic(err)
				}
			})
		}
	}
}

// longer tells whether a vector lies outside its ball.
func longer(v, radius tensor, g int, at []int) bool {
	return math.Sqrt(products(v, v, at)) > radius.v[g]
}

// unless returns err unless it is the one that is to be overlooked.
func unless(err, overlooked error) error {
	if errors.Is(err, overlooked) {
		return nil
	}
	return err
}

// clipOverlooks makes a device whose Clip takes what it should refuse with an error.
func clipOverlooks(overlooked error) func(*broken) {
	return func(d *broken) {
		inner := d.Device
		d.clip = func(dst, src backend.Buffer, lo, hi float32) error {
			return unless(inner.Clip(dst, src, lo, hi), overlooked)
		}
	}
}

// transposeChannels exchanges rows and columns of the q×q pixels that became channels.
func transposeChannels(t tensor, q int) {
	old := t.clone()
	eachElement(t.Shape, func(n, c, y, x int) {
		first, within := c-c%(q*q), c%(q*q)
		t.v[t.index(n, c, y, x)] = old.at(n, first+within%q*q+within/q, y, x)
	})
}

// mutations are bugs, each with the operation whose checks have to find it.
var mutations = []struct {
	name, operation string
	breaks          func(d *broken)
}{
	{"memory is reused with what was in it", "Alloc", func(d *broken) {
		free := map[backend.Shape]backend.Buffer{}
		inner := d.Device
		d.alloc = func(s backend.Shape) (backend.Buffer, error) {
			b, err := inner.Alloc(s)
			if err == nil && free[s] != nil {
				err = inner.Fill(b, 7)
			}
			free[s] = b
			return b, err
		}
	}},
	{"a negative extent is taken for its absolute value", "Alloc", func(d *broken) {
		inner := d.Device
		d.alloc = func(s backend.Shape) (backend.Buffer, error) {
			s.N, s.C, s.H = max(s.N, -s.N), max(s.C, -s.C), max(s.H, -s.H)
			return inner.Alloc(s)
		}
	}},
	{"no limit", "Alloc", func(d *broken) {
		inner := d.Device
		d.alloc = func(s backend.Shape) (backend.Buffer, error) {
			b, err := inner.Alloc(s)
			if errors.Is(err, backend.ErrOutOfMemory) {
				return inner.Alloc(backend.Image(1, 1, 1))
			}
			return b, err
		}
	}},
	{"the caller's memory is read after Upload has returned", "Upload", func(d *broken) {
		inner := d.Device
		var last func() error
		d.upload = func(dst backend.Buffer, src []float32) error {
			last = func() error { return inner.Upload(dst, src) }
			return inner.Upload(dst, src)
		}
		d.download = func(dst []float32, src backend.Buffer) error {
			return errors.Join(last(), inner.Download(dst, src))
		}
	}},
	{"an upload that is too long is cut", "Upload", func(d *broken) {
		inner := d.Device
		d.upload = func(dst backend.Buffer, src []float32) error {
			return inner.Upload(dst, src[:min(len(src), dst.Shape().Len())])
		}
	}},
	{"subnormal numbers become zero", "Upload", func(d *broken) {
		inner := d.Device
		d.upload = func(dst backend.Buffer, src []float32) error {
			flushed := slices.Clone(src)
			for i, v := range flushed {
				if v > -0x1p-126 && v < 0x1p-126 {
					flushed[i] = 0
				}
			}
			return inner.Upload(dst, flushed)
		}
	}},
	{"a download that is too short is taken", "Download", func(d *broken) {
		inner := d.Device
		d.download = func(dst []float32, src backend.Buffer) error {
			if n := src.Shape().Len(); len(dst) < n {
				return inner.Download(make([]float32, n), src)
			}
			return inner.Download(dst, src)
		}
	}},
	{"a view begins one channel too far", "Channels", func(d *broken) {
		inner := d.Device
		d.channels = func(b backend.Buffer, from, count int) (backend.Buffer, error) {
			if b != nil && from+count < b.Shape().C {
				from++
			}
			return inner.Channels(b, from, count)
		}
	}},
	{"a view is a copy", "Channels", func(d *broken) {
		inner := d.Device
		d.channels = func(b backend.Buffer, from, count int) (backend.Buffer, error) {
			v, err := inner.Channels(b, from, count)
			if err != nil {
				return nil, err
			}
			return d.copyOf(v)
		}
	}},
	{"neighbours that touch are said to overlap", "Overlaps", func(d *broken) {
		inner := d.Device
		views := map[backend.Buffer][2]int{}
		d.channels = func(b backend.Buffer, from, count int) (backend.Buffer, error) {
			v, err := inner.Channels(b, from, count)
			if err == nil {
				first := views[b][0] + from
				views[v] = [2]int{first, first + count}
			}
			return v, err
		}
		d.overlaps = func(a, b backend.Buffer) (bool, error) {
			x, y := views[a], views[b]
			shared, err := inner.Overlaps(a, b)
			return shared || err == nil && x[1] > 0 && x[1] == y[0], err
		}
	}},
	{"only the same buffer overlaps", "Overlaps", func(d *broken) {
		inner := d.Device
		d.overlaps = func(a, b backend.Buffer) (bool, error) {
			shared, err := inner.Overlaps(a, b)
			return shared && a == b, err
		}
	}},
	{"all arrays overlap", "Overlaps", func(d *broken) {
		inner := d.Device
		d.overlaps = func(a, b backend.Buffer) (bool, error) {
			_, err := inner.Overlaps(a, b)
			return err == nil, err
		}
	}},
	{"a freed buffer is asked about", "Overlaps", func(d *broken) {
		inner := d.Device
		d.overlaps = func(a, b backend.Buffer) (bool, error) {
			shared, err := inner.Overlaps(a, b)
			return shared, unless(err, backend.ErrFreed)
		}
	}},
	{"Overlaps after Close is no error", "Close", func(d *broken) {
		inner := d.Device
		d.overlaps = func(a, b backend.Buffer) (bool, error) {
			shared, err := inner.Overlaps(a, b)
			return shared, unless(err, backend.ErrClosed)
		}
	}},
	{"Close twice is an error", "Close", func(d *broken) {
		inner, n := d.Device, 0
		d.close = func() error {
			if n++; n > 1 {
				return backend.ErrClosed
			}
			return inner.Close()
		}
	}},
	{"Sync after Close is no error", "Close", func(d *broken) { d.sync = func() error { return nil } }},
	{"operations change places", "Sync", func(d *broken) {
		inner := d.Device
		var held func() error
		d.fill = func(dst backend.Buffer, v float32) error {
			before := held
			held = func() error { return inner.Fill(dst, v) }
			if before != nil {
				return before()
			}
			return nil
		}
	}},
	{"the last element is not filled", "Fill", func(d *broken) {
		inner := d.Device
		d.fill = func(dst backend.Buffer, v float32) error {
			if err := inner.Fill(dst, v); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) { x.v[len(x.v)-1] = 0 })
		}
	}},
	{"the last of several terms is forgotten", "LinearCombination", func(d *broken) {
		inner := d.Device
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			if len(terms) == backend.MaxTerms {
				terms = terms[:backend.MaxTerms-1]
			}
			return inner.LinearCombination(dst, terms...)
		}
	}},
	{"terms of weight zero are left out", "LinearCombination", func(d *broken) {
		inner := d.Device
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			kept := slices.DeleteFunc(slices.Clone(terms), func(t backend.Term) bool { return t.A == 0 && t.X != dst })
			if len(kept) == 0 || len(kept) < len(terms) && kept[0].X.Shape() != terms[0].X.Shape() {
				kept = terms
			}
			return inner.LinearCombination(dst, kept...)
		}
	}},
	{"the destination is written before a later term reads it", "LinearCombination", func(d *broken) {
		inner := d.Device
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			if len(terms) < 2 {
				return inner.LinearCombination(dst, terms...)
			}
			if err := inner.LinearCombination(dst, terms[0]); err != nil {
				return err
			}
			return inner.LinearCombination(dst, append([]backend.Term{{A: 1, X: dst}}, terms[1:]...)...)
		}
	}},
	{"five terms are taken", "LinearCombination", func(d *broken) {
		inner := d.Device
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			return inner.LinearCombination(dst, terms[:min(len(terms), backend.MaxTerms)]...)
		}
	}},
	{"half precision", "LinearCombination", func(d *broken) {
		inner := d.Device
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			if err := inner.LinearCombination(dst, terms...); err != nil || len(terms) < 2 {
				return err
			}
			return d.edit(dst, func(x tensor) { x.v[0] *= 1 + 0x1p-11 })
		}
	}},
	{"a channel beside the destination is written", "LinearCombination", func(d *broken) {
		inner := d.Device
		parents := map[backend.Buffer]backend.Buffer{}
		d.channels = func(b backend.Buffer, from, count int) (backend.Buffer, error) {
			v, err := inner.Channels(b, from, count)
			if err == nil && from+count < b.Shape().C {
				parents[v], _ = inner.Channels(b, from+count, 1)
			}
			return v, err
		}
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			err := inner.LinearCombination(dst, terms...)
			if err == nil && parents[dst] != nil {
				err = d.edit(parents[dst], func(x tensor) { x.v[0]++ })
			}
			return err
		}
	}},
	{"a source is written", "LinearCombination", func(d *broken) {
		inner := d.Device
		d.combine = func(dst backend.Buffer, terms ...backend.Term) error {
			err := inner.LinearCombination(dst, terms...)
			if err == nil {
				err = inner.Fill(terms[0].X, 0)
			}
			return err
		}
	}},
	{"a product with zero is zero", "Multiply", func(d *broken) {
		inner := d.Device
		d.multiply = func(dst, x, y backend.Buffer) error {
			v, err := d.contents(x)
			if err != nil {
				return inner.Multiply(dst, x, y)
			}
			if err := inner.Multiply(dst, x, y); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				for i := range t.v {
					if v[i] == 0 {
						t.v[i] = 0
					}
				}
			})
		}
	}},
	{"a product in place of its second factor is a square", "Multiply", func(d *broken) {
		inner := d.Device
		d.multiply = func(dst, x, y backend.Buffer) error {
			if dst == y && dst != x {
				return inner.Multiply(dst, y, y)
			}
			return inner.Multiply(dst, x, y)
		}
	}},
	{"the last product of an odd number is left out", "Multiply", func(d *broken) {
		inner := d.Device
		d.multiply = func(dst, x, y backend.Buffer) error {
			v, err := d.contents(dst)
			if err != nil {
				return inner.Multiply(dst, x, y)
			}
			if err := inner.Multiply(dst, x, y); err != nil || len(v)%2 == 0 {
				return err
			}
			return d.edit(dst, func(t tensor) { t.v[len(v)-1] = float64(v[len(v)-1]) })
		}
	}},
	{"products of half precision", "Multiply", func(d *broken) {
		inner := d.Device
		d.multiply = func(dst, x, y backend.Buffer) error {
			if err := inner.Multiply(dst, x, y); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				for i, v := range t.v {
					t.v[i] = v * (1 + 0x1p-11)
				}
			})
		}
	}},
	{"a product takes what overlaps in part", "Multiply", func(d *broken) {
		inner := d.Device
		d.multiply = func(dst, x, y backend.Buffer) error {
			return unless(inner.Multiply(dst, x, y), backend.ErrAlias)
		}
	}},
	{"another device's buffers are taken", "Clip", clipOverlooks(backend.ErrForeign)},
	{"freed buffers are taken", "Clip", clipOverlooks(backend.ErrFreed)},
	{"a closed device works on", "Clip", clipOverlooks(backend.ErrClosed)},
	{"partial overlap is taken", "Clip", clipOverlooks(backend.ErrAlias)},
	{"in place is refused", "Clip", func(d *broken) {
		inner := d.Device
		d.clip = func(dst, src backend.Buffer, lo, hi float32) error {
			if dst == src {
				return backend.ErrAlias
			}
			return inner.Clip(dst, src, lo, hi)
		}
	}},
	{"NaN becomes the lower bound", "Clip", func(d *broken) {
		inner := d.Device
		d.clip = func(dst, src backend.Buffer, lo, hi float32) error {
			if err := inner.Clip(dst, src, lo, hi); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) {
				for i, v := range x.v {
					if v != v {
						x.v[i] = float64(lo)
					}
				}
			})
		}
	}},
	{"a nil buffer panics", "Clip", func(d *broken) {
		inner := d.Device
		d.clip = func(dst, src backend.Buffer, lo, hi float32) error {
			_, _ = dst.Shape(), src.Shape()
			return inner.Clip(dst, src, lo, hi)
		}
	}},
	{"the matrix is transposed", "MixChannels", func(d *broken) {
		inner := d.Device
		d.mix = func(dst, src backend.Buffer, m []float32) error {
			if dst == nil || src == nil || dst.Shape().C != 3 || src.Shape().C != 3 || len(m) != 9 {
				return inner.MixChannels(dst, src, m)
			}
			return inner.MixChannels(dst, src, []float32{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]})
		}
	}},
	{"the matrix is read late", "MixChannels", func(d *broken) {
		inner := d.Device
		var last func() error
		d.mix = func(dst, src backend.Buffer, m []float32) error {
			last = func() error { return inner.MixChannels(dst, src, m) }
			return inner.MixChannels(dst, src, m)
		}
		d.download = func(dst []float32, src backend.Buffer) error {
			if last != nil {
				_ = last() // too late: the matrix is the caller's again
				last = nil
			}
			return inner.Download(dst, src)
		}
	}},
	{"sums in float32", "Reduce", func(d *broken) {
		inner := d.Device
		d.reduce = func(out []float64, rs ...backend.Reduction) error {
			err := inner.Reduce(out, rs...)
			for i := range out {
				out[i] = float64(float32(out[i]))
			}
			return err
		}
	}},
	{"values change places", "Reduce", func(d *broken) {
		inner := d.Device
		d.reduce = func(out []float64, rs ...backend.Reduction) error {
			err := inner.Reduce(out, rs...)
			slices.Reverse(out)
			return err
		}
	}},
	{"the order of a sum changes from call to call", "Reduce", func(d *broken) {
		inner, n := d.Device, 0
		d.reduce = func(out []float64, rs ...backend.Reduction) error {
			err := inner.Reduce(out, rs...)
			for i := range out {
				out[i] *= 1 + 0x1p-52*float64(n%2)
			}
			n++
			return err
		}
	}},
	{"the seed is cut to 32 bits", "Gaussian", func(d *broken) {
		inner := d.Device
		d.gaussian = func(dst backend.Buffer, seed uint64, mean, std float32) error {
			return inner.Gaussian(dst, uint64(uint32(seed)), mean, std)
		}
	}},
	{"the noise is rounded once", "Gaussian", func(d *broken) {
		inner := d.Device
		d.gaussian = func(dst backend.Buffer, seed uint64, mean, std float32) error {
			if err := inner.Gaussian(dst, seed, mean, std); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) {
				for i := range x.v {
					x.v[i] = float64(mean) + float64(std)*float64(backend.GaussianAt(seed, uint64(i)))
				}
			})
		}
	}},
	{"every row begins with index 0", "Gaussian", func(d *broken) {
		inner := d.Device
		d.gaussian = func(dst backend.Buffer, seed uint64, mean, std float32) error {
			if err := inner.Gaussian(dst, seed, mean, std); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) {
				for i := x.W; i < len(x.v); i++ {
					x.v[i] = x.v[i-x.W]
				}
			})
		}
	}},
	{"channels are not coupled", "TVIterate", func(d *broken) {
		inner := d.Device
		d.iterate = func(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
			problem.Coupled = false
			return inner.TVIterate(u, p, y, problem, step)
		}
	}},
	{"extrapolation is left out", "TVIterate", func(d *broken) {
		inner := d.Device
		d.iterate = func(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
			if step.Extrapolation > 0 {
				step.Extrapolation = 0
			}
			return inner.TVIterate(u, p, y, problem, step)
		}
	}},
	{"the last row gets a dual variable", "TVIterate", func(d *broken) {
		inner := d.Device
		d.iterate = func(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
			if err := inner.TVIterate(u, p, y, problem, step); err != nil {
				return err
			}
			return d.edit(p, func(x tensor) { x.v[x.index(0, 0, x.H-1, 0)] = 1e-3 })
		}
	}},
	{"u and p may be one array", "TVIterate", func(d *broken) {
		inner := d.Device
		d.iterate = func(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
			return unless(inner.TVIterate(u, p, y, problem, step), backend.ErrAlias)
		}
	}},
	{"a negative radius is taken", "TVIterate", func(d *broken) {
		inner := d.Device
		d.iterate = func(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
			problem.Alpha = max(problem.Alpha, -problem.Alpha)
			return inner.TVIterate(u, p, y, problem, step)
		}
	}},
	{"the old u is read", "TVPrimal", func(d *broken) {
		inner := d.Device
		d.primal = func(u, p, y backend.Buffer, step float32) error {
			if err := inner.TVPrimal(u, p, y, step); err != nil || step != 1 {
				return err
			}
			return d.edit(u, func(x tensor) { x.v[0] *= nan0(step) })
		}
	}},
	{"the divergence has the wrong sign", "TVPrimal", func(d *broken) {
		inner := d.Device
		d.primal = func(u, p, y backend.Buffer, step float32) error {
			if err := inner.TVPrimal(u, p, y, step); err != nil || step != 1 {
				return err
			}
			// 2y − u = y + ∇ᵀp
			return inner.LinearCombination(u, backend.Term{A: 2, X: y}, backend.Term{A: -1, X: u})
		}
	}},
	{"the gap is made of float32", "TVEvaluate", func(d *broken) {
		inner := d.Device
		d.evaluate = func(u, p, y backend.Buffer, problem backend.TVProblem) (backend.TVValue, error) {
			v, err := inner.TVEvaluate(u, p, y, problem)
			v.Product = float64(float32(v.Product))
			return v, err
		}
	}},
	{"p is not scaled back", "TVEvaluate", func(d *broken) {
		inner := d.Device
		d.evaluate = func(u, p, y backend.Buffer, problem backend.TVProblem) (backend.TVValue, error) {
			v, err := inner.TVEvaluate(u, p, y, problem)
			if v.Variation-v.Product < 1e-10*v.Variation {
				v.Product *= 1 + 3e-7
			}
			return v, err
		}
	}},
	{"the kernel is kept, not copied", "ApplyBlur", func(d *broken) {
		inner := d.Device
		kernels := map[backend.Blur][]float32{}
		d.newBlur = func(s backend.BlurSpec) (backend.Blur, error) {
			k, err := inner.NewBlur(s)
			if err == nil {
				kernels[k] = s.Kernel
			}
			return k, err
		}
		d.applyBlur = func(dst, src backend.Buffer, k backend.Blur) error {
			s := k.Spec()
			s.Kernel, s.Method = kernels[k], k.Method()
			late, err := inner.NewBlur(s)
			if err != nil {
				return err
			}
			return inner.ApplyBlur(dst, src, late)
		}
	}},
	{"the centre is off by one", "ApplyBlur", func(d *broken) {
		inner := d.Device
		d.newBlur = func(s backend.BlurSpec) (backend.Blur, error) {
			if s.CX+1 < s.KW && s.CX >= 0 && s.Boundary == backend.Circular {
				s.CX++
			}
			return inner.NewBlur(s)
		}
	}},
	{"the kernel is not flipped", "ApplyBlur", func(d *broken) {
		inner := d.Device
		d.newBlur = func(s backend.BlurSpec) (backend.Blur, error) {
			s.Kernel = slices.Clone(s.Kernel)
			slices.Reverse(s.Kernel)
			s.CY, s.CX = s.KH-1-s.CY, s.KW-1-s.CX
			return inner.NewBlur(s)
		}
	}},
	{"zeros instead of reflection", "ApplyBlur", func(d *broken) {
		inner := d.Device
		d.newBlur = func(s backend.BlurSpec) (backend.Blur, error) {
			if s.Boundary == backend.Reflect {
				s.Boundary = backend.Zero
			}
			return inner.NewBlur(s)
		}
	}},
	{"the method asked for is not taken", "ApplyBlur", func(d *broken) {
		inner := d.Device
		d.newBlur = func(s backend.BlurSpec) (backend.Blur, error) {
			s.Method = min(s.Method, backend.DirectBlur)
			return inner.NewBlur(s)
		}
	}},
	{"only the first image of a batch is blurred", "ApplyBlur", func(d *broken) {
		inner := d.Device
		d.applyBlur = func(dst, src backend.Buffer, k backend.Blur) error {
			if err := inner.ApplyBlur(dst, src, k); err != nil || dst.Shape().N == 1 {
				return err
			}
			return d.edit(dst, func(x tensor) { clear(x.v[x.Len()/x.N:]) })
		}
	}},
	{"a centre outside of the kernel is taken", "NewBlur", func(d *broken) {
		inner := d.Device
		d.newBlur = func(s backend.BlurSpec) (backend.Blur, error) {
			s.CX = min(s.CX, s.KW-1)
			return inner.NewBlur(s)
		}
	}},
	{"the adjoint forgets what was reflected", "ApplyBlurAdjoint", func(d *broken) {
		inner := d.Device
		d.applyBlurAdjoint = func(dst, src backend.Buffer, k backend.Blur) error {
			s, ok := specOf(k)
			if !ok || s.Boundary != backend.Reflect {
				return inner.ApplyBlurAdjoint(dst, src, k)
			}
			s.Boundary = backend.Zero
			zero, err := inner.NewBlur(s)
			if err != nil {
				return err
			}
			return inner.ApplyBlurAdjoint(dst, src, zero)
		}
	}},
	{"the adjoint adds to what was there", "ApplyBlurAdjoint", func(d *broken) {
		inner := d.Device
		d.applyBlurAdjoint = func(dst, src backend.Buffer, k backend.Blur) error {
			old, err := d.copyOf(dst)
			if err != nil {
				return inner.ApplyBlurAdjoint(dst, src, k)
			}
			if err := inner.ApplyBlurAdjoint(dst, src, k); err != nil {
				return err
			}
			return inner.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: 1, X: old})
		}
	}},
	{"even filters are taken", "NewFilter", func(d *broken) {
		inner := d.Device
		d.newFilter = func(w backend.Buffer) (backend.Filter, error) {
			f, err := inner.NewFilter(w)
			return f, unless(err, backend.ErrShape)
		}
	}},
	{"a filter reads its weights at the first use", "Convolve", func(d *broken) {
		inner := d.Device
		weights := map[backend.Filter]backend.Buffer{}
		d.newFilter = func(w backend.Buffer) (backend.Filter, error) {
			f, err := inner.NewFilter(w)
			weights[f] = w
			return f, err
		}
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.UpdateFilter(f, weights[f]); err != nil {
				return err
			}
			return inner.Convolve(dst, src, f, end)
		}
	}},
	{"an update does nothing", "UpdateFilter", func(d *broken) {
		inner := d.Device
		d.updateFilter = func(f backend.Filter, w backend.Buffer) error {
			if _, err := inner.NewFilter(w); err != nil {
				return err
			}
			return nil
		}
	}},
	{"the bias is forgotten", "Convolve", func(d *broken) {
		inner := d.Device
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.Convolve(dst, src, f, end); err != nil {
				return err
			}
			end.Bias = nil
			return inner.Convolve(dst, src, f, end)
		}
	}},
	{"the activation is forgotten", "Convolve", func(d *broken) {
		inner := d.Device
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.Convolve(dst, src, f, end); err != nil {
				return err
			}
			end.Activation = backend.Activation{}
			return inner.Convolve(dst, src, f, end)
		}
	}},
	{"the corner is wrong", "Convolve", func(d *broken) {
		inner := d.Device
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.Convolve(dst, src, f, end); err != nil || dst.Shape().Plane() < 8000 {
				return err
			}
			return d.edit(dst, func(x tensor) { x.v[len(x.v)-1] *= 1.01 })
		}
	}},
	{"TF32", "Convolve", func(d *broken) {
		inner := d.Device
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.Convolve(dst, src, f, end); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) {
				for i, v := range x.v {
					x.v[i] = v * (1 + 0x1p-14*float64(i%3-1))
				}
			})
		}
	}},
	{"the last channel is a copy of the first", "Convolve", func(d *broken) {
		inner := d.Device
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.Convolve(dst, src, f, end); err != nil || dst.Shape().C < 17 {
				return err
			}
			return d.edit(dst, func(x tensor) { copy(x.v[len(x.v)-x.Plane():], x.v[:x.Plane()]) })
		}
	}},
	{"the bias may be the destination", "Convolve", func(d *broken) {
		inner := d.Device
		d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
			if err := inner.Convolve(dst, src, f, end); !errors.Is(err, backend.ErrAlias) || end.Bias == nil {
				return err
			}
			end.Bias = nil
			return inner.Convolve(dst, src, f, end)
		}
	}},
	{"beta = 0 multiplies what was there", "ConvolveAdjoint", func(d *broken) {
		inner := d.Device
		d.convolveAdjoint = func(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
			old, err := d.copyOf(dst)
			if err != nil {
				return inner.ConvolveAdjoint(dst, src, f, beta, scale)
			}
			if err := inner.ConvolveAdjoint(dst, src, f, beta, scale); err != nil || beta != 0 {
				return err
			}
			return inner.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: 0, X: old})
		}
	}},
	{"beta is taken for one", "ConvolveAdjoint", func(d *broken) {
		inner := d.Device
		d.convolveAdjoint = func(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
			if beta != 0 {
				beta = 1
			}
			return inner.ConvolveAdjoint(dst, src, f, beta, scale)
		}
	}},
	{"scale is forgotten", "ConvolveAdjoint", func(d *broken) {
		inner := d.Device
		d.convolveAdjoint = func(dst, src backend.Buffer, f backend.Filter, beta, _ float32) error {
			return inner.ConvolveAdjoint(dst, src, f, beta, 1)
		}
	}},
	{"the start is left out", "AddAdjoint", func(d *broken) {
		inner := d.Device
		d.addAdjoint = func(dst, start, src backend.Buffer, f backend.Filter, scale float32) error {
			if err := inner.AddAdjoint(dst, start, src, f, 0); err != nil {
				return err
			}
			return inner.ConvolveAdjoint(dst, src, f, 0, scale)
		}
	}},
	{"scale is forgotten", "AddAdjoint", func(d *broken) {
		inner := d.Device
		d.addAdjoint = func(dst, start, src backend.Buffer, f backend.Filter, _ float32) error {
			return inner.AddAdjoint(dst, start, src, f, 1)
		}
	}},
	{"the start is changed as well", "AddAdjoint", func(d *broken) {
		inner := d.Device
		d.addAdjoint = func(dst, start, src backend.Buffer, f backend.Filter, scale float32) error {
			if err := inner.AddAdjoint(dst, start, src, f, scale); err != nil {
				return err
			}
			return inner.LinearCombination(start, backend.Term{A: 1, X: dst})
		}
	}},
	{"the sum is rounded otherwise", "AddAdjoint", func(d *broken) {
		inner := d.Device
		d.addAdjoint = func(dst, start, src backend.Buffer, f backend.Filter, scale float32) error {
			if err := inner.AddAdjoint(dst, start, src, f, scale); err != nil {
				return err
			}
			return d.edit(dst, func(x tensor) {
				for i, v := range x.v {
					x.v[i] = math.Float64frombits(math.Float64bits(v) + 1<<29)
				}
			})
		}
	}},
	{"only the first image counts", "FilterGradient", func(d *broken) {
		inner := d.Device
		d.filterGradient = func(dw, x, dy backend.Buffer, beta, scale float32) error {
			if err := inner.FilterGradient(dw, x, dy, beta, scale); err != nil || beta != 0 || x.Shape().N == 1 {
				return err
			}
			first, err := d.copyOf(dy)
			if err != nil {
				return err
			}
			if err := d.edit(first, func(x tensor) { clear(x.v[x.Len()/x.N:]) }); err != nil {
				return err
			}
			return inner.FilterGradient(dw, x, first, 0, scale)
		}
	}},
	{"the mean instead of the sum", "BiasGradient", func(d *broken) {
		inner := d.Device
		d.biasGradient = func(db, dy backend.Buffer, beta float32) error {
			if err := inner.BiasGradient(db, dy, beta); err != nil || beta != 0 {
				return err
			}
			return inner.LinearCombination(db, backend.Term{A: 1 / float32(dy.Shape().Plane()), X: db})
		}
	}},
	{"the derivative at 0 is 1", "ActivationGradient", func(d *broken) {
		inner := d.Device
		d.activationGradient = func(dst, out, dy backend.Buffer, a backend.Activation) error {
			raised, err := d.copyOf(out)
			if err != nil {
				return inner.ActivationGradient(dst, out, dy, a)
			}
			if err := d.edit(raised, func(x tensor) {
				for i, v := range x.v {
					if v == 0 {
						x.v[i] = 1
					}
				}
			}); err != nil {
				return err
			}
			if err := inner.ActivationGradient(dst, out, dy, a); err != nil {
				return err
			}
			return inner.ActivationGradient(dst, raised, dy, a)
		}
	}},
	{"a column beside the region is copied", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			wide := r
			if wide.X1++; inner.CopyRegion(dst, y, x, src, wide) == nil {
				return nil
			}
			return inner.CopyRegion(dst, y, x, src, r)
		}
	}},
	{"row and column of the corner change places", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			if inner.CopyRegion(dst, x, y, src, r) == nil {
				return nil
			}
			return inner.CopyRegion(dst, y, x, src, r)
		}
	}},
	{"channels that the source lacks become zero", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			if err := inner.CopyRegion(dst, y, x, src, r); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				eachElement(t.Shape, func(n, c, v, u int) {
					h, w := r.Size()
					if c >= src.Shape().C && holds(backend.Region{Y0: y, Y1: y + h, X0: x, X1: x + w}, v, u) {
						t.v[t.index(n, c, v, u)] = 0
					}
				})
			})
		}
	}},
	{"no more than three channels are copied", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			old, err := d.contents(dst)
			if err != nil {
				return inner.CopyRegion(dst, y, x, src, r)
			}
			if err := inner.CopyRegion(dst, y, x, src, r); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				eachElement(t.Shape, func(n, c, v, u int) {
					if i := t.index(n, c, v, u); c >= 3 {
						t.v[i] = float64(old[i])
					}
				})
			})
		}
	}},
	{"only the first image of a batch is copied", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			old, err := d.contents(dst)
			if err != nil {
				return inner.CopyRegion(dst, y, x, src, r)
			}
			if err := inner.CopyRegion(dst, y, x, src, r); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				for i := t.Len() / t.N; i < t.Len(); i++ {
					t.v[i] = float64(old[i])
				}
			})
		}
	}},
	{"a region beyond the frame is cut off", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			err := inner.CopyRegion(dst, y, x, src, r)
			if errors.Is(err, backend.ErrShape) && r.Y0 >= 0 && r.X0 >= 0 {
				r.Y1, r.X1 = min(r.Y1, src.Shape().H), min(r.X1, src.Shape().W)
				return inner.CopyRegion(dst, y, x, src, r)
			}
			return err
		}
	}},
	{"an empty region is nothing to do", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			if r.Y0 == r.Y1 || r.X0 == r.X1 {
				return nil
			}
			return inner.CopyRegion(dst, y, x, src, r)
		}
	}},
	{"a negative offset is taken for 0", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			return inner.CopyRegion(dst, max(y, 0), max(x, 0), src, r)
		}
	}},
	{"one array may be copied onto itself", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			return unless(inner.CopyRegion(dst, y, x, src, r), backend.ErrAlias)
		}
	}},
	{"zeros lose their sign", "CopyRegion", func(d *broken) {
		inner := d.Device
		d.copyRegion = func(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
			if err := inner.CopyRegion(dst, y, x, src, r); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				for i := range t.v {
					t.v[i] += 0
				}
			})
		}
	}},
	{"pixels beyond the frame keep what was there", "Unshuffle", func(d *broken) {
		inner := d.Device
		d.unshuffle = func(dst, src backend.Buffer, factor int) error {
			old, err := d.contents(dst)
			if err != nil {
				return inner.Unshuffle(dst, src, factor)
			}
			if err := inner.Unshuffle(dst, src, factor); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				eachElement(t.Shape, func(n, c, y, x int) {
					if i := t.index(n, c, y, x); y*factor+c%(factor*factor)/factor >= src.Shape().H {
						t.v[i] = float64(old[i])
					}
				})
			})
		}
	}},
	{"rows and columns of a coarse pixel change places", "Unshuffle", func(d *broken) {
		inner := d.Device
		d.unshuffle = func(dst, src backend.Buffer, factor int) error {
			if err := inner.Unshuffle(dst, src, factor); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) { transposeChannels(t, factor) })
		}
	}},
	{"a factor of 0 is nothing to do", "Unshuffle", func(d *broken) {
		inner := d.Device
		d.unshuffle = func(dst, src backend.Buffer, factor int) error {
			return unless(inner.Unshuffle(dst, src, factor), backend.ErrArgument)
		}
	}},
	{"one array may be unshuffled onto itself", "Unshuffle", func(d *broken) {
		inner := d.Device
		d.unshuffle = func(dst, src backend.Buffer, factor int) error {
			return unless(inner.Unshuffle(dst, src, factor), backend.ErrAlias)
		}
	}},
	{"pixels beyond the frame are added to the last ones", "Shuffle", func(d *broken) {
		inner := d.Device
		d.shuffle = func(dst, src backend.Buffer, factor int) error {
			from, err := d.contents(src)
			if err != nil {
				return inner.Shuffle(dst, src, factor)
			}
			if err := inner.Shuffle(dst, src, factor); err != nil {
				return err
			}
			coarse := widen(src.Shape(), from)
			return d.edit(dst, func(t tensor) {
				eachElement(coarse.Shape, func(n, c, y, x int) {
					v, u := y*factor+c%(factor*factor)/factor, x*factor+c%factor
					if v < t.H && u >= t.W {
						t.v[t.index(n, c/(factor*factor), v, t.W-1)] += coarse.at(n, c, y, x)
					}
				})
			})
		}
	}},
	{"only the first image of a batch is shuffled", "Shuffle", func(d *broken) {
		inner := d.Device
		d.shuffle = func(dst, src backend.Buffer, factor int) error {
			if err := inner.Shuffle(dst, src, factor); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) { clear(t.v[t.Len()/t.N:]) })
		}
	}},
	{"rows and columns of a coarse pixel change places", "Shuffle", func(d *broken) {
		inner := d.Device
		d.shuffle = func(dst, src backend.Buffer, factor int) error {
			if err := inner.Shuffle(dst, src, factor); err != nil {
				return err
			}
			turned, err := d.copyOf(src)
			if err != nil {
				return err
			}
			if err := d.edit(turned, func(t tensor) { transposeChannels(t, factor) }); err != nil {
				return err
			}
			return inner.Shuffle(dst, turned, factor)
		}
	}},
	{"zeros lose their sign", "Shuffle", func(d *broken) {
		inner := d.Device
		d.shuffle = func(dst, src backend.Buffer, factor int) error {
			if err := inner.Shuffle(dst, src, factor); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				for i := range t.v {
					t.v[i] += 0
				}
			})
		}
	}},
	{"a coarse array with a row too many is taken", "Shuffle", func(d *broken) {
		inner := d.Device
		d.shuffle = func(dst, src backend.Buffer, factor int) error {
			return unless(inner.Shuffle(dst, src, factor), backend.ErrShape)
		}
	}},
	{"a pixel outside of the region is written", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil || r.X1 == src.Shape().W {
				return err
			}
			return d.edit(dst, func(t tensor) { t.v[t.index(0, 0, r.Y1-1, r.X1)] = 0 })
		}
	})},
	{"the rounding depends on the size of the image", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil || src.Shape().W <= 33 {
				return err
			}
			return d.edit(dst, func(t tensor) {
				eachElement(t.Shape, func(n, c, y, x int) {
					if i := t.index(n, c, y, x); holds(r, y, x) {
						t.v[i] += t.v[i] * 0x1p-23
					}
				})
			})
		}
	})},
	{"the bias of the second step is ignored", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		if len(steps) > 1 {
			steps[1].Bias = nil
		}
		return steps
	})},
	{"the halo lacks a pixel", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil {
				return err
			}
			s := src.Shape()
			part := backend.StepsReach(r, steps, 1, s)
			if part.X0 > 0 {
				part.X0++
			}
			return d.inPart(ctx, dst, src, r, part, steps)
		}
	})},
	{"the region is one column off", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil || r.X1 == src.Shape().W {
				return err
			}
			result, err := d.Device.Alloc(dst.Shape())
			if err != nil {
				return err
			}
			if err := call(ctx, result, src, src.Shape().Whole(), steps); err != nil {
				return err
			}
			y, x := r.Y0, r.X0
			r.X0++
			r.X1++
			return d.Device.CopyRegion(dst, y, x, result, r)
		}
	})},
	{"the context is ignored", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(_ context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			return call(context.Background(), dst, src, r, steps)
		}
	})},
	{"the context is asked at the beginning only", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return call(context.Background(), dst, src, r, steps)
		}
	})},
	{"every end of a context is called a cancellation", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if errors.Is(err, context.DeadlineExceeded) {
				return context.Canceled
			}
			return err
		}
	})},
	{"the steps are made in reverse order", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		slices.Reverse(steps)
		return steps
	})},
	{"a step beyond the third is left out", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		return steps[:min(len(steps), 3)]
	})},
	{"all steps have the first one's activation", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			steps[k].Activation = steps[0].Activation
		}
		return steps
	})},
	{"every method is Euler's", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			if steps[k].Tableau.Check() == nil {
				steps[k].Tableau = backend.Tableau{}
			}
		}
		return steps
	})},
	{"a stage sees only the one before it", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k, s := range steps {
			if s.Tableau.Check() != nil || s.Tableau.Stages() < 3 {
				continue
			}
			a := slices.Clone(s.Tableau.A)
			for i := 2; i < len(a); i++ {
				a[i] = slices.Clone(a[i])
				clear(a[i][:i-1])
			}
			steps[k].Tableau.A = a
		}
		return steps
	})},
	{"sizes are positive", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			steps[k].Size = max(steps[k].Size, -steps[k].Size)
		}
		return steps
	})},
	{"a size of 0 means 1", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			if steps[k].Size == 0 {
				steps[k].Size = 1
			}
		}
		return steps
	})},
	{"the source's channels beyond the destination's are lost", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil || dst.Shape().C >= src.Shape().C {
				return err
			}
			less, err := d.Device.Alloc(dst.Shape())
			if err != nil {
				return err
			}
			if err := d.Device.CopyRegion(less, 0, 0, src, src.Shape().Whole()); err != nil {
				return err
			}
			return call(ctx, dst, less, r, steps)
		}
	})},
	{"the destination's channels beyond the source's are forgotten", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				eachElement(t.Shape, func(n, c, y, x int) {
					if c >= src.Shape().C && holds(r, y, x) {
						t.v[t.index(n, c, y, x)] = 0
					}
				})
			})
		}
	})},
	{"only the first image makes the steps", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil || src.Shape().N == 1 {
				return err
			}
			first, err := d.contents(dst)
			if err != nil {
				return err
			}
			if err := d.Device.CopyRegion(dst, 0, 0, src, src.Shape().Whole()); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				for i, v := range first[:t.Len()/t.N] {
					t.v[i] = float64(v)
				}
			})
		}
	})},
	{"what the old destination held counts", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			old, err := d.copyOf(dst)
			if err != nil {
				return call(ctx, dst, src, r, steps)
			}
			if err := call(ctx, dst, src, r, steps); err != nil {
				return err
			}
			return d.Device.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: 0, X: old})
		}
	})},
	{"the destination may be the source", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if dst == src {
				return unless(err, backend.ErrAlias)
			}
			return err
		}
	})},
	{"the destination may be a bias", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if slices.ContainsFunc(steps, func(s backend.FlowStep) bool { return s.Bias == dst }) {
				return unless(err, backend.ErrAlias)
			}
			return err
		}
	})},
	{"freed filters are taken", "GradientFlow", func(d *broken) {
		copies, call := d.copyFilters(), d.euler
		d.euler = func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if errors.Is(err, backend.ErrFreed) {
				return call(ctx, dst, src, r, copies(steps))
			}
			return err
		}
	}},
	{"only the first step's filter has to be the device's own", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if errors.Is(err, backend.ErrForeign) && len(steps) > 1 {
				return call(ctx, dst, src, r, steps[:1])
			}
			return err
		}
	})},
	{"filters of another width are taken", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if errors.Is(err, backend.ErrShape) && len(steps) > 1 {
				return call(ctx, dst, src, r, steps[:1])
			}
			return err
		}
	})},
	{"no steps are a copy", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if len(steps) == 0 {
				return d.Device.CopyRegion(dst, r.Y0, r.X0, src, r)
			}
			return call(ctx, dst, src, r, steps)
		}
	})},
	{"the last bit depends on the region", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) { t.v[t.index(0, 0, r.Y0, r.X0)] *= 1 - 0x1p-23 })
		}
	})},
	{"TF32 in the steps", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				eachElement(t.Shape, func(n, c, y, x int) {
					if holds(r, y, x) {
						t.v[t.index(n, c, y, x)] *= 1 + 0x1p-14*float64((x+y)%3-1)
					}
				})
			})
		}
	})},
	{"the steps do not see an update", "GradientFlow", func(d *broken) { stepsBug(d.copyFilters())(d) }},
	{"a NaN spoils the region", "GradientFlow", eulerBug(func(d *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			if err := call(ctx, dst, src, r, steps); err != nil {
				return err
			}
			return d.edit(dst, func(t tensor) {
				if !slices.ContainsFunc(cut(t.Shape, t.v, r), math.IsNaN) {
					return
				}
				eachElement(t.Shape, func(n, c, y, x int) {
					if holds(r, y, x) {
						t.v[t.index(n, c, y, x)] = math.NaN()
					}
				})
			})
		}
	})},
	{"the steps' tiles are counted from the halo's corner", "GradientFlow", func(d *broken) {
		useWinograd(d)
		d.euler = func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			direct := *d
			direct.grid = func() int { return 1 }
			return fallback.GradientFlow(ctx, &direct, dst, src, r, steps)
		}
	}},
	{"the norm is that of all channels", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		copy(dst.v, v.v)
		one := numbers(1, 1, 1, radius.v[0])
		referenceProjectBalls(dst, dst, one)
	})},
	{"every channel is clipped by itself", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, radius, func(g int, at []int) {
			for _, i := range at {
				dst.v[i] = max(-radius.v[g], min(v.v[i], radius.v[g]))
			}
		})
	})},
	{"groups have the radius of their neighbours", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		slices.Reverse(radius.v)
		referenceProjectBalls(dst, v, radius)
	})},
	{"all pixels have the radius of the first", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		for i := range radius.v {
			radius.v[i] = radius.v[i-i%radius.Plane()]
		}
		referenceProjectBalls(dst, v, radius)
	})},
	{"all images have the radii of the first", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		copy(radius.v[radius.Len()/radius.N:], radius.v[:radius.Len()-radius.Len()/radius.N])
		referenceProjectBalls(dst, v, radius)
	})},
	{"the gradient of a map is a mean", "ProjectBallsGradient", ballsGradientBug(func(_, dradius, _, _, _ tensor, beta float32) {
		if beta == 0 && dradius.Plane() > 1 {
			plane := dradius.Plane()
			for lo := 0; lo < dradius.Len(); lo += plane {
				sum := 0.0
				for _, x := range dradius.v[lo:][:plane] {
					sum += x / float64(plane)
				}
				for i := range plane {
					dradius.v[lo+i] = sum
				}
			}
		}
	})},
	{"all vectors become as long as the radius", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, radius, func(g int, at []int) {
			for _, i := range at {
				dst.v[i] = v.v[i] * radius.v[g] / math.Sqrt(products(v, v, at))
			}
		})
	})},
	{"the norm is squared", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, radius, func(g int, at []int) {
			for _, i := range at {
				dst.v[i] = v.v[i] * min(1, radius.v[g]*radius.v[g]/products(v, v, at))
			}
		})
	})},
	{"only the first image is projected", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		first := v.Len() / v.N
		copy(dst.v[first:], v.v[first:])
	})},
	{"the last vector is left out", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		last := len(v.v) - 1
		dst.v[last] = v.v[last]
	})},
	{"an approximate reciprocal of 14 bits", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, radius, func(g int, at []int) {
			if longer(v, radius, g, at) {
				for _, i := range at {
					dst.v[i] *= 1 + 0x1p-14
				}
			}
		})
	})},
	{"vectors inside lose the last bit", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		for i := range dst.v {
			dst.v[i] *= 1 - 0x1p-23
		}
	})},
	{"0 in a ball of radius 0 is 0/0", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, radius, func(g int, at []int) {
			for _, i := range at {
				if radius.v[g] == 0 && products(v, v, at) == 0 {
					dst.v[i] = math.NaN()
				}
			}
		})
	})},
	{"a NaN does not reach its group", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		for i, x := range dst.v {
			if math.IsNaN(x) {
				dst.v[i] = v.v[i]
			}
		}
	})},
	{"a NaN spoils its pixel", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, numbers(1, 1, 1, 1), func(_ int, at []int) {
			if math.IsNaN(products(dst, dst, at)) {
				for _, i := range at {
					dst.v[i] = math.NaN()
				}
			}
		})
	})},
	{"a NaN is taken for 0", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		for i, x := range dst.v {
			if math.IsNaN(x) {
				dst.v[i] = 0
			}
		}
	})},
	{"outside is pushed away", "ProjectBalls", projectionBug(func(dst, v, radius tensor) {
		eachBall(v, radius, func(g int, at []int) {
			if longer(v, radius, g, at) {
				for _, i := range at {
					dst.v[i] = 2*dst.v[i] - v.v[i] // a reflection is no firmly nonexpansive one
				}
			}
		})
	})},
	{"the destination may be the radii", "ProjectBalls", func(d *broken) {
		call := d.projectBalls
		d.projectBalls = func(dst, src, radius backend.Buffer) error {
			err := call(dst, src, radius)
			return unless(err, backend.ErrAlias)
		}
	}},
	{"radii that do not divide the channels are taken", "ProjectBalls", func(d *broken) {
		call := d.projectBalls
		d.projectBalls = func(dst, src, radius backend.Buffer) error {
			return unless(call(dst, src, radius), backend.ErrShape)
		}
	}},
	{"the part along the vector stays", "ProjectBallsGradient", ballsGradientBug(func(dst, _, v, dy, radius tensor, _ float32) {
		eachBall(v, radius, func(g int, at []int) {
			if longer(v, radius, g, at) {
				for _, i := range at {
					dst.v[i] = dy.v[i] * radius.v[g] / math.Sqrt(products(v, v, at))
				}
			}
		})
	})},
	{"the scale is forgotten", "ProjectBallsGradient", ballsGradientBug(func(dst, _, v, _, radius tensor, _ float32) {
		eachBall(v, radius, func(g int, at []int) {
			if longer(v, radius, g, at) {
				for _, i := range at {
					dst.v[i] *= math.Sqrt(products(v, v, at)) / radius.v[g]
				}
			}
		})
	})},
	{"the sphere is outside", "ProjectBallsGradient", ballsGradientBug(func(dst, _, v, dy, radius tensor, _ float32) {
		eachBall(v, radius, func(g int, at []int) {
			if square := products(v, v, at); square > 0 && square == radius.v[g]*radius.v[g] {
				for _, i := range at {
					dst.v[i] = dy.v[i] - v.v[i]*products(v, dy, at)/square
				}
			}
		})
	})},
	{"0 is outside a ball of radius 0", "ProjectBallsGradient", ballsGradientBug(func(dst, _, v, _, radius tensor, _ float32) {
		eachBall(v, radius, func(g int, at []int) {
			if radius.v[g] == 0 {
				for _, i := range at {
					dst.v[i] = 0
				}
			}
		})
	})},
	{"vectors inside count for the radius", "ProjectBallsGradient", ballsGradientBug(func(_, dradius, v, dy, radius tensor, _ float32) {
		eachBall(v, radius, func(g int, at []int) {
			if square := products(v, v, at); square > 0 && !longer(v, radius, g, at) {
				dradius.v[g] += products(v, dy, at) / math.Sqrt(square)
			}
		})
	})},
	{"the radius' sum is a mean", "ProjectBallsGradient", ballsGradientBug(func(_, dradius, v, _, _ tensor, beta float32) {
		for g := range dradius.v {
			if beta == 0 {
				dradius.v[g] /= float64(v.N * v.Plane())
			}
		}
	})},
	{"the old sum is read with beta 0", "ProjectBallsGradient", func(d *broken) {
		call := d.ballsGradient
		d.ballsGradient = func(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
			if beta != 0 {
				return call(dst, dradius, src, dy, radius, beta)
			}
			old, err := d.copyOf(dradius)
			if err != nil {
				return call(dst, dradius, src, dy, radius, beta)
			}
			if err := call(dst, dradius, src, dy, radius, beta); err != nil {
				return err
			}
			return d.Device.LinearCombination(dradius, backend.Term{A: 1, X: dradius}, backend.Term{A: 0, X: old})
		}
	}},
	{"beta is taken for 1", "ProjectBallsGradient", func(d *broken) {
		call := d.ballsGradient
		d.ballsGradient = func(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
			return call(dst, dradius, src, dy, radius, float32(math.Ceil(float64(beta))))
		}
	}},
	{"the second image's vectors are the first's", "ProjectBallsGradient", ballsGradientBug(func(dst, _, v, _, _ tensor, _ float32) {
		if first := v.Len() / v.N; v.N > 1 {
			copy(dst.v[first:], dst.v[:first])
		}
	})},
	{"half precision", "ProjectBallsGradient", ballsGradientBug(func(dst, _, _, _, _ tensor, _ float32) {
		for i := range dst.v {
			dst.v[i] *= 1 + 0x1p-12
		}
	})},
	{"the radii are forgotten", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			steps[k].Radius = nil
		}
		return steps
	})},
	{"the first step's radii are those of all", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			if first := steps[0].Radius; first != nil && steps[k].Radius != nil && first.Shape() == steps[k].Radius.Shape() {
				steps[k].Radius = first
			}
		}
		return steps
	})},
	{"steps with radii have no bias", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			if steps[k].Radius != nil {
				steps[k].Bias = nil
			}
		}
		return steps
	})},
	{"an activation with radii is overlooked", "GradientFlow", stepsBug(func(steps []backend.FlowStep) []backend.FlowStep {
		for k := range steps {
			if steps[k].Radius != nil {
				steps[k].Activation = backend.Activation{}
			}
		}
		return steps
	})},
	{"the destination may be the radii", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if slices.ContainsFunc(steps, func(s backend.FlowStep) bool { return s.Radius != nil && s.Bias == nil }) {
				return unless(err, backend.ErrAlias)
			}
			return err
		}
	})},
	{"radii that do not divide the hidden layer are taken", "GradientFlow", eulerBug(func(_ *broken, call eulerFunc) eulerFunc {
		return func(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
			err := call(ctx, dst, src, r, steps)
			if slices.ContainsFunc(steps, func(s backend.FlowStep) bool { return s.Radius != nil && s.Radius.Shape().H == 1 }) {
				return unless(err, backend.ErrShape)
			}
			return err
		}
	})},
	{"the grid is 0", "ConvolutionGrid", func(d *broken) { d.grid = func() int { return 0 } }},
	{"tiles are larger than the grid", "ConvolutionGrid", func(d *broken) {
		useWinograd(d)
		d.grid = func() int { return 3 }
	}},
	{"tiles are no multiples of the grid", "ConvolutionGrid", func(d *broken) {
		useWinograd(d)
		d.grid = func() int { return 4 }
	}},
	{"a NaN spoils more than a tile", "Convolve", func(d *broken) {
		useWinograd(d)
		d.grid = func() int { return 3 }
	}},
	{"a NaN spoils more than a tile", "ConvolveAdjoint", func(d *broken) {
		useWinograd(d)
		d.grid = func() int { return 3 }
	}},
	{"a NaN in the old destination spoils a tile", "ConvolveAdjoint", func(d *broken) {
		useWinograd(d)
		call := d.convolveAdjoint
		d.convolveAdjoint = func(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
			if err := call(dst, src, f, beta, scale); err != nil || beta == 0 {
				return err
			}
			return d.edit(dst, func(t tensor) { spreadInTiles(t, winogradOut) })
		}
	}},
	{"two calls at once spoil each other", "Concurrency", func(d *broken) {
		inner := d.Device
		var active atomic.Int32
		d.clip = func(dst, src backend.Buffer, lo, hi float32) error {
			active.Add(1)
			defer active.Add(-1)
			alone := true
			for range 10000 {
				if alone = active.Load() == 1; !alone {
					break
				}
				runtime.Gosched()
			}
			if err := inner.Clip(dst, src, lo, hi); err != nil || alone {
				return err
			}
			return d.edit(dst, func(x tensor) { x.v[0]++ })
		}
	}},
}

// nan0 is NaN times zero, without the compiler knowing.
func nan0(step float32) float64 { return 0 * float64(nan) * float64(step) }

func specOf(k backend.Blur) (backend.BlurSpec, bool) {
	if k == nil {
		return backend.BlurSpec{}, false
	}
	s := k.Spec()
	s.Method = k.Method()
	return s, true
}

func TestSuiteFindsBugs(t *testing.T) {
	leaveSuite(t)
	for _, m := range mutations {
		t.Run(m.operation+"/"+m.name, func(t *testing.T) {
			open := func(testing.TB) backend.Device {
				d := newBroken()
				m.breaks(d)
				return d
			}
			for _, c := range checksOf(m.operation) {
				if err := c.perform(t, open); err != nil {
					t.Logf("%s: %v", c.name, err)
					return
				}
			}
			t.Error("the suite did not find it")
		})
	}
}

// leaveSuite skips tests of what the suite finds in a run with -short, which is one for the race
// detector or an instruction set. The devices here are plain loops with a bug each, to which neither
// makes a difference; the suite's own goroutines are raced where devices pass it (TestCompliance of
// backend/cpu).
func leaveSuite(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("devices with bugs, which neither races nor instruction sets change: go test ./... finds them, and TestCompliance of backend/cpu races the suite")
	}
}

// The wrapper itself breaks nothing, so whatever TestSuiteFindsBugs finds is the
// bug; and SameBits finds two devices of one kind to be the same.
func TestWrapperIsTransparent(t *testing.T) {
	leaveSuite(t)
	SameBits(t,
		func(testing.TB) backend.Device { return refdevice.New(refdevice.Options{Memory: room}) },
		func(testing.TB) backend.Device { return newBroken() })
}

// A device that lacks operations passes with skips, unless they are insisted on;
// memory always is.
func TestUnsupportedOperations(t *testing.T) {
	leaveSuite(t)
	lacking := []string{"Gaussian", "Alloc", "NewFilter"}
	open := func(testing.TB) backend.Device {
		return refdevice.New(refdevice.Options{Memory: room, Unsupported: lacking})
	}
	for _, operation := range []string{"Gaussian", "Convolve", "Alloc", "Clip"} {
		c := checksOf(operation)[0]
		err := c.perform(t, open)
		require.ErrorIs(t, err, backend.ErrUnsupported, operation)
		require.Equal(t, operation != "Alloc", c.excused(err, nil), operation)
		require.False(t, c.excused(err, []string{operation}), operation)
		require.False(t, c.excused(errors.New("wrong"), nil), operation)
	}
	Run(t, func(testing.TB) backend.Device {
		return refdevice.New(refdevice.Options{Memory: room, Unsupported: []string{
			"Gaussian", "NewFilter", "NewBlur", "FilterGradient", "BiasGradient", "ActivationGradient",
			"TVIterate", "TVPrimal", "TVEvaluate", "Reduce", "MixChannels",
		}})
	}, "Fill", "LinearCombination", "Clip", "Concurrency")
}

// Every device that a check opens is closed, whatever the check finds.
func TestDevicesAreClosed(t *testing.T) {
	open := map[*broken]bool{}
	opened := 0
	device := func(testing.TB) backend.Device {
		d := newBroken()
		inner := d.Device
		opened++
		open[d] = true
		d.close = func() error { delete(open, d); return inner.Close() }
		d.clip = func(_, _ backend.Buffer, _, _ float32) error { panic("clip") }
		return d
	}
	for _, c := range checksOf("Clip") {
		require.Error(t, c.perform(t, device), c.name)
	}
	require.Greater(t, opened, 10)
	require.Empty(t, open)
}
