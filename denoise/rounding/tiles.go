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
	// Of every pair of points upper bounds of the spectral and the Frobenius norm of U_p.
	spectral, frobenius []float64
	largest             float64 // of a sum of moduli over a column of U_p
}

func tiled(ctx context.Context, w []float32, s backend.Shape, norm float64, a *backend.TileAlgorithm, first int) (Convolution, error) {
	c := Convolution{Norm: norm, Growth: Growth(w, s, backend.ConvolutionAlgorithm{Tiles: a})}
	forward := func(o, i, y, x int) float64 { return float64(w[((o*s.C+i)*s.H+y)*s.W+x]) }
	adjoint := func(o, i, y, x int) float64 { return forward(i, o, s.H-1-y, s.W-1-x) }
	for _, part := range []struct {
		to      *Error
		at      func(o, i, y, x int) float64
		in, out int
	}{{&c.Forward, forward, s.C, s.N}, {&c.First, forward, first, s.N}, {&c.Adjoint, adjoint, s.N, s.C}} {
		if part.to == &c.First && first == s.C {
			c.First = c.Forward
			continue
		}
		b, err := newTileBound(ctx, a, part.in, part.out, part.at)
		if err != nil {
			return Convolution{}, err
		}
		*part.to = b.bound()
	}
	return c, nil
}

// newTileBound transforms the filter and bounds the norms of its matrices.
func newTileBound(ctx context.Context, a *backend.TileAlgorithm, in, out int, at func(o, i, y, x int) float64) (*tileBound, error) {
	points := len(a.Input)
	b := &tileBound{TileAlgorithm: a, in: in, out: out}
	b.spectral, b.frobenius = make([]float64, points*points), make([]float64, points*points)
	columns := make([]float64, points*points)
	pool := parallel.New(0)
	defer pool.Close()
	pool.For(points*points, func(p int) {
		if ctx.Err() != nil {
			return
		}
		u := transformedFilter(a.Filter[p/points], a.Filter[p%points], in, out, at)
		b.spectral[p], b.frobenius[p], columns[p] = u.norm(), u.frobenius(), u.largestColumn()
	})
	b.largest = slices.Max(columns)
	return b, ctx.Err()
}

// transformedFilter returns U_p, a row for each input channel.
func transformedFilter(gy, gx []float64, in, out int, at func(o, i, y, x int) float64) matrix {
	u := newMatrix(in, out)
	for i := range in {
		for o := range out {
			sum := 0.0
			for y, a := range gy {
				for x, b := range gx {
					sum += a * b * at(o, i, y, x)
				}
			}
			u.data[i*out+o] = sum
		}
	}
	return u
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
	product := float64(b.in)*least + b.largest*patch
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
