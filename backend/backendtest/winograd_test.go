package backendtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fallback"
)

// Winograd's F(6×6,3×3) (Winograd 1980; Lavin and Gray 2016): the 6×6 pixels of a
// tile are, row by row and column by column, evaluations of polynomials that the
// samples of 8×8 pixels and the weights are multiplied at the points 0, ±1, ±2, ±½
// and ∞.
const (
	winogradOut = 6
	winogradIn  = 8
)

var (
	// winogradSamples evaluates the samples: every row vanishes at all points but one.
	winogradSamples = [winogradIn][winogradIn]float32{
		{1, 0, -21. / 4, 0, 21. / 4, 0, -1, 0},
		{0, 1, 1, -17. / 4, -17. / 4, 1, 1, 0},
		{0, -1, 1, 17. / 4, -17. / 4, -1, 1, 0},
		{0, 1. / 2, 1. / 4, -5. / 2, -5. / 4, 2, 1, 0},
		{0, -1. / 2, 1. / 4, 5. / 2, -5. / 4, -2, 1, 0},
		{0, 2, 4, -5. / 2, -5, 1. / 2, 1, 0},
		{0, -2, 4, 5. / 2, -5, -1. / 2, 1, 0},
		{0, -1, 0, 21. / 4, 0, -21. / 4, 0, 1},
	}
	winogradWeights = [winogradIn][3]float64{
		{1, 0, 0},
		{-2. / 9, -2. / 9, -2. / 9}, {-2. / 9, 2. / 9, -2. / 9},
		{1. / 90, 1. / 45, 2. / 45}, {1. / 90, -1. / 45, 2. / 45},
		{32. / 45, 16. / 45, 8. / 45}, {32. / 45, -16. / 45, 8. / 45},
		{0, 0, 1},
	}
	winogradResults = [winogradOut][winogradIn]float32{
		{1, 1, 1, 1, 1, 1, 1, 0},
		{0, 1, -1, 2, -2, 1. / 2, -1. / 2, 0},
		{0, 1, 1, 4, 4, 1. / 4, 1. / 4, 0},
		{0, 1, -1, 8, -8, 1. / 8, -1. / 8, 0},
		{0, 1, 1, 16, 16, 1. / 16, 1. / 16, 0},
		{0, 1, -1, 32, -32, 1. / 32, -1. / 32, 1},
	}
)

// winogradTile is a tile in either form. Arithmetic on tiles is left out of the race
// detector's sight, which would make it ten times slower: it touches no memory that a
// second goroutine knows.
type winogradTile [winogradIn][winogradIn]float32

// transformed multiplies a tile by the matrix from the left, and by its transpose
// from the right. Products with 0 count: a NaN spoils all of the tile.
//
//go:norace
func (t *winogradTile) transformed(matrix [][winogradIn]float32) (out winogradTile) {
	var half winogradTile
	for i, row := range matrix {
		for j := range winogradIn {
			for k, m := range row {
				half[i][j] += float32(m * t[k][j])
			}
		}
	}
	for i := range matrix {
		for j, row := range matrix {
			for k, m := range row {
				out[i][j] += float32(m * half[i][k])
			}
		}
	}
	return out
}

//go:norace
func (t *winogradTile) addProduct(a, b *winogradTile) {
	for i := range t {
		for j := range t[i] {
			t[i][j] += float32(a[i][j] * b[i][j])
		}
	}
}

// winogradFilters transforms out·in filters of 3×3 weights.
//
//go:norace
func winogradFilters(w []float32) []winogradTile {
	filters := make([]winogradTile, len(w)/9)
	for f := range filters {
		for i, a := range winogradWeights {
			for j, b := range winogradWeights {
				sum := 0.0
				for r := range 3 {
					for c := range 3 {
						sum += a[r] * b[c] * float64(w[9*f+3*r+c])
					}
				}
				filters[f][i][j] = float32(sum)
			}
		}
	}
	return filters
}

// winogradPlanes returns the zero-padded convolution of src, of shape s, to as many
// channels as there are filters for, in float32.
//
//go:norace
func winogradPlanes(src []float32, s backend.Shape, filters []winogradTile) []float32 {
	out := len(filters) / s.C
	x := widen(s, src)
	s.C = out
	dst := make([]float32, s.Len())
	samples := make([]winogradTile, x.C)
	for n := range s.N {
		for top := 0; top < s.H; top += winogradOut {
			for left := 0; left < s.W; left += winogradOut {
				for c := range samples {
					var t winogradTile
					for i := range winogradIn {
						for j := range winogradIn {
							if y, u := top+i-1, left+j-1; holds(s.Whole(), y, u) {
								t[i][j] = float32(x.at(n, c, y, u))
							}
						}
					}
					samples[c] = t.transformed(winogradSamples[:])
				}
				for o := range out {
					var sum winogradTile
					for c := range samples {
						sum.addProduct(&samples[c], &filters[o*x.C+c])
					}
					sum = sum.transformed(winogradResults[:])
					for i := range min(winogradOut, s.H-top) {
						copy(dst[offset(s, n, o, top+i, left):], sum[i][:min(winogradOut, s.W-left)])
					}
				}
			}
		}
	}
	return dst
}

// useWinograd gives a device float32 arithmetic and Winograd's algorithm for its
// 3×3 convolutions. Arguments are checked by the device underneath, which computes
// all others.
func useWinograd(d *broken) {
	inner := d.Device
	type bank struct{ forward, adjoint []winogradTile }
	banks := map[backend.Filter]bank{}
	transform := func(f backend.Filter, weights backend.Buffer) error {
		s := f.Shape()
		if s.H != 3 || s.W != 3 {
			return nil
		}
		w, err := download(inner, weights)
		if err != nil {
			return err
		}
		flipped := make([]float32, s.Len())
		for o := range s.N {
			for i := range s.C {
				for k := range 9 {
					flipped[(i*s.N+o)*9+8-k] = w[(o*s.C+i)*9+k]
				}
			}
		}
		banks[f] = bank{winogradFilters(w), winogradFilters(flipped)}
		return nil
	}
	d.grid = func() int { return winogradOut }
	d.newFilter = func(w backend.Buffer) (backend.Filter, error) {
		f, err := inner.NewFilter(w)
		if err != nil {
			return nil, err
		}
		return f, transform(f, w)
	}
	d.updateFilter = func(f backend.Filter, w backend.Buffer) error {
		if err := inner.UpdateFilter(f, w); err != nil {
			return err
		}
		return transform(f, w)
	}
	d.convolve = func(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
		err := inner.Convolve(dst, src, f, end)
		own, ok := banks[f]
		if err != nil || !ok {
			return err
		}
		x, err := download(inner, src)
		if err != nil {
			return err
		}
		v := winogradPlanes(x, src.Shape(), own.forward)
		bias := make([]float32, f.Shape().N)
		if end.Bias != nil {
			if bias, err = download(inner, end.Bias); err != nil {
				return err
			}
		}
		for i := range v {
			v[i] += bias[i/dst.Shape().Plane()%len(bias)]
			if end.Activation.Kind == backend.LeakyReLU && v[i] < 0 {
				v[i] *= end.Activation.Slope
			}
		}
		return inner.Upload(dst, v)
	}
	d.convolveAdjoint = func(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
		var old []float32
		if dst != nil {
			old, _ = download(inner, dst) // where this fails the call below fails too
		}
		err := inner.ConvolveAdjoint(dst, src, f, beta, scale)
		own, ok := banks[f]
		if err != nil || !ok {
			return err
		}
		x, err := download(inner, src)
		if err != nil {
			return err
		}
		v := winogradPlanes(x, src.Shape(), own.adjoint)
		for i := range v {
			v[i] *= scale
			if beta != 0 {
				v[i] += float32(beta * old[i])
			}
		}
		return inner.Upload(dst, v)
	}
	d.euler = func(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
		return fallback.GradientFlow(ctx, d, dst, src, region, steps)
	}
}

// The suite accepts Winograd's algorithm: its rounding, its tiles, what a NaN does
// in them, and the Euler steps made of it.
func TestWinogradPasses(t *testing.T) {
	leaveSuite(t)
	open := func(testing.TB) backend.Device {
		d := newBroken()
		useWinograd(d)
		return d
	}
	for _, operation := range []string{"Convolve", "ConvolveAdjoint", "GradientFlow", "ConvolutionGrid"} {
		for _, c := range checksOf(operation) {
			t.Run(operation+"/"+c.name, func(t *testing.T) { require.NoError(t, c.perform(t, open)) })
		}
	}
}
