package upscale

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/parallel"
)

// Interpolate sets dst to images scaled up by cubic convolution (Keys 1981, with a = −½; the edge sample is
// repeated), to start iterations from. The host computes it. src holds planes of h×w samples one after the
// other, and dst as many of factor·h by factor·w samples. A square of factor×factor samples of dst stands for
// one sample of src. They share no memory. threads is the number of threads, 0 for all; the result does not
// depend on it.
func Interpolate(dst, src []float32, h, w, factor, threads int) error {
	if err := checkFactor(factor, h, w); err != nil {
		return err
	}
	fh, fw := factor*h, factor*w
	if n := h * w; len(src)%n != 0 || len(dst) != len(src)/n*fh*fw {
		return fmt.Errorf("upscale: %d samples of %d×%d and %d of %d×%d are not the same number of planes",
			len(src), h, w, len(dst), fh, fw)
	}
	ys, xs := cubicTaps(h, factor), cubicTaps(w, factor)
	pool := parallel.New(threads)
	defer pool.Close()
	pool.For(len(dst)/fw, func(i int) {
		plane, tap := src[i/fh*h*w:], ys[i%fh]
		row := make([]float32, w)
		for k, at := range tap.at {
			for x, v := range plane[at*w:][:w] {
				row[x] += float32(tap.weight[k] * v)
			}
		}
		to := dst[i*fw : (i+1)*fw]
		for x, tap := range xs {
			sum := float32(0)
			for k, at := range tap.at {
				sum += float32(tap.weight[k] * row[at])
			}
			to[x] = sum
		}
	})
	return nil
}

// cubicTap is what a fine sample is made of.
type cubicTap struct {
	at     [4]int
	weight [4]float32
}

// cubicTaps returns the taps of every fine sample along an axis of n coarse ones.
func cubicTaps(n, factor int) []cubicTap {
	taps := make([]cubicTap, factor*n)
	for i := range taps {
		position := (float64(i)+.5)/float64(factor) - .5
		first := int(math.Floor(position)) - 1
		for k := range 4 {
			taps[i].at[k] = min(max(first+k, 0), n-1)
			taps[i].weight[k] = float32(cubic(position - float64(first+k)))
		}
	}
	return taps
}
