package spread_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/spread"
)

// local is a worker with a device of its own, which gets its jobs as a message would bring them.
type local struct {
	dev  *cpu.Device
	jobs *atomic.Int64
	fail error
}

func (l local) Do(ctx context.Context, j *spread.Job, progress func(float64)) ([]float32, error) {
	l.jobs.Add(1)
	if l.fail != nil {
		return nil, l.fail
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	var sent spread.Job
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, err
	}
	for i := range sent.Arrays {
		sent.Arrays[i].Data = slices.Clone(j.Arrays[i].Data)
	}
	told, free := backend.WithProgress(ctx, func(p backend.Progress) error { progress(p.Fraction); return nil })
	defer free()
	return sent.Run(asking{told, ctx}, l.dev)
}

// asking is a context that asks the one before it, too: those of the compliance suite end when they are asked, without
// a channel.
type asking struct {
	context.Context
	before context.Context
}

func (a asking) Err() error { return cmp.Or(a.before.Err(), a.Context.Err()) }

// open returns a device that spreads all that it can, and the number of jobs so far.
func open(t require.TestingT, workers int, fail error, options ...spread.Option) (*spread.Device, *atomic.Int64) {
	var jobs atomic.Int64
	var list []spread.Worker
	for range workers {
		list = append(list, local{cputest.Open(t, cpu.Threads(1)), &jobs, fail})
	}
	return spread.New(cputest.Open(t, cpu.Threads(1)), list, options...), &jobs
}

func TestCompliance(t *testing.T) {
	var all atomic.Int64
	open := func(t testing.TB) backend.Device {
		d, jobs := open(t, 3, nil, spread.MinWork(0))
		t.Cleanup(func() { all.Add(jobs.Load()) })
		return d
	}
	if testing.Short() { // all else is the host's; go test ./... has it
		backendtest.RunOnly(t, open, "Description", "NewFilter", "UpdateFilter", "Convolve", "ConvolveAdjoint", "AddAdjoint", "ConvolutionGrid",
			"GradientFlow", "Concurrency")
	} else {
		backendtest.Run(t, open, backendtest.Operations()...)
	}
	require.Positive(t, all.Load(), "the work was spread")
}

// However many workers there are, the bits are those of the host alone.
func TestSameBitsAsTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through all cases of the suite once more; run it without -short")
	}
	backendtest.SameBits(t,
		func(t testing.TB) backend.Device { return cputest.Open(t, cpu.Threads(1)) },
		func(t testing.TB) backend.Device {
			d, _ := open(t, 5, nil, spread.MinWork(0))
			return d
		})
}

// flow is a gradient flow that is worth spreading, on a device.
func flow(t *testing.T, d *spread.Device, ctx context.Context) (result []float32, err error) {
	t.Helper()
	const channels, hidden, h, w = 3, 8, 40, 56
	upload := func(s backend.Shape, scale float32) backend.Buffer {
		b, err := d.Alloc(s)
		require.NoError(t, err)
		data := make([]float32, s.Len())
		for i := range data {
			data[i] = scale * float32(i%7-3)
		}
		require.NoError(t, d.Upload(b, data))
		return b
	}
	f, err := d.NewFilter(upload(backend.Shape{N: hidden, C: channels, H: 3, W: 3}, 0.05))
	require.NoError(t, err)
	src, dst := upload(backend.Image(channels, h, w), 0.1), upload(backend.Image(channels, h, w), 0)
	steps := []backend.FlowStep{{Filter: f, Size: 0.5}, {Filter: f, Size: 0.25}}
	if err := d.GradientFlow(ctx, dst, src, src.Shape().Whole(), steps); err != nil {
		return nil, err
	}
	result = make([]float32, src.Shape().Len())
	require.NoError(t, d.Download(result, dst))
	return result, nil
}

func TestProgressRises(t *testing.T) {
	d, jobs := open(t, 3, nil, spread.MinWork(0))
	var told []float64
	ctx, free := backend.WithProgress(t.Context(), func(p backend.Progress) error { told = append(told, p.Fraction); return nil })
	defer free()
	_, err := flow(t, d, ctx)
	require.NoError(t, err)
	require.EqualValues(t, 3, jobs.Load())
	require.GreaterOrEqual(t, len(told), 3)
	require.True(t, slices.IsSorted(told))
	require.InDelta(t, 1, told[len(told)-1], 1e-12)
}

func TestAFailureOfAWorkerIsReported(t *testing.T) {
	gone := errors.New("the worker is gone")
	d, _ := open(t, 2, gone, spread.MinWork(0))
	_, err := flow(t, d, t.Context())
	require.ErrorIs(t, err, gone)
	_, err = flow(t, d, t.Context())
	require.ErrorIs(t, err, gone, "and no worker is lost by it")
}

// busy is a worker that keeps its job until its context ends or somebody lets it go.
type busy struct{ began, letGo chan struct{} }

func (b busy) Do(ctx context.Context, j *spread.Job, _ func(float64)) ([]float32, error) {
	b.began <- struct{}{}
	select {
	case <-b.letGo:
		return nil, errors.New("let go")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Whose context ends while another operation has the only worker does not wait for it.
func TestWaitingForAWorkerEndsWithTheContext(t *testing.T) {
	w := busy{make(chan struct{}), make(chan struct{})}
	d := spread.New(cputest.Open(t, cpu.Threads(1)), []spread.Worker{w}, spread.MinWork(0))
	defer d.Close()
	first := make(chan error)
	go func() {
		_, err := flow(t, d, t.Context())
		first <- err
	}()
	<-w.began
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error)
	go func() {
		_, err := flow(t, d, ctx)
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("the only worker is busy, and the second operation ended: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	require.ErrorIs(t, <-second, context.Canceled)
	close(w.letGo)
	require.ErrorContains(t, <-first, "let go")
}

func TestLittleWorkIsTheHosts(t *testing.T) {
	d, jobs := open(t, 2, nil)
	_, err := flow(t, d, t.Context())
	require.NoError(t, err)
	require.Zero(t, jobs.Load())
}

func TestJobsThatAreWrong(t *testing.T) {
	source := spread.Array{Shape: backend.Image(1, 2, 2), Data: make([]float32, 4)}
	filter := spread.Array{Shape: backend.Shape{N: 1, C: 1, H: 1, W: 1}, Data: []float32{1}}
	whole := source.Shape.Whole()
	layer := spread.Step{Filter: 1, Bias: -1, Radius: -1}
	right := spread.Job{Arrays: []spread.Array{source, filter}, Inside: whole, Channels: 1, Layer: layer}
	dev := cputest.Open(t)
	result, err := right.Run(t.Context(), dev)
	require.NoError(t, err)
	require.Len(t, result, 4)
	for name, change := range map[string]func(j *spread.Job){
		"no array":      func(j *spread.Job) { j.Arrays = nil },
		"no filter":     func(j *spread.Job) { j.Layer.Filter = -1 },
		"index":         func(j *spread.Job) { j.Layer.Bias = 2 },
		"numbers":       func(j *spread.Job) { j.Arrays = []spread.Array{source, {Shape: filter.Shape}} },
		"empty shape":   func(j *spread.Job) { j.Arrays = []spread.Array{{}, filter} },
		"outside":       func(j *spread.Job) { j.Inside.Y1 = 3 },
		"channels":      func(j *spread.Job) { j.Channels = 2 },
		"flow's filter": func(j *spread.Job) { j.Flow = []spread.Step{{Filter: 7, Bias: -1, Radius: -1}} },
	} {
		wrong := right
		change(&wrong)
		_, err := wrong.Run(t.Context(), dev)
		require.Error(t, err, name)
	}
}
