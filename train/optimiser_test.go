package train

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func newTestOptimiser(t *testing.T, o Optimiser, parameters []*Parameter) *optimiser {
	dev := refdevice.New(refdevice.Options{})
	m, err := newOptimiser(dev, o, parameters)
	require.NoError(t, err)
	t.Cleanup(func() {
		m.release()
		require.NoError(t, dev.Close())
	})
	return m
}

// TestSGDByHand: two steps with momentum and weight decay.
func TestSGDByHand(t *testing.T) {
	w, b := newParameter("w", true, 1), newParameter("b", false, 1)
	m := newTestOptimiser(t, Optimiser{Name: SGD, Momentum: 0.5, WeightDecay: 0.25}, []*Parameter{w, b})
	w.values[0], b.values[0] = 4, 4
	w.gradient[0], b.gradient[0] = 1, 1
	require.NoError(t, m.step(0, 0.5, 1)) // v = 1 + 0.25·4 = 2, and 1 without decay
	require.Equal(t, []float32{3, 3.5}, []float32{w.values[0], b.values[0]})
	require.NoError(t, m.step(1, 0.5, 1)) // v = 0.5·2 + 1 + 0.75 = 2.75, and 0.5 + 1
	require.Equal(t, []float32{1.625, 2.75}, []float32{w.values[0], b.values[0]})
}

// TestAdamByHand: the first step has the size of the rate, whatever the gradient's; the
// second is computed here from the formulas.
func TestAdamByHand(t *testing.T) {
	o := adamDefaults()
	o.WeightDecay = 0.1
	w, b := newParameter("w", true, 2), newParameter("b", false, 1)
	m := newTestOptimiser(t, o, []*Parameter{w, b})
	w.values[0], w.values[1], b.values[0] = 1, 1, 1
	w.gradient[0], w.gradient[1], b.gradient[0] = 1e-3, -20, 5
	require.NoError(t, m.step(0, 0.01, 1))
	require.InDelta(t, 0.999*1-0.01, w.values[0], 1e-6)
	require.InDelta(t, 0.999*1+0.01, w.values[1], 1e-6)
	require.InDelta(t, 0.99, b.values[0], 1e-6)
	before := float64(b.values[0])
	b.gradient[0] = -1
	require.NoError(t, m.step(1, 0.01, 1))
	first := (0.9*0.1*5 - 0.1*1) / (1 - 0.81)
	second := (0.999*0.001*25 + 0.001*1) / (1 - 0.998001)
	require.InDelta(t, before-0.01*first/math.Sqrt(second), b.values[0], 1e-6)
}

// TestGradientLimit: a gradient that is too long is shortened, another is not.
func TestGradientLimit(t *testing.T) {
	for gradient, want := range map[float32]float32{3: -2, 1: -1} {
		p := newParameter("p", true, 1)
		m := newTestOptimiser(t, Optimiser{Name: SGD, GradientLimit: 2}, []*Parameter{p})
		p.gradient[0] = gradient
		require.NoError(t, m.step(0, 1, gradientNorm(m.parameters)))
		require.Equal(t, want, p.values[0])
	}
	p := newParameter("p", true, 2)
	p.gradient[0], p.gradient[1] = 3, 4
	require.InDelta(t, 5, gradientNorm([]*Parameter{p}), 1e-12)
}

// TestOptimisersFindAMinimum of a badly scaled quadratic.
func TestOptimisersFindAMinimum(t *testing.T) {
	for _, o := range []Optimiser{{Name: SGD, Momentum: 0.9}, adamDefaults()} {
		p := newParameter("p", true, 3)
		m := newTestOptimiser(t, o, []*Parameter{p})
		copy(p.values, []float32{1, -2, 3})
		for i := range 1000 {
			for k, scale := range []float32{1, 5, 20} {
				p.gradient[k] = scale * (p.values[k] - float32(k))
			}
			require.NoError(t, m.step(i, Schedule{Name: Cosine, Maximum: 0.03}.Rate(i, 1000), 0))
		}
		require.InDeltaSlice(t, []float32{0, 1, 2}, p.values, 1e-3, o.Name)
	}
}

func TestSchedules(t *testing.T) {
	at := func(s Schedule, iterations ...int) []float64 {
		var list []float64
		for _, i := range iterations {
			list = append(list, s.Rate(i, 100))
		}
		return list
	}
	const tiny = 1e-12
	require.InDeltaSlice(t, []float64{1, 1, 1}, at(Schedule{Name: Constant, Maximum: 1}, 0, 50, 99), tiny)
	require.InDeltaSlice(t, []float64{0.2, 0.6, 1, 0.5, 0.02}, at(Schedule{Name: PiecewiseLinear, Minimum: 0.2, Maximum: 1}, 0, 25, 50, 75, 99), tiny)
	require.InDeltaSlice(t, []float64{1, 0.6, 0.2}, at(Schedule{Name: Cosine, Minimum: 0.2, Maximum: 1}, 0, 50, 100), tiny)
	require.InDeltaSlice(t, []float64{1e-4, 1e-3, 1e-2}, at(Schedule{Name: Exponential, Minimum: 1e-4, Maximum: 1e-2}, 0, 50, 100), tiny)
	require.InDeltaSlice(t, []float64{0.25, 0.5, 0.75, 1, 1}, at(Schedule{Name: Constant, Maximum: 1, Warmup: 3}, 0, 1, 2, 3, 4), tiny)
}

// apply sets dst to the orthogonal part of src, a matrix of rows×(len/rows) numbers, row
// by row. They may be the same. A matrix of zeros stays.
func (o *orthogonaliser) apply(q *devicequeue.Queue, dst, src []float32, rows int) {
	host := make([]float32, len(src))
	if !o.lay(host, src, rows) {
		copy(dst, src)
		return
	}
	o.iterate(q, host)
	o.take(dst, host, rows)
}

// TestOrthogonaliser: the singular vectors stay and the singular values become ones, within
// what five steps of that polynomial can do, whatever the shape and the length.
func TestOrthogonaliser(t *testing.T) {
	dev := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, dev.Close()) }()
	for _, shape := range [][2]int{{3, 8}, {8, 3}, {6, 6}, {1, 5}, {12, 40}} {
		rows, columns := shape[0], shape[1]
		q := &devicequeue.Queue{Dev: dev}
		memory := devicequeue.NewPool(dev)
		o := newOrthogonaliser(q, memory, rows, columns)
		g := newGenerator(uint64(rows))
		src := make([]float32, rows*columns)
		for i := range src {
			src[i] = float32(100 * (g.uniform() - 0.5))
		}
		dst := make([]float32, len(src))
		o.apply(q, dst, src, rows)
		require.NoError(t, q.Err)
		var before, after mat.SVD
		require.True(t, before.Factorize(dense(rows, columns, src), mat.SVDThin))
		require.True(t, after.Factorize(dense(rows, columns, dst), mat.SVDThin))
		smallest := before.Values(nil)[min(rows, columns)-1] / before.Values(nil)[0]
		require.Greater(t, smallest, 0.01, "a matrix that the steps suffice for")
		for _, v := range after.Values(nil) {
			require.Greater(t, v, 0.6)
			require.Less(t, v, 1.25)
		}
		// dst = U S' Vᵀ of the same U and V: UᵀdstV is diagonal.
		var u, v, d mat.Dense
		before.UTo(&u)
		before.VTo(&v)
		d.Product(u.T(), dense(rows, columns, dst), &v)
		for i := range min(rows, columns) {
			for j := range min(rows, columns) {
				if i != j {
					require.InDelta(t, 0, d.At(i, j), 1e-3)
				} else {
					require.Greater(t, d.At(i, i), 0.6)
				}
			}
		}
		zeros := make([]float32, len(src))
		o.apply(q, dst, zeros, rows)
		require.Equal(t, zeros, dst)
		require.NoError(t, q.Err)
		o.free()
		memory.Free()
	}
}

func dense(rows, columns int, values []float32) *mat.Dense {
	m := mat.NewDense(rows, columns, nil)
	for i, v := range values {
		m.Set(i/columns, i%columns, float64(v))
	}
	return m
}

// TestMuonByHand: for a matrix of one row the orthogonal part is the direction, up to the
// factor of the polynomial. The step is the rate times the length of the weights; where that
// is free it stays. Vectors take Adam's step at a tenth of the rate.
func TestMuonByHand(t *testing.T) {
	o := MuonDefaults()
	o.Momentum = 0.5
	w, free, b := newParameter("w", true, 1, 2, 1, 1), newParameter("free", true, 1, 2, 1, 1), newParameter("b", false, 2)
	free.scaleFree = true
	for _, p := range []*Parameter{w, free, b} {
		copy(p.values, []float32{3, 4})
		copy(p.gradient, []float32{0, 2})
	}
	m := newTestOptimiser(t, o, []*Parameter{w, free, b})
	require.NoError(t, m.step(0, 0.1, 1))
	require.Equal(t, float32(3), w.values[0])
	factor := (4 - float64(w.values[1])) / (0.1 * 5)
	require.InDelta(t, 1, factor, 0.35)
	require.InDelta(t, 5, math.Hypot(float64(free.values[0]), float64(free.values[1])), 1e-5)
	require.InDelta(t, float64(w.values[1]/w.values[0]), float64(free.values[1]/free.values[0]), 1e-6)
	require.InDelta(t, 4-0.01, b.values[1], 1e-6)
	require.Equal(t, []float32{0, 1}, m.first[0], "momentum: half of the gradient")
	w.gradient[0], w.gradient[1] = -1, 0
	before := w.values[0]
	require.NoError(t, m.step(1, 0.1, 1))
	require.Equal(t, []float32{-0.5, 0.5}, m.first[0])
	require.Greater(t, w.values[0], before, "against a negative gradient")
}
