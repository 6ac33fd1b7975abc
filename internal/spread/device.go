package spread

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Host is a device that computes in the host's memory, as backend/cpu does.
type Host interface {
	backend.Device
	backend.HostMemory
}

// Device implements backend.Device and backend.HostMemory. Safe for concurrent use.
type Device struct {
	Host
	workers chan Worker // those without a job
	count   int
	least   float64
}

var (
	_ backend.Device     = (*Device)(nil)
	_ backend.HostMemory = (*Device)(nil)
)

// Option changes how New makes a device.
type Option func(*Device)

// MinWork sets how many multiplications, counted as those of direct convolutions, are worth a
// job of a worker; the default is 2e7, some tens of milliseconds of portable Go. Fewer are left to
// the host.
func MinWork(multiplications float64) Option {
	return func(d *Device) { d.least = multiplications }
}

// New returns a device that spreads work over workers, one or more, and leaves the rest to host,
// which Close closes. The workers are the caller's to end, after Close.
func New(host Host, workers []Worker, options ...Option) *Device {
	d := &Device{Host: host, workers: make(chan Worker, len(workers)), count: len(workers), least: 2e7}
	for _, w := range workers {
		d.workers <- w
	}
	for _, o := range options {
		o(d)
	}
	return d
}

// Description implements backend.Device.
func (d *Device) Description() backend.Description {
	about := d.Host.Description()
	about.Threads = d.count
	return about
}

// filter is one of the host, with its weights for the workers.
type filter struct {
	backend.Filter
	device  *Device
	weights Array
	freed   atomic.Bool
}

// Free implements backend.Filter.
func (f *filter) Free() {
	if !f.freed.Swap(true) {
		f.Filter.Free()
		f.weights.Data = nil
	}
}

// NewFilter implements backend.Convolutions.
func (d *Device) NewFilter(w backend.Buffer) (backend.Filter, error) {
	own, err := d.Host.NewFilter(w)
	if err != nil {
		return nil, err
	}
	weights, err := cut(d.Host, w, w.Shape().Whole())
	if err != nil {
		own.Free()
		return nil, err
	}
	return &filter{Filter: own, device: d, weights: weights}, nil
}

// UpdateFilter implements backend.Convolutions.
func (d *Device) UpdateFilter(bf backend.Filter, w backend.Buffer) error {
	f, err := d.own(bf)
	if err != nil {
		return err
	}
	if err := d.Host.UpdateFilter(f.Filter, w); err != nil {
		return err
	}
	return d.Download(f.weights.Data, w)
}

func (d *Device) own(bf backend.Filter) (*filter, error) {
	f, ok := bf.(*filter)
	if !ok || f == nil || f.device != d {
		return nil, fmt.Errorf("%w: filter of type %T", backend.ErrForeign, bf)
	}
	if f.freed.Load() {
		return nil, fmt.Errorf("%w: filter %v", backend.ErrFreed, f.Shape())
	}
	return f, nil
}

// ConvolveAdjoint implements backend.Convolutions, on the host: only networks with filters of
// other sizes than 3×3 make it by itself, inside a gradient flow, which is spread.
func (d *Device) ConvolveAdjoint(dst, src backend.Buffer, bf backend.Filter, beta, scale float32) error {
	f, err := d.own(bf)
	if err != nil {
		return err
	}
	return d.Host.ConvolveAdjoint(dst, src, f.Filter, beta, scale)
}

// AddAdjoint implements backend.Convolutions, on the host as well.
func (d *Device) AddAdjoint(dst, start, src backend.Buffer, bf backend.Filter, scale float32) error {
	f, err := d.own(bf)
	if err != nil {
		return err
	}
	return d.Host.AddAdjoint(dst, start, src, f.Filter, scale)
}

// Convolve implements backend.Convolutions.
func (d *Device) Convolve(dst, src backend.Buffer, bf backend.Filter, end backend.ConvEnd) error {
	f, err := d.own(bf)
	if err != nil {
		return err
	}
	if dst == nil || src == nil || float64(src.Shape().N*src.Shape().Plane())*float64(f.Shape().Len()) < d.least {
		return d.Host.Convolve(dst, src, f.Filter, end)
	}
	if err := end.Activation.Check(); err != nil {
		return err
	}
	if err := arguments.CheckConvolution(dst.Shape(), src.Shape(), f.Shape()); err != nil {
		return err
	}
	if end.Bias != nil {
		if err := arguments.CheckBias(end.Bias.Shape(), f.Shape().N); err != nil {
			return err
		}
	}
	if err := arguments.CheckApart(d.Host, dst, src, end.Bias); err != nil {
		return err
	}
	s := d.spread(dst, cutting{of: src})
	if s.job.Layer, err = s.step(backend.FlowStep{Filter: f, Bias: end.Bias, Activation: end.Activation}); err != nil {
		return err
	}
	radius := max(f.Shape().H, f.Shape().W) / 2
	s.reach = func(r backend.Region) backend.Region { return r.Reach(radius, d.ConvolutionGrid(), src.Shape()) }
	s.pieces = pieces(src.Shape().Whole(), d.count, d.ConvolutionGrid(), func(r backend.Region) float64 { return area(s.reach(r)) })
	return s.run(context.Background())
}

// GradientFlow implements backend.Convolutions.
func (d *Device) GradientFlow(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	own, work := make([]backend.FlowStep, len(steps)), 0.0
	for i, step := range steps {
		own[i] = step
		if step.Filter == nil {
			continue // the host says what is wrong
		}
		f, err := d.own(step.Filter)
		if err != nil {
			return err
		}
		own[i].Filter = f.Filter
		work += 2 * float64(step.Tableau.Stages()) * float64(f.Shape().Len())
	}
	if dst == nil || src == nil || float64(src.Shape().N)*area(region)*work < d.least {
		return d.Host.GradientFlow(ctx, dst, src, region, own)
	}
	if err := arguments.CheckGradientFlow(dst.Shape(), src.Shape(), region, steps); err != nil {
		return err
	}
	sources := []backend.Buffer{src}
	for _, step := range steps {
		sources = append(sources, step.Bias, step.Radius)
	}
	if err := arguments.CheckApart(d.Host, dst, sources...); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := d.spread(dst, cutting{of: src})
	for _, step := range steps {
		made, err := s.step(step)
		if err != nil {
			return err
		}
		s.job.Flow = append(s.job.Flow, made)
	}
	grid, shape := d.ConvolutionGrid(), src.Shape()
	s.reach = func(r backend.Region) backend.Region { return backend.StepsReach(r, steps, grid, shape) }
	// The layers of a piece grow evenly to its reach: their mean is about the area halfway.
	s.pieces = pieces(region, d.count, grid, func(r backend.Region) float64 { return (area(r) + area(s.reach(r))) / 2 })
	return s.run(ctx)
}

// MakesShuffledFlow implements backend.ShuffledFlows: work on an image in shuffled channels is not
// spread.
func (d *Device) MakesShuffledFlow([]backend.FlowStep, []backend.CodedRadii) bool { return false }

// spreading is an operation under way.
type spreading struct {
	device *Device
	dst    backend.Buffer
	y, x   int // of dst are row and column 0 of the result
	// job is that of every piece except for the arrays that are cut, which are those of cuts.
	job   Job
	cuts  map[int]cutting
	known map[any]int // arrays by what they are of: a buffer, a filter, a cutting
	// reach returns what a piece is computed from. It is widened to multiples of grid, and the
	// result has its rows and columns halved so many times.
	reach    func(backend.Region) backend.Region
	grid     int
	halvings int
	pieces   []backend.Region
}

// cutting is the part of a buffer that goes with what a piece is computed from: that of row y and
// column x on, its rows and columns halved so many times.
type cutting struct {
	of       backend.Buffer
	y, x     int
	halvings int
}

func (c cutting) region(r backend.Region) backend.Region {
	for range c.halvings {
		r = r.Halved()
	}
	return backend.Region{Y0: c.y + r.Y0, Y1: c.y + r.Y1, X0: c.x + r.X0, X1: c.x + r.X1}
}

// spread returns an operation from src to dst without a job yet.
func (d *Device) spread(dst backend.Buffer, src cutting) *spreading {
	return &spreading{
		device: d, dst: dst, job: Job{Arrays: make([]Array, 1)},
		cuts: map[int]cutting{0: src}, known: map[any]int{}, grid: d.ConvolutionGrid(),
	}
}

// step returns a step for the job, whose arrays it adds.
func (s *spreading) step(from backend.FlowStep) (Step, error) {
	step := Step{Bias: none, Radius: none, Activation: from.Activation, Size: from.Size, Tableau: from.Tableau}
	var err error
	if step.Filter, err = s.addFilter(from.Filter); err != nil {
		return Step{}, err
	}
	if from.Bias != nil {
		if step.Bias, err = s.addWhole(from.Bias); err != nil {
			return Step{}, err
		}
	}
	switch {
	case from.Radius == nil:
	case from.Radius.Shape() == backend.Vector(from.Radius.Shape().C):
		step.Radius, err = s.addWhole(from.Radius)
	default:
		step.Radius, err = s.addCut(cutting{of: from.Radius})
	}
	return step, err
}

func (s *spreading) addFilter(from backend.Filter) (int, error) {
	f, err := s.device.own(from)
	if err != nil {
		return none, err
	}
	return s.add(f, func() (Array, error) { return f.weights, nil })
}

// addCut adds an array of which every piece needs a part.
func (s *spreading) addCut(c cutting) (int, error) {
	i, err := s.add(c, func() (Array, error) { return Array{}, nil })
	s.cuts[i] = c
	return i, err
}

// addWhole adds an array that every piece needs whole.
func (s *spreading) addWhole(b backend.Buffer) (int, error) {
	return s.add(b, func() (Array, error) { return cut(s.device.Host, b, b.Shape().Whole()) })
}

// add adds what an object is, once.
func (s *spreading) add(object any, array func() (Array, error)) (int, error) {
	if i, ok := s.known[object]; ok {
		return i, nil
	}
	a, err := array()
	if err != nil {
		return 0, err
	}
	s.job.Arrays = append(s.job.Arrays, a)
	s.known[object] = len(s.job.Arrays) - 1
	return s.known[object], nil
}

// said is what the goroutine of a piece says.
type said struct {
	piece    int
	fraction float64
	result   []float32
	err      error
	ended    bool
}

// run has the pieces computed. All that is said to the caller's context, and all that is written,
// is of the caller's goroutine.
func (s *spreading) run(ctx context.Context) error {
	says := make(chan said)
	var failed atomic.Bool
	for i := range s.pieces {
		go func() {
			result, err := s.do(ctx, i, &failed, func(fraction float64) { says <- said{piece: i, fraction: fraction} })
			says <- said{piece: i, fraction: 1, result: result, err: err, ended: true}
		}()
	}
	total, done := 0.0, 0.0
	fractions := make([]float64, len(s.pieces))
	for _, r := range s.pieces {
		total += area(r)
	}
	var first error
	for left := len(s.pieces); left > 0; {
		e := <-says
		if e.ended {
			left--
		}
		if e.err == nil && e.ended && first == nil {
			e.err = s.put(s.pieces[e.piece], e.result)
		}
		if first == nil && e.err != nil {
			first = e.err
			failed.Store(true)
		}
		if first == nil && e.fraction > fractions[e.piece] {
			done += (e.fraction - fractions[e.piece]) * area(s.pieces[e.piece])
			fractions[e.piece] = e.fraction
			backend.ReportProgress(ctx, min(1, done/total))
		}
	}
	return first
}

// do has one piece computed, unless another has failed.
func (s *spreading) do(ctx context.Context, i int, failed *atomic.Bool, progress func(float64)) ([]float32, error) {
	var worker Worker
	select {
	case worker = <-s.device.workers:
	case <-ctx.Done(): // while another operation has all workers
		return nil, ctx.Err()
	}
	defer func() { s.device.workers <- worker }()
	if failed.Load() {
		return nil, nil
	}
	region := s.pieces[i]
	frame := s.reach(region)
	frame.Y0 -= frame.Y0 % s.grid // keeps the grid where it is in the whole image
	frame.X0 -= frame.X0 % s.grid
	job := s.job
	job.Arrays = append([]Array(nil), s.job.Arrays...)
	y, x := frame.Y0>>s.halvings, frame.X0>>s.halvings
	job.Inside = backend.Region{Y0: region.Y0 - y, Y1: region.Y1 - y, X0: region.X0 - x, X1: region.X1 - x}
	job.Channels = s.dst.Shape().C
	for k, c := range s.cuts {
		var err error
		if job.Arrays[k], err = cut(s.device.Host, c.of, c.region(frame)); err != nil {
			return nil, err
		}
	}
	// A worker that says something late must not wait for somebody to hear it.
	var lock sync.Mutex
	over := false
	defer func() {
		lock.Lock()
		over = true
		lock.Unlock()
	}()
	result, err := worker.Do(ctx, &job, func(fraction float64) {
		lock.Lock()
		defer lock.Unlock()
		if !over {
			progress(fraction)
		}
	})
	if shape := s.shapeOf(region); err == nil && len(result) != shape.Len() {
		err = fmt.Errorf("spread: a worker returned %d numbers, must be %v", len(result), shape)
	}
	return result, err
}

// shapeOf is that of the result of a piece.
func (s *spreading) shapeOf(r backend.Region) backend.Shape {
	shape := s.dst.Shape()
	shape.H, shape.W = r.Size()
	return shape
}

// put writes the result of a piece.
func (s *spreading) put(r backend.Region, result []float32) error {
	part, err := s.device.Wrap(s.shapeOf(r), result)
	if err != nil {
		return err
	}
	defer part.Free()
	return s.device.CopyRegion(s.dst, s.y+r.Y0, s.x+r.X0, part, part.Shape().Whole())
}
