package devicekit

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// CheckTerms returns an error that wraps ErrArgument unless a LinearCombination may have n
// terms.
func CheckTerms(n int) error {
	if n < 1 || n > backend.MaxTerms {
		return fmt.Errorf("%w: linear combination of %d terms, 1 to %d are possible", backend.ErrArgument, n, backend.MaxTerms)
	}
	return nil
}

// CheckClip returns an error that wraps ErrArgument unless lo ≤ hi; neither is NaN then.
func CheckClip(lo, hi float32) error {
	if !(lo <= hi) {
		return fmt.Errorf("%w: clip to [%v, %v]", backend.ErrArgument, lo, hi)
	}
	return nil
}

// CheckMixing returns an error that wraps ErrShape unless dst and src differ in channels
// only and m has a number for every pair of them, and one that wraps ErrArgument where
// either has more than MaxMixed channels.
func CheckMixing(dst, src backend.Shape, m []float32) error {
	if dst.N != src.N || dst.H != src.H || dst.W != src.W || len(m) != dst.C*src.C {
		return fmt.Errorf("%w: %d coefficients from %v to %v", backend.ErrShape, len(m), src, dst)
	}
	if dst.C > backend.MaxMixed || src.C > backend.MaxMixed {
		return fmt.Errorf("%w: mixing %d into %d channels, at most %d are possible", backend.ErrArgument, src.C, dst.C, backend.MaxMixed)
	}
	return nil
}

// CheckReductions returns an error that wraps ErrShape unless out has room for one number
// per reduction, and one that wraps ErrArgument where a kind is none of those above. The
// shapes of X and Y it leaves to CheckSameShape.
func CheckReductions(out []float64, rs []backend.Reduction) error {
	if len(out) != len(rs) {
		return fmt.Errorf("%w: room for %d of %d reductions", backend.ErrShape, len(out), len(rs))
	}
	for _, r := range rs {
		if r.Kind > backend.DiffSquares {
			return fmt.Errorf("%w: reduction kind %d", backend.ErrArgument, r.Kind)
		}
	}
	return nil
}

// CheckGaussian returns an error that wraps ErrArgument unless mean is finite, and std
// finite and at least 0.
func CheckGaussian(mean, std float32) error {
	if !(std >= 0) || math.IsInf(float64(std), 0) || math.IsNaN(float64(mean)) || math.IsInf(float64(mean), 0) {
		return fmt.Errorf("%w: Gaussian with mean %v and standard deviation %v", backend.ErrArgument, mean, std)
	}
	return nil
}

// Fill implements backend.Vectors.
func (d *Device[M, F]) Fill(dst backend.Buffer, v float32) error {
	c := d.begin()
	defer c.end()
	to := c.buffer(dst)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Fill(to.array(), v)
}

// LinearCombination implements backend.Vectors.
func (d *Device[M, F]) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	c := d.begin()
	defer c.end()
	c.check(CheckTerms(len(terms)))
	to := c.buffer(dst)
	own := make([]Term[M], 0, backend.MaxTerms)
	for _, t := range terms {
		x := c.buffer(t.X)
		c.sameShape(to, x)
		c.apartOrSame(to, x)
		if c.err != nil {
			return c.err
		}
		own = append(own, Term[M]{t.A, x.array()})
	}
	if c.err != nil {
		return c.err
	}
	return d.kernels.LinearCombination(to.array(), own)
}

// Multiply implements backend.Vectors.
func (d *Device[M, F]) Multiply(dst, x, y backend.Buffer) error {
	c := d.begin()
	defer c.end()
	to, first, second := c.buffer(dst), c.buffer(x), c.buffer(y)
	c.sameShape(to, first, second)
	c.apartOrSame(to, first, second)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Multiply(to.array(), first.array(), second.array())
}

// Clip implements backend.Vectors.
func (d *Device[M, F]) Clip(dst, src backend.Buffer, lo, hi float32) error {
	c := d.begin()
	defer c.end()
	c.check(CheckClip(lo, hi))
	to, from := c.buffer(dst), c.buffer(src)
	c.sameShape(to, from)
	c.apartOrSame(to, from)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Clip(to.array(), from.array(), lo, hi)
}

// MixChannels implements backend.Vectors.
func (d *Device[M, F]) MixChannels(dst, src backend.Buffer, m []float32) error {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	c.check(CheckMixing(to.shape, from.shape, m))
	c.apartOrSame(to, from)
	if c.err != nil {
		return c.err
	}
	if k, ok := d.kernels.(Mixings[M]); ok {
		return k.MixChannels(to.array(), from.array(), m)
	}
	return d.mixByPlanes(to.array(), from.array(), m, to.same(from))
}

// mixByPlanes makes each channel of the result as linear combinations, from the left.
func (d *Device[M, F]) mixByPlanes(dst, src Array[M], m []float32, inPlace bool) error {
	k := d.kernels
	if inPlace {
		copied, err := k.Alloc(src.Shape)
		if err != nil {
			return err
		}
		defer k.Free(copied)
		original := src
		src.Data = copied
		if err := k.LinearCombination(src, []Term[M]{{1, original}}); err != nil {
			return err
		}
	}
	for n := range dst.Shape.N {
		for i := range dst.Shape.C {
			to := d.plane(dst, n*dst.Shape.C+i)
			var terms []Term[M]
			for j := range src.Shape.C {
				terms = append(terms, Term[M]{m[i*src.Shape.C+j], d.plane(src, n*src.Shape.C+j)})
				if len(terms) < backend.MaxTerms && j < src.Shape.C-1 {
					continue
				}
				if err := k.LinearCombination(to, terms); err != nil {
					return err
				}
				terms = []Term[M]{{1, to}}
			}
		}
	}
	return nil
}

// plane returns channel i of all channels of a batch, as an image.
func (d *Device[M, F]) plane(a Array[M], i int) Array[M] {
	plane := a.Shape.Plane()
	return Array[M]{backend.Image(1, a.Shape.H, a.Shape.W), d.kernels.View(a.Data, i*plane, plane)}
}

// Reduce implements backend.Vectors.
func (d *Device[M, F]) Reduce(out []float64, rs ...backend.Reduction) error {
	c := d.begin()
	defer c.end()
	c.check(CheckReductions(out, rs))
	own := make([]Reduction[M], 0, len(rs))
	for _, r := range rs {
		x := c.buffer(r.X)
		y := x
		if r.Kind != backend.SumSquares {
			y = c.buffer(r.Y)
		}
		c.sameShape(x, y)
		own = append(own, Reduction[M]{r.Kind, x.array(), y.array()})
	}
	if c.err != nil || len(rs) == 0 {
		return c.err
	}
	return d.kernels.Reduce(out, own)
}

// Gaussian implements backend.Vectors.
func (d *Device[M, F]) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	c := d.begin()
	defer c.end()
	c.check(CheckGaussian(mean, std))
	to := c.buffer(dst)
	if c.err != nil {
		return c.err
	}
	if k, ok := d.kernels.(Gaussians[M]); ok {
		return k.Gaussian(to.array(), seed, mean, std)
	}
	numbers := make([]float32, to.shape.Len())
	for i := 0; i < len(numbers); i += 2 {
		even, odd := backend.GaussianPair(seed, uint64(i/2))
		numbers[i] = mean + float32(std*even)
		if i+1 < len(numbers) {
			numbers[i+1] = mean + float32(std*odd)
		}
	}
	return d.kernels.Upload(to.array(), numbers)
}
