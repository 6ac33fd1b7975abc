//go:build cuda && cgo && (amd64 || arm64)

package driver

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"
)

//go:embed testdata/*.ptx
var probes embed.FS

// wantDevice is set where a device must be there, be it the fake one: then its absence
// fails, and nothing is skipped.
const wantDevice = "IMAGING_WANT_CUDA"

// otherPlaces names the folders where the driver library is looked for beside the loader's, to
// test that.
const otherPlaces = "IMAGING_CUDA_PLACES"

// TestMain checks at the end that the tests left nothing on any GPU.
func TestMain(m *testing.M) {
	if list := os.Getenv(otherPlaces); list != "" {
		places = filepath.SplitList(list)
	}
	status := m.Run()
	if gpus, err := List(); err == nil && status == 0 {
		for _, c := range gpus {
			dev, err := cu.GetDevice(c.Ordinal)
			if err == nil {
				var active int
				if _, active, err = dev.PrimaryCtxState(); err == nil && active != 0 {
					err = errors.New("a Device was not closed")
				}
			}
			if err != nil {
				fmt.Fprintf(os.Stderr, "GPU %d: %v\n", c.Ordinal, err)
				status = 1
			}
		}
	}
	os.Exit(status)
}

// open opens a GPU, and checks at the end of the test that its memory is as it was.
func open(t testing.TB, ordinal int) Device {
	d, err := Open(ordinal)
	if errors.Is(err, ErrNoDriver) && os.Getenv(wantDevice) == "" {
		t.Skipf("no CUDA device here (bash .ci/cuda builds a fake one): %v", err)
	}
	require.NoError(t, err)
	before, _, err := d.MemoryInfo()
	require.NoError(t, err)
	t.Cleanup(func() {
		if !t.Failed() && isFake(d) {
			after, _, err := d.MemoryInfo()
			if !errors.Is(err, ErrBroken) && !errors.Is(err, ErrClosed) {
				require.NoError(t, err)
				require.Equal(t, before, after, "free memory")
			}
		}
		if err := d.Close(); err != nil {
			require.ErrorIs(t, err, ErrBroken)
		}
		require.NoError(t, d.Close(), "a second time")
	})
	return d
}

// runsPTX tells whether a GPU is the fake one that runs PTX and looks at each access.
func runsPTX(d Device) bool { return isFake(d) && strings.HasSuffix(d.Properties().Name, "PTX") }

func isFake(d Device) bool { return strings.HasPrefix(d.Properties().Name, "Fake") }

// onFakesOnly skips what makes mistakes on the fake GPUs' second, which a machine with real ones may not have, and whose
// context would stay lost.
func onFakesOnly(t *testing.T) { fake(t, 0) }

// fake opens the fake GPU, for mistakes after which a real one needs a new process.
func fake(t *testing.T, ordinal int) Device {
	d := open(t, ordinal)
	if !isFake(d) {
		t.Skipf("a mistake that is made on the fake device only: %s stays lost after it", d.Properties().Name)
	}
	return d
}

// bench is what most tests need: a stream, and the kernels of testdata/probe.cu.
type bench struct {
	t      testing.TB
	d      Device
	s      Stream
	module Module
}

func newBench(t testing.TB, d Device) *bench {
	file := "testdata/probe.sm_70.ptx"
	if d.Properties().Capability() >= 80 {
		file = "testdata/probe.sm_80.ptx"
	}
	ptx, err := probes.ReadFile(file)
	require.NoError(t, err)
	b := &bench{t: t, d: d}
	b.s, err = d.NewStream()
	require.NoError(t, err)
	b.module, err = d.LoadModule(ptx)
	require.NoError(t, err)
	t.Cleanup(func() {
		err := d.FreeStream(b.s)
		if errors.Is(err, ErrBroken) || errors.Is(err, ErrClosed) {
			return
		}
		require.NoError(t, err)
		require.NoError(t, d.UnloadModule(b.module))
	})
	return b
}

func (b *bench) kernel(name string) *Function {
	f, err := b.d.Function(b.module, name)
	require.NoError(b.t, err)
	return f
}

func (b *bench) alloc(floats int) Pointer {
	p, err := b.d.Alloc(4 * int64(floats))
	require.NoError(b.t, err)
	b.t.Cleanup(func() {
		if err := b.d.Free(p); !errors.Is(err, ErrBroken) && !errors.Is(err, ErrClosed) {
			require.NoError(b.t, err)
		}
	})
	return p
}

func (b *bench) host(floats int) HostMemory {
	m, err := b.d.AllocHost(4 * int64(floats))
	require.NoError(b.t, err)
	b.t.Cleanup(func() {
		if err := b.d.FreeHost(m); !errors.Is(err, ErrBroken) && !errors.Is(err, ErrClosed) {
			require.NoError(b.t, err)
		}
	})
	return m
}

// up puts numbers on the GPU.
func (b *bench) up(x []float32) Pointer {
	p, m := b.alloc(len(x)), b.host(len(x))
	copy(m.Floats(), x)
	require.NoError(b.t, b.d.CopyToDevice(b.s, p, m, 0, 4*int64(len(x))))
	require.NoError(b.t, b.d.Synchronize(b.s))
	return p
}

// down gets them back.
func (b *bench) down(p Pointer, n int) []float32 {
	m := b.host(n)
	require.NoError(b.t, b.d.CopyToHost(b.s, m, 0, p, 4*int64(n)))
	require.NoError(b.t, b.d.Synchronize(b.s))
	return append([]float32(nil), m.Floats()...)
}

func (b *bench) launch(name string, blocks, threads, shared int, args ...Arg) {
	require.NoError(b.t, b.d.Launch(b.s, b.kernel(name), Dim{X: blocks}, Dim{X: threads}, shared, args...))
}

func numbers(n int) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// Without a driver library the program runs, and says what is missing. With one, this is
// the test that it works at all.
func TestListSaysWhatThereIs(t *testing.T) {
	gpus, err := List()
	if err != nil {
		require.Empty(t, os.Getenv(wantDevice), "%v", err)
		require.ErrorIs(t, err, ErrNoDriver)
		require.ErrorContains(t, err, "libcuda.so.1")
		_, err = Open(0)
		require.ErrorIs(t, err, ErrNoDriver)
		return
	}
	require.NotEmpty(t, gpus)
	for i, c := range gpus {
		require.Equal(t, i, c.Ordinal)
		require.NotEmpty(t, c.Name)
		require.GreaterOrEqual(t, c.Capability(), 50)
		require.Positive(t, c.Memory)
		require.Positive(t, c.Multiprocessors)
		require.GreaterOrEqual(t, c.SharedPerBlockOptIn, c.SharedPerBlock)
		require.GreaterOrEqual(t, c.DriverVersion, oldestDriver)
	}
	for _, ordinal := range []int{-1, len(gpus), math.MaxInt} {
		_, err := Open(ordinal)
		require.ErrorIs(t, err, ErrNoDevice)
	}
}

// A library in one of the places that does not work is what the error tells of; .ci/cuda lets
// one be found there that does.
func TestBrokenLibrariesAreToldOf(t *testing.T) {
	before := places
	defer func() { places = before }()
	folder := t.TempDir()
	places = []string{t.TempDir(), folder}
	require.NoError(t, os.WriteFile(filepath.Join(folder, library), []byte("no library"), 0o644))
	if _, err := find(); err != nil { // else the loader knew of one
		require.ErrorIs(t, err, ErrNoDriver)
		require.ErrorContains(t, err, filepath.Join(folder, library))
	} else {
		_, err := List()
		require.NoError(t, err)
	}
	places = nil
	if _, err := find(); err != nil {
		require.ErrorIs(t, err, ErrNoDriver)
		require.ErrorContains(t, err, library)
		require.NotContains(t, err.Error(), folder)
	}
}

func TestCopiesAndFills(t *testing.T) {
	b := newBench(t, open(t, 0))
	x := numbers(1000)
	p := b.up(x)
	q := b.alloc(1000)
	require.NoError(t, b.d.CopyOnDevice(b.s, q, p, 4000))
	require.NoError(t, b.d.Fill(b.s, q+40, math.Float32bits(7), 5))
	want := append([]float32(nil), x...)
	for i := 10; i < 15; i++ {
		want[i] = 7
	}
	require.Equal(t, want, b.down(q, 1000))
	require.NoError(t, b.d.Fill(b.s, q, 0, 0))

	m := b.host(10)
	require.Len(t, m.Bytes(), 40)
	for i := range m.Floats() {
		m.Floats()[i] = float32(i)
	}
	require.NoError(t, b.d.CopyToHost(b.s, m, 8, q, 12))
	require.NoError(t, b.d.Synchronize(b.s))
	require.Equal(t, append([]float32{0, 1, want[0], want[1], want[2]}, 5, 6, 7, 8, 9), m.Floats())
}

func TestKernelsComputeWhatTheySay(t *testing.T) {
	b := newBench(t, open(t, 0))
	x, y := numbers(1000), numbers(1001)[:1000]
	px, py := b.up(x), b.up(y)

	b.launch("saxpy", 4, 256, 0, Ptr(py), Ptr(px), Float(-0.5), Int(999))
	got := b.down(py, 1000)
	for i := range got {
		want := float32(math.FMA(-0.5, float64(x[i]), float64(y[i])))
		if i == 999 {
			want = y[i]
		}
		require.Equal(t, want, got[i])
	}

	to := b.alloc(16)
	b.launch("arguments", 1, 32, 0, Ptr(to), Int(-3), Arg(4e9), Long(-5e9), Float(0.25), Arg(math.Float64bits(math.Pi)))
	raw := b.down(to, 10)
	for i, want := range []float64{-3, 4e9, -5e9, 0.25, math.Pi} {
		bits := uint64(math.Float32bits(raw[2*i])) | uint64(math.Float32bits(raw[2*i+1]))<<32
		require.Equal(t, want, math.Float64frombits(bits))
	}

	ints := make([]float32, 2048)
	for i := range ints {
		ints[i] = float32(i % 97)
	}
	sums := b.alloc(8)
	b.launch("block_sum", 8, 256, 1024, Ptr(sums), Ptr(b.up(ints)))
	for k, got := range b.down(sums, 8) {
		want := float32(0)
		for _, v := range ints[256*k : 256*(k+1)] {
			want += v // integers, and so exact in any order
		}
		require.Equal(t, want, got)
	}

	counter := b.alloc(1)
	require.NoError(t, b.d.Fill(b.s, counter, 0, 1))
	b.launch("count", 100, 64, 0, Ptr(counter))
	require.Equal(t, uint32(5050), math.Float32bits(b.down(counter, 1)[0]))
}

func TestLanesExchangeNumbers(t *testing.T) {
	b := newBench(t, open(t, 0))
	x := make([]float32, 64)
	for i := range x {
		x[i] = float32(i * i)
	}
	to := b.alloc(5 * 64)
	b.launch("lanes", 1, 64, 0, Ptr(to), Ptr(b.up(x)))
	got := b.down(to, 5*64)
	for i := range 64 {
		warp, lane := i/32*32, i%32
		require.Equal(t, x[warp+lane^5], got[i])
		down, up := lane+3, lane-7
		if down > 31 {
			down = lane
		}
		if up < 0 {
			up = lane
		}
		require.Equal(t, x[warp+down], got[64+i])
		require.Equal(t, x[warp+up], got[128+i])
		require.Equal(t, x[warp+9], got[192+i])
		sum := float32(0)
		for _, v := range x[warp : warp+32] {
			sum += v
		}
		require.Equal(t, sum, got[256+i])
	}
}

// The numbers of kernels are those of Go, to the bit, where device.h says so.
func TestArithmeticIsThatOfTheHost(t *testing.T) {
	b := newBench(t, open(t, 0))
	x, y := numbers(4096), numbers(4097)[:4096]
	x[0], y[0] = 1e-30, 1e30 // a subnormal quotient
	x[1], y[1] = 1e30, 1e30
	to := b.alloc(5 * 4096)
	b.launch("rounding", 16, 256, 0, Ptr(to), Ptr(b.up(x)), Ptr(b.up(y)), Int(4096))
	got := b.down(to, 5*4096)
	for i := range x {
		a, c := x[i], y[i]
		abs := math.Abs(float64(a))
		for k, want := range []float32{
			float32(a*c) + a, a / c, float32(math.Sqrt(abs)), float32(math.Sqrt(abs) / float64(c)), float32(math.FMA(float64(a), float64(c), float64(a))),
		} {
			if k == 4 && !math.IsInf(float64(want), 0) {
				// The sum of an exact product and a number, rounded twice, is off by at most one place.
				require.InEpsilon(t, want, got[5*i+k], 2e-7)
				continue
			}
			require.Equal(t, want, got[5*i+k], "%d of %v and %v", k, a, c)
		}
	}
}

func TestHalvesAreTheNearest(t *testing.T) {
	b := newBench(t, open(t, 0))
	x := numbers(3000)
	for i := range x {
		x[i] *= float32(math.Pow(2, float64(i%48-30)))
	}
	x[0], x[1], x[2], x[3], x[4] = 65519, 65520, 0x1p-25, 0x1.8p-24, float32(math.Inf(-1))
	kernels := []string{"halves", "half_pairs"}
	if b.d.Properties().Capability() < 80 {
		kernels = kernels[:1]
	}
	for _, kernel := range kernels {
		to := b.alloc(3000)
		b.launch(kernel, 12, 256, 0, Ptr(to), Ptr(b.up(x)), Int(3000))
		got := b.down(to, 3000)
		for i, v := range x {
			require.Equal(t, nearestHalf(float64(v)), float64(got[i]), "%s: %v", kernel, v)
		}
	}
}

// nearestHalf rounds to a half, ties to even.
func nearestHalf(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) {
		return v
	}
	_, e := math.Frexp(v)
	unit := math.Ldexp(1, max(e-11, -24))
	r := math.RoundToEven(v/unit) * unit
	if math.Abs(r) > 65504 {
		return math.Copysign(math.Inf(1), v)
	}
	return r
}

// Tensor cores multiply exactly, align the products of a group and the sum so far, cut off what
// lies below, and round toward zero: to the bit what the fake driver does (see its tensorcores.cpp),
// and, if the model is right, what an A100 and an H100 do.
func TestMatrixProductsOfAWarp(t *testing.T) {
	b := newBench(t, open(t, 0))
	capability := b.d.Properties().Capability()
	if capability < 80 {
		_, err := b.d.Function(b.module, "multiply_tf32")
		require.ErrorIs(t, err, ErrArgument)
		return
	}
	for _, c := range []struct {
		kernel       string
		k            int
		bytes, least int // of a factor; its least exponent
		places       int // after the binary point
	}{{"multiply_tf32", 8, 4, -126, 10}, {"multiply_f16", 16, 2, -14, 10}, {"multiply_bf16", 16, 2, -126, 7}} {
		group, extra := 16/c.bytes, 1
		if capability >= 90 {
			group, extra = 32/c.bytes, 2
		}
		r := rand.New(rand.NewPCG(2, uint64(c.k)))
		for spread := range 8 { // binary orders of magnitude among the factors
			number := func(places, more int) float32 {
				m := float64(1+r.Uint32N(1<<places)) * math.Ldexp(float64(1-2*r.IntN(2)), r.IntN(spread+more+1)-places)
				return float32(m * float64(min(1, r.IntN(8)))) // and some zeros
			}
			x, y, sums := make([]float32, 16*c.k), make([]float32, 8*c.k), make([]float32, 128)
			for _, v := range [][]float32{x, y} {
				for i := range v {
					v[i] = number(c.places, 0)
				}
			}
			for i := range sums {
				sums[i] = number(23, 4)
			}
			to := b.up(sums)
			b.launch(c.kernel, 1, 32, 0, Ptr(to), Ptr(b.up(x)), Ptr(b.up(y)))
			got := b.down(to, 128)
			for i := range 16 {
				for j := range 8 {
					exact, modelled := float64(sums[i*8+j]), sums[i*8+j]
					for k := 0; k < c.k; k += group {
						products := make([]product, group)
						for n := range products {
							products[n] = product{x[i*c.k+k+n], y[(k+n)*8+j]}
							exact += float64(products[n].a) * float64(products[n].b)
						}
						modelled = tensorSum(modelled, products, c.least, extra)
					}
					scale := math.Ldexp(1, 2*spread+6)
					require.InDelta(t, exact, got[i*8+j], 1e-5*scale, "%s at %d, %d", c.kernel, i, j)
					if isFake(b.d) || capability == 80 || capability == 90 {
						require.Equal(t, modelled, got[i*8+j], "%s at %d, %d: exact %v", c.kernel, i, j, exact)
					}
				}
			}
		}
	}
}

type product struct{ a, b float32 }

// tensorSum adds a group of products to a sum as a tensor core does.
func tensorSum(sum float32, products []product, least, extra int) float32 {
	exponent := func(v float32, least int) int {
		_, e := math.Frexp(float64(v))
		return max(e-1, least)
	}
	const none = math.MinInt
	largest := none
	if sum != 0 {
		largest = exponent(sum, -126)
	}
	for _, p := range products {
		if p.a != 0 && p.b != 0 {
			largest = max(largest, exponent(p.a, least)+exponent(p.b, least))
		}
	}
	if largest == none {
		return 0
	}
	unit := math.Ldexp(1, largest-23-extra)
	total := math.Trunc(float64(sum) / unit)
	for _, p := range products {
		total += math.Trunc(float64(p.a) * float64(p.b) / unit)
	}
	rounded := float32(total * unit)
	if math.Abs(float64(rounded)) > math.Abs(total*unit) {
		rounded = math.Nextafter32(rounded, 0)
	}
	return rounded
}

func TestAsynchronousCopiesArriveWhenWaitedFor(t *testing.T) {
	b := newBench(t, open(t, 0))
	if b.d.Properties().Capability() < 80 {
		return // the kernel is not there, as TestMatrixProductsOfAWarp checks of the others
	}
	x := numbers(256)
	to := b.alloc(256)
	b.launch("copy_asynchronously", 1, 64, 0, Ptr(to), Ptr(b.up(x)), Int(1))
	for i, got := range b.down(to, 256) {
		from := (i + 4) % 256
		want := x[from]
		if from/4%2 == 1 && from%4 >= 2 {
			want = 0 // of which two numbers were asked for
		}
		require.Equal(t, want, got)
	}
	if runsPTX(b.d) {
		require.Error(t, b.wide("copy_asynchronously", Ptr(to), Ptr(b.up(x)), Int(0)), "what was not waited for is read")
	} else if isFake(b.d) {
		b.launch("copy_asynchronously", 1, 64, 0, Ptr(to), Ptr(b.up(x)), Int(0))
		for _, got := range b.down(to, 256) {
			require.True(t, math.IsNaN(float64(got)), "what was not waited for is not there")
		}
	}
}

func TestEventsOrderStreams(t *testing.T) {
	b := newBench(t, open(t, 0))
	other, err := b.d.NewStream()
	require.NoError(t, err)
	e, err := b.d.NewEvent(false)
	require.NoError(t, err)
	first, err := b.d.NewEvent(true)
	require.NoError(t, err)
	last, err := b.d.NewEvent(true)
	require.NoError(t, err)
	done, err := b.d.Done(e)
	require.NoError(t, err)
	require.True(t, done, "an event that was never recorded")
	require.NoError(t, b.d.SynchronizeEvent(e))

	p, q := b.alloc(1000), b.alloc(1000)
	for round := range 50 {
		require.NoError(t, b.d.Record(b.s, first))
		require.NoError(t, b.d.Fill(b.s, p, uint32(round), 1000))
		require.NoError(t, b.d.Record(b.s, e))
		require.NoError(t, b.d.Wait(other, e))
		require.NoError(t, b.d.CopyOnDevice(other, q, p, 4000))
		require.NoError(t, b.d.Record(other, last))
		require.NoError(t, b.d.Wait(b.s, last))
		got := b.down(q, 1000)
		require.Equal(t, uint32(round), math.Float32bits(got[999]))
		require.NoError(t, b.d.SynchronizeEvent(last))
		for {
			if done, err := b.d.Done(last); done || err != nil {
				require.NoError(t, err)
				break
			}
		}
		between, err := b.d.Elapsed(first, last)
		require.NoError(t, err)
		require.GreaterOrEqual(t, between, 0.0)
	}
	_, err = b.d.Elapsed(e, last)
	require.Error(t, err, "an event without timing")
	for _, x := range []Event{e, first, last} {
		require.NoError(t, b.d.FreeEvent(x))
	}
	require.NoError(t, b.d.FreeStream(other))
}

// On the fake GPU work is late: what is read too early is not there.
func TestTheFakeDeviceIsLate(t *testing.T) {
	b := newBench(t, fake(t, 0))
	m := b.host(1)
	p := b.alloc(1)
	early := 0
	for range 64 {
		m.Floats()[0] = -1
		require.NoError(t, b.d.Fill(b.s, p, 0, 1))
		require.NoError(t, b.d.CopyToHost(b.s, m, 0, p, 4))
		if m.Floats()[0] == -1 {
			early++
		}
		require.NoError(t, b.d.Synchronize(b.s))
		require.Equal(t, float32(0), m.Floats()[0])
	}
	require.Positive(t, early)
}

func TestGraphsRepeatWork(t *testing.T) {
	b := newBench(t, open(t, 0))
	x := numbers(256)
	px, py := b.up(x), b.alloc(256)
	m := b.host(256)
	saxpy := b.kernel("saxpy")

	require.NoError(t, b.d.BeginCapture(b.s))
	require.NoError(t, b.d.Fill(b.s, py, 0, 256))
	for range 3 {
		require.NoError(t, b.d.Launch(b.s, saxpy, Dim{X: 1}, Dim{X: 256}, 0, Ptr(py), Ptr(px), Float(2), Int(256)))
	}
	require.NoError(t, b.d.CopyToHost(b.s, m, 0, py, 1024))
	// Others may go on meanwhile, from any thread.
	var wait sync.WaitGroup
	wait.Go(func() {
		p, err := b.d.Alloc(100)
		require.NoError(t, err)
		require.NoError(t, b.d.Free(p))
	})
	wait.Wait()
	g, err := b.d.EndCapture(b.s)
	require.NoError(t, err)
	for range 3 {
		clear(m.Floats())
		require.NoError(t, b.d.LaunchGraph(b.s, g))
		require.NoError(t, b.d.Synchronize(b.s))
		for i, v := range x {
			require.Equal(t, 6*v, m.Floats()[i])
		}
	}
	require.NoError(t, b.d.FreeGraph(g))

	// Two streams in one graph, and a capture that goes wrong.
	other, err := b.d.NewStream()
	require.NoError(t, err)
	fork, err := b.d.NewEvent(false)
	require.NoError(t, err)
	require.NoError(t, b.d.BeginCapture(b.s))
	require.NoError(t, b.d.Record(b.s, fork))
	require.NoError(t, b.d.Wait(other, fork))
	require.NoError(t, b.d.Fill(other, py, 0, 256))
	require.NoError(t, b.d.Record(other, fork))
	require.NoError(t, b.d.Wait(b.s, fork))
	g, err = b.d.EndCapture(b.s)
	require.NoError(t, err)
	require.NoError(t, b.d.LaunchGraph(b.s, g))
	require.NoError(t, b.d.FreeGraph(g))
	require.Equal(t, make([]float32, 256), b.down(py, 256))

	require.NoError(t, b.d.BeginCapture(b.s))
	require.Error(t, b.d.Synchronize(b.s), "a wait while recording")
	_, err = b.d.EndCapture(b.s)
	require.Error(t, err)
	require.NoError(t, b.d.Synchronize(b.s), "the stream works again")
	if isFake(b.d) { // what a driver does where nothing is being recorded is not documented
		_, err = b.d.EndCapture(b.s)
		require.Error(t, err)
	}
	require.NoError(t, b.d.FreeEvent(fork))
	require.NoError(t, b.d.FreeStream(other))
}

func TestOutOfMemoryIsAnErrorOfItsOwn(t *testing.T) {
	d := open(t, 0)
	_, total, err := d.MemoryInfo()
	require.NoError(t, err)
	_, err = d.Alloc(2 * total)
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.NotErrorIs(t, err, ErrBroken)
	p, err := d.Alloc(1 << 20)
	require.NoError(t, err, "and the GPU works on")
	require.NoError(t, d.Free(p))
	require.NoError(t, d.Free(0))
	if isFake(d) {
		_, err = d.AllocHost(2 * total)
		require.ErrorIs(t, err, ErrOutOfMemory)
	}
}

func TestWrongCallsAreErrors(t *testing.T) {
	b := newBench(t, open(t, 0))
	p, m := b.alloc(64), b.host(64)
	saxpy := b.kernel("saxpy")
	args := []Arg{Ptr(p), Ptr(p), Float(1), Int(64)}
	one := Dim{X: 1}

	_, err := b.d.Alloc(0)
	require.ErrorIs(t, err, ErrArgument)
	_, err = b.d.AllocHost(-1)
	require.ErrorIs(t, err, ErrArgument)
	require.ErrorIs(t, b.d.FreeHost(nil), ErrArgument)
	for _, part := range [][2]int64{{-4, 4}, {0, 257}, {256, 1}, {4, -1}, {math.MaxInt64, math.MaxInt64}, {1, math.MaxInt64}} {
		require.ErrorIs(t, b.d.CopyToDevice(b.s, p, m, part[0], part[1]), ErrArgument)
		require.ErrorIs(t, b.d.CopyToHost(b.s, m, part[0], p, part[1]), ErrArgument)
	}
	require.ErrorIs(t, b.d.CopyToDevice(b.s, p, nil, 0, 4), ErrArgument)

	require.ErrorIs(t, b.d.Launch(b.s, saxpy, one, one, 0, args[:3]...), ErrArgument)
	require.ErrorIs(t, b.d.Launch(b.s, saxpy, one, one, 0, append(args, 0)...), ErrArgument)
	require.ErrorIs(t, b.d.Launch(b.s, nil, one, one, 0), ErrArgument)
	for _, size := range [][2]Dim{
		{{X: -1}, one}, {one, {X: -1}}, {{X: 1, Y: 65536}, one}, {{X: 1, Y: 1, Z: 65536}, one}, {{X: math.MaxInt}, one},
		{one, {X: 257}}, {one, {X: 16, Y: 17}}, {one, {X: 1, Y: 1, Z: 65}}, {one, {X: math.MaxInt, Y: math.MaxInt}},
	} {
		require.ErrorIs(t, b.d.Launch(b.s, saxpy, size[0], size[1], 0, args...), ErrArgument, "%v", size)
	}
	require.ErrorIs(t, b.d.Launch(b.s, saxpy, one, one, -1, args...), ErrArgument)
	require.ErrorIs(t, b.d.SetDynamicShared(saxpy, -1), ErrArgument)
	require.Error(t, b.d.SetDynamicShared(saxpy, math.MaxInt32))

	_, err = b.d.Function(b.module, "nothing")
	require.ErrorIs(t, err, ErrArgument)
	_, err = b.d.LoadModule([]byte("no PTX"))
	require.ErrorIs(t, err, ErrArgument)
	_, err = b.d.LoadModule(nil)
	require.ErrorIs(t, err, ErrArgument)
	for head, why := range map[string]string{
		"": "no .version", ".version 99.0\n.target sm_70\n.address_size 64\n": "the driver is older than the kernels",
	} {
		_, err = b.d.LoadModule([]byte(head + ".visible .entry none() { ret; }\n"))
		var e *Error
		require.ErrorAs(t, err, &e)
		if isFake(b.d) { // which code and which words a driver has for it is not documented
			require.ErrorContains(t, err, why)
		}
	}

	second := newBench(t, open(t, 0)) // the same GPU, opened again
	require.ErrorIs(t, second.d.Launch(second.s, saxpy, one, one, 0, args...), ErrArgument, "a kernel of another Device")
	require.NoError(t, b.d.Synchronize(b.s), "none of this did any harm")
}

func TestSharedMemoryBeyondTheDefaultIsAskedFor(t *testing.T) {
	b := newBench(t, open(t, 0))
	f := b.kernel("block_sum")
	require.Equal(t, 1024, f.Shared)
	require.Equal(t, 2, f.Parameters)
	require.GreaterOrEqual(t, f.MaxThreads, 256)
	p := b.properties()
	if p.SharedPerBlockOptIn <= p.SharedPerBlock {
		t.Skipf("%s has no more shared memory than the default", p.Name)
	}
	x, sum := b.up(numbers(256)), b.alloc(1)
	launch := func(shared int) error {
		return b.d.Launch(b.s, f, Dim{}, Dim{X: 256}, shared, Ptr(sum), Ptr(x))
	}
	require.Error(t, launch(p.SharedPerBlockOptIn-1024))
	require.NoError(t, b.d.SetDynamicShared(f, p.SharedPerBlockOptIn-1024))
	require.NoError(t, launch(p.SharedPerBlockOptIn-1024))
	require.NoError(t, b.d.Synchronize(b.s))
	blocks, err := b.d.BlocksPerMultiprocessor(f, 256, p.SharedPerBlockOptIn-1024)
	require.NoError(t, err)
	require.Positive(t, blocks)
	more, err := b.d.BlocksPerMultiprocessor(f, 256, 1024)
	require.NoError(t, err)
	require.GreaterOrEqual(t, more, blocks)
}

func (b *bench) properties() Properties { return b.d.Properties() }

func TestEverythingIsClosedAfterClose(t *testing.T) {
	d := open(t, 0)
	b := newBench(t, d)
	f := b.kernel("saxpy")
	require.NoError(t, d.UnloadModule(b.module))
	require.NoError(t, d.FreeStream(b.s))
	require.NoError(t, d.Close())
	_, err := d.Alloc(4)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, d.Launch(b.s, f, Dim{}, Dim{}, 0, 0, 0, 0, 0), ErrClosed)
	require.ErrorIs(t, d.LaunchGraph(b.s, 0), ErrClosed)
	require.ErrorIs(t, d.Synchronize(b.s), ErrClosed)
	_, _, err = d.MemoryInfo()
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, d.Close())
	require.Equal(t, 0, d.Properties().Ordinal)
}

// A Device that is closed waits for its own work, and leaves alone what another one of the same
// GPU records meanwhile.
func TestClosingWaitsForItsOwnStreams(t *testing.T) {
	b := newBench(t, open(t, 0))
	p, m := b.alloc(64), b.host(64)
	second, err := Open(0)
	require.NoError(t, err)
	s, err := second.NewStream()
	require.NoError(t, err)
	freed, err := second.NewStream()
	require.NoError(t, err)
	require.NoError(t, second.FreeStream(freed))
	q, err := second.Alloc(256)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.d.Free(q)) }()
	defer func() { require.NoError(t, b.d.FreeStream(s)) }()

	require.NoError(t, b.d.BeginCapture(b.s))
	require.NoError(t, b.d.Fill(b.s, p, math.Float32bits(3), 64))
	require.NoError(t, second.Fill(s, q, math.Float32bits(5), 64))
	require.NoError(t, second.CopyToHost(s, m, 0, q, 256))
	require.NoError(t, second.Close())
	require.Equal(t, float32(5), m.Floats()[63], "its work is done")
	require.NoError(t, second.Close(), "a second time")

	require.NoError(t, b.d.CopyToHost(b.s, m, 0, p, 256))
	g, err := b.d.EndCapture(b.s)
	require.NoError(t, err)
	require.NoError(t, b.d.LaunchGraph(b.s, g))
	require.NoError(t, b.d.Synchronize(b.s))
	require.Equal(t, float32(3), m.Floats()[63])
	require.NoError(t, b.d.FreeGraph(g))
}

// Several goroutines, each with a stream, on every GPU at once.
func TestGoroutinesAndGPUs(t *testing.T) {
	gpus, err := List()
	if err != nil {
		open(t, 0) // which says what to do about it
	}
	var wait sync.WaitGroup
	for i := range gpus {
		d := open(t, i)
		for k := range 4 {
			b := newBench(t, d)
			x := numbers(1000 + k)
			px, py := b.up(x), b.alloc(len(x))
			m := b.host(len(x))
			saxpy := b.kernel("saxpy")
			wait.Go(func() {
				for round := range 20 {
					err := errors.Join(
						d.Fill(b.s, py, 0, int64(len(x))),
						d.Launch(b.s, saxpy, Dim{X: 4}, Dim{X: 256}, 0, Ptr(py), Ptr(px), Float(float32(round)), Int(int32(len(x)))),
						d.Launch(b.s, saxpy, Dim{X: 4}, Dim{X: 256}, 0, Ptr(py), Ptr(px), Float(1), Int(int32(len(x)))),
						d.CopyToHost(b.s, m, 0, py, 4*int64(len(x))),
						d.Synchronize(b.s))
					if err != nil {
						t.Error(err)
						return
					}
					for j, v := range m.Floats() {
						want := float32(math.FMA(1, float64(x[j]), float64(float32(round)*x[j])))
						if v != want {
							t.Errorf("GPU %d, stream %d, round %d: %v, want %v", i, k, round, v, want)
							return
						}
					}
				}
			})
		}
	}
	wait.Wait()
}

// What a kernel must not do is an error, after which the Device only wants to be closed,
// and then the GPU works again.
func TestMistakesOfKernelsAreFound(t *testing.T) {
	onFakesOnly(t)
	for name, c := range map[string]struct {
		run  func(b *bench) error
		code int
	}{
		"a write far outside": {func(b *bench) error {
			return b.one("write_at", 0, Ptr(b.alloc(64)), Long(1<<30))
		}, 700},
		"a write just behind": {func(b *bench) error {
			return b.one("write_at", 0, Ptr(b.alloc(64)), Long(64))
		}, 700},
		"a write just before": {func(b *bench) error {
			p := b.alloc(1024) // a whole page: the page before it cannot be touched
			return b.one("write_at", 0, Ptr(p), Long(-1))
		}, 700},
		"null": {func(b *bench) error {
			return b.one("write_at", 0, Ptr(0), Long(0))
		}, 700},
		"freed memory": {func(b *bench) error {
			p, err := b.d.Alloc(4)
			require.NoError(b.t, err)
			require.NoError(b.t, b.d.Free(p))
			return b.one("write_at", 0, Ptr(p), Long(0))
		}, 700},
		"a vector at an odd address": {func(b *bench) error {
			return b.one("read_four", 0, Ptr(b.alloc(64)), Ptr(b.alloc(64)), Long(1))
		}, 716},
		"a write behind shared memory": {func(b *bench) error {
			return b.one("beyond_shared", 256, Ptr(b.alloc(64)), Int(64))
		}, 700},
		"threads at different barriers": {func(b *bench) error {
			return b.wide("divergent_barrier", Ptr(b.alloc(256)))
		}, 719},
		"a lane that is not there": {func(b *bench) error {
			return b.wide("lonely_lane", Ptr(b.alloc(256)), Ptr(b.up(numbers(256))))
		}, 719},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("mistake", func(t *testing.T) {
				b := newBench(t, fake(t, 1))
				err := c.run(b)
				require.ErrorIs(t, err, ErrBroken)
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, c.code, e.Code)
				_, err = b.d.Alloc(4)
				require.ErrorIs(t, err, ErrBroken, "and so it stays")
			})
			b := newBench(t, fake(t, 1))
			require.NoError(t, b.one("write_at", 0, Ptr(b.alloc(64)), Long(63)))
		})
	}
}

// one runs a kernel with one thread and waits; an error may come from either.
func (b *bench) one(name string, shared int, args ...Arg) error {
	return errors.Join(b.d.Launch(b.s, b.kernel(name), Dim{}, Dim{}, shared, args...), b.d.Synchronize(b.s))
}

func (b *bench) wide(name string, args ...Arg) error {
	return errors.Join(b.d.Launch(b.s, b.kernel(name), Dim{}, Dim{X: 64}, 0, args...), b.d.Synchronize(b.s))
}

// Threads run in an order of their own, so that a missing barrier shows.
func TestAMissingBarrierShows(t *testing.T) {
	b := newBench(t, fake(t, 0))
	to := b.alloc(256)
	if runsPTX(b.d) {
		require.Error(t, b.wide("missing_barrier", Ptr(to)))
		return
	}
	b.launch("missing_barrier", 1, 256, 0, Ptr(to))
	wrong := 0
	for i, got := range b.down(to, 256) {
		if got != float32(255-i) {
			wrong++
			require.True(t, math.IsNaN(float64(got)), "memory of a block begins as NaN")
		}
	}
	require.Positive(t, wrong)
	require.Less(t, wrong, 256)
}

// The fake GPU that runs PTX knows who touched a word of memory before.
func TestRacesAreFound(t *testing.T) {
	onFakesOnly(t)
	for name, run := range map[string]func(b *bench) error{
		"a barrier is missing": func(b *bench) error { return b.wide("missing_barrier", Ptr(b.alloc(256))) },
		"two blocks write": func(b *bench) error {
			return errors.Join(b.d.Launch(b.s, b.kernel("same_place"), Dim{X: 2}, Dim{X: 32}, 0, Ptr(b.alloc(1))), b.d.Synchronize(b.s))
		},
		"one reads, another writes":     func(b *bench) error { return b.wide("reverse", Ptr(b.up(numbers(64)))) },
		"read as constant, and written": func(b *bench) error { return b.wide("broken_promise", Ptr(b.up(numbers(64)))) },
		"shared memory read unwritten":  func(b *bench) error { return b.wide("never_written", Ptr(b.alloc(64)), Int(63)) },
		"an asynchronous copy under way": func(b *bench) error {
			return b.wide("copy_asynchronously", Ptr(b.alloc(256)), Ptr(b.up(numbers(256))), Int(0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake(t, 1))
			if !runsPTX(b.d) || b.d.Properties().Capability() < 80 && strings.Contains(name, "asynchronous") {
				return // the kernels run, but nobody looks, or there is no such kernel
			}
			var e *Error
			require.ErrorAs(t, run(b), &e)
			require.Contains(t, []int{700, 719}, e.Code)
		})
	}
	b := newBench(t, fake(t, 1))
	require.NoError(t, b.wide("never_written", Ptr(b.alloc(64)), Int(64)))
}

func TestTheFakeDeviceFindsWrongCalls(t *testing.T) {
	b := newBench(t, fake(t, 0))
	p, q, m := b.alloc(64), b.alloc(65), b.host(65)
	require.Error(t, b.d.CopyToDevice(b.s, p, m, 0, 260), "a copy to too little memory")
	require.Error(t, b.d.CopyToHost(b.s, m, 0, p+4, 256), "a copy from too little memory")
	require.Error(t, b.d.CopyOnDevice(b.s, q, p, 260))
	require.Error(t, b.d.Fill(b.s, p+4, 0, 64))
	require.Error(t, b.d.Fill(b.s, p+2, 0, 1))
	require.Error(t, b.d.Free(p+4), "no beginning of memory")

	old, err := b.d.Alloc(4)
	require.NoError(t, err)
	require.NoError(t, b.d.Free(old))
	require.Error(t, b.d.Free(old), "a second time")
	gone, err := b.d.AllocHost(4)
	require.NoError(t, err)
	require.NoError(t, b.d.FreeHost(gone))
	require.ErrorIs(t, b.d.FreeHost(gone), ErrArgument)
	require.ErrorIs(t, b.d.CopyToDevice(b.s, p, gone, 0, 4), ErrArgument)

	require.Error(t, b.d.Launch(b.s, b.kernel("block_sum"), Dim{}, Dim{X: 256}, 48<<10, Ptr(p), Ptr(p)), "more shared memory than allowed")
	other := newBench(t, fake(t, 1))
	require.Error(t, other.d.Launch(other.s, other.kernel("write_at"), Dim{}, Dim{}, 0, Ptr(p), Long(0)), "memory of another GPU")
	require.Error(t, other.d.Free(p))
	require.Error(t, other.d.CopyOnDevice(other.s, p, p, 4))
	require.NoError(t, b.d.Synchronize(b.s))
}

func BenchmarkLaunch(b *testing.B) {
	k := newBench(b, open(b, 0))
	f := k.kernel("saxpy")
	p := k.alloc(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := k.d.Launch(k.s, f, Dim{}, Dim{}, 0, Ptr(p), Ptr(p), Float(0), Int(0)); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, k.d.Synchronize(k.s))
}

// BenchmarkThreads runs many threads that meet at barriers.
func BenchmarkThreads(b *testing.B) {
	k := newBench(b, open(b, 0))
	f := k.kernel("block_sum")
	const blocks = 64
	x, sums := k.up(numbers(256*blocks)), k.alloc(blocks)
	for b.Loop() {
		require.NoError(b, k.d.Launch(k.s, f, Dim{X: blocks}, Dim{X: 256}, 1024, Ptr(sums), Ptr(x)))
		require.NoError(b, k.d.Synchronize(k.s))
	}
	b.ReportMetric(float64(b.N)*256*blocks/b.Elapsed().Seconds()/1e6, "Mthreads/s")
}
