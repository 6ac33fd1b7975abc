package rounding

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
)

// tileBound is an algorithm on tiles with the matrices of one filter.
type tileBound struct {
	*backend.TileAlgorithm
	in, out int
	// For every pair of points: upper bounds of the spectral and the Frobenius norm of U_p, and of
	// the sums of moduli over a column and a row of it.
	spectral, frobenius, columns, rows []float64
}

func tiled(ctx context.Context, w []float32, s backend.Shape, norm float64, a *backend.TileAlgorithm, first int) (Convolution, error) {
	c := Convolution{Norm: norm, Growth: Growth(w, s, backend.ConvolutionAlgorithm{Tiles: a})}
	forward, err := newTileBound(ctx, a, s.C, s.N, s.W, func(o, i, tap int) float32 {
		return w[(o*s.C+i)*s.H*s.W+tap]
	})
	if err != nil {
		return Convolution{}, err
	}
	c.Forward = forward.bound()
	if c.First = c.Forward; first != s.C {
		b, err := newTileBound(ctx, a, first, s.N, s.W, func(o, i, tap int) float32 {
			return w[(o*s.C+i)*s.H*s.W+tap]
		})
		if err != nil {
			return Convolution{}, err
		}
		c.First = b.bound()
	}
	adjoint := forward.adjoint()
	if adjoint == nil {
		adjoint, err = newTileBound(ctx, a, s.N, s.C, s.W, func(o, i, tap int) float32 {
			return w[(i*s.C+o)*s.H*s.W+s.H*s.W-1-tap]
		})
		if err != nil {
			return Convolution{}, err
		}
	}
	c.Adjoint = adjoint.bound()
	return c, nil
}

// newTileBound transforms a filter of rows of so many taps and bounds the norms of its matrices.
func newTileBound(ctx context.Context, a *backend.TileAlgorithm, in, out, width int, at func(o, i, tap int) float32) (*tileBound, error) {
	points := len(a.Input)
	taps := make([]matrix, len(a.Filter[0])*width)
	for k := range taps {
		taps[k] = newMatrix(in, out)
		for i := range in {
			for o := range out {
				taps[k].data[i*out+o] = float64(at(o, i, k))
			}
		}
	}
	b := &tileBound{TileAlgorithm: a, in: in, out: out}
	for _, of := range []*[]float64{&b.spectral, &b.frobenius, &b.columns, &b.rows} {
		*of = make([]float64, points*points)
	}
	pool := parallel.New(0)
	defer pool.Close()
	pool.For(points*points, func(p int) {
		if ctx.Err() != nil {
			return
		}
		u := transformedFilter(a.Filter[p/points], a.Filter[p%points], taps)
		b.spectral[p], b.frobenius[p] = u.norm(), u.frobenius()
		b.columns[p], b.rows[p] = u.largestColumn(), u.largestRow()
	})
	return b, ctx.Err()
}

// transformedFilter returns U_p, a row for each input channel, of a filter's matrices, one for each
// tap.
func transformedFilter(gy, gx []float64, taps []matrix) matrix {
	u := newMatrix(taps[0].rows, taps[0].cols)
	for y, a := range gy {
		for x, b := range gx {
			factor := a * b
			if factor == 0 {
				continue
			}
			for k, v := range taps[y*len(gx)+x].data {
				u.data[k] += factor * v
			}
		}
	}
	return u
}

// adjoint returns the bound of the adjoint, whose matrices are those of the filter with its taps in
// reverse order, transposed. If the points come in pairs a and 1/a, as those of Winograd's
// algorithms do, they are multiples of the transposes of the matrices that are there already;
// else it is nil.
func (b *tileBound) adjoint() *tileBound {
	points := len(b.Input)
	partner, factor := make([]int, points), make([]float64, points)
	for k, row := range b.Filter {
		reversed := slices.Clone(row)
		slices.Reverse(reversed)
		partner[k] = slices.IndexFunc(b.Filter, func(other []float64) bool {
			c, ok := multiple(reversed, other)
			if ok {
				factor[k] = c
			}
			return ok
		})
		if partner[k] < 0 {
			return nil
		}
	}
	a := &tileBound{TileAlgorithm: b.TileAlgorithm, in: b.out, out: b.in}
	for p := range b.spectral {
		ky, kx := p/points, p%points
		q, c := partner[ky]*points+partner[kx], factor[ky]*factor[kx]
		a.spectral, a.frobenius = append(a.spectral, c*b.spectral[q]), append(a.frobenius, c*b.frobenius[q])
		a.columns, a.rows = append(a.columns, c*b.rows[q]), append(a.rows, c*b.columns[q])
	}
	return a
}

// multiple returns |c| and whether v is exactly c times w, c ≠ 0.
func multiple(v, w []float64) (c float64, ok bool) {
	for k, x := range w {
		if x != 0 {
			c = v[k] / x
			break
		}
	}
	for k, x := range w {
		if c*x != v[k] {
			return 0, false
		}
	}
	return math.Abs(c), c != 0
}

// euclidean returns the length of a vector.
func euclidean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// scales returns s_p, for which the two norms would be least if they were Frobenius norms.
func (b *tileBound) scales() []float64 {
	points := len(b.Input)
	top := slices.Max(b.spectral)
	s := make([]float64, points*points)
	for p := range s {
		out := euclidean(b.outputColumn(p/points)) * euclidean(b.outputColumn(p%points))
		in := euclidean(b.inputRow(p/points)) * euclidean(b.inputRow(p%points))
		s[p] = 1
		if top > 0 {
			s[p] = math.Sqrt(in / (out * max(b.spectral[p]/top, 1e-6)))
		}
	}
	return s
}

// outputColumn returns what a 1 at a point makes along one axis of a tile.
func (b *tileBound) outputColumn(k int) []float64 {
	column := make([]float64, len(b.Output))
	for y, row := range b.Output {
		column[y] = row[k]
	}
	return column
}

// inputRow returns a row of the input transform by samples whose squares, over all patches, add up
// to those of the image: those that two patches share have half of the weight in each.
func (b *tileBound) inputRow(k int) []float64 {
	patch, tile := len(b.Input), len(b.Output)
	row := make([]float64, patch)
	for j, v := range b.Input[k] {
		if j < patch-tile || j >= tile {
			v *= math.Sqrt2
		}
		row[j] = v
	}
	return row
}

// tilesOf returns the matrix with the columns x_p·s_p·a_p.
func (b *tileBound) tilesOf(x, s []float64) matrix {
	points, tile := len(b.Input), len(b.Output)
	m := newMatrix(tile*tile, points*points)
	for p := range x {
		cy, cx := b.outputColumn(p/points), b.outputColumn(p%points)
		for y, a := range cy {
			for z, c := range cx {
				m.data[(y*tile+z)*m.cols+p] = a * c * x[p] * s[p]
			}
		}
	}
	return m
}

// patches returns the matrix of V_p/s_p.
func (b *tileBound) patches(s []float64) matrix {
	points := len(b.Input)
	m := newMatrix(points*points, points*points)
	for p := range s {
		ry, rx := b.inputRow(p/points), b.inputRow(p%points)
		for y, a := range ry {
			for z, c := range rx {
				m.data[p*m.cols+y*points+z] = a * c / s[p]
			}
		}
	}
	return m
}

// bound adds up four groups of roundings: of the two passes of the input transform, of the
// filter and of the products with it, of the partial sums, which are U_p restricted to some
// channels, and of the two passes of the output transform. A value of a transform is a sum whose
// terms pass through a known number of roundings, which bounds its error by that of the moduli
// (Higham 2002, section 3.1).
func (b *tileBound) bound() Error {
	s := b.scales()
	values := b.patches(s)
	right, rightModuli := values.norm(), values.absolute().norm()
	whole := b.tilesOf(b.spectral, s)
	left, leftModuli := whole.norm(), whole.absolute().norm()
	rounded := make([]float64, len(b.frobenius)) // of the filter and of the products, with underflow
	for p, f := range b.frobenius {
		rounded[p] = 2*f + math.Sqrt(float64(b.in*b.out))*least/Unit
	}
	in, out := 2*float64(b.InputRoundings), 2*float64(b.OutputRoundings)
	units := in*left*rightModuli + b.tilesOf(rounded, s).norm()*right + float64(b.in)*left*right + out*leftModuli*right
	return Error{
		Relative: up(units * Unit * growth(in) * growth(float64(b.in)+2) * growth(out)),
		Absolute: b.underflow(),
	}
}

// underflow bounds the errors of 2⁻¹⁵⁰ that every product may make, per pixel.
func (b *tileBound) underflow() float64 {
	input, output := largestSum(b.Input), largestSum(b.Output)
	transform := 2 * float64(len(b.Input)) * least // of one row
	patch := transform * (1 + input)
	product := float64(b.in)*least + slices.Max(b.columns)*patch
	return 2 * (output*output*product + transform*(1+output)) * math.Sqrt(float64(b.out))
}

// largestSum returns the largest sum of moduli over a row.
func largestSum(rows [][]float64) float64 {
	top := 0.0
	for _, r := range rows {
		sum := 0.0
		for _, v := range r {
			sum += math.Abs(v)
		}
		top = max(top, sum)
	}
	return top
}
