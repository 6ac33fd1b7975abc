package vectors

import "math"

// octave is how many channels of a group are added as a balanced tree,
// ((0+1)+(2+3))+((4+5)+(6+7)), those that are missing as zeros; the sums of octaves are
// added in order. So kernels whose lanes are channels can make the same sums.
const octave = 8

// ballPixels is how many pixels the loops take at a time.
const ballPixels = SumLanes

// someBalls is a number for each of up to ballPixels pixels.
type someBalls = [ballPixels]float32

// inOctaves returns the sum over size channels of what term sets its array to, which is
// zero before.
func inOctaves(size int, term func(c int, to *someBalls)) (sum someBalls) {
	for lo := 0; lo < size; lo += octave {
		var levels [4]someBalls // level l waits with the sum of 2ˡ channels for its like
		for c := range octave {
			var v someBalls
			if lo+c < size {
				term(lo+c, &v)
			}
			l := 0
			for ; c>>l&1 == 1; l++ {
				for i, w := range levels[l] {
					v[i] = w + v[i]
				}
			}
			levels[l] = v
		}
		for i, v := range levels[3] {
			sum[i] += v
		}
	}
	return sum
}

// euclideanNorms returns the norms of the vectors of n pixels, 0 for absent ones.
func euclideanNorms(x []float32, n, plane, size int) someBalls {
	norms := inOctaves(size, func(c int, to *someBalls) {
		for i, v := range x[c*plane:][:n] {
			to[i] = v * v
		}
	})
	for i, v := range norms {
		norms[i] = float32(math.Sqrt(float64(v)))
	}
	return norms
}

// projectBallsPortable projects onto a ball of the radius of each pixel.
func projectBallsPortable(out, in []float32, n, plane, size int, radius func(pixel int) float32) {
	for lo := 0; lo < n; lo += ballPixels {
		pixels := min(ballPixels, n-lo)
		scale := euclideanNorms(in[lo:], pixels, plane, size)
		for i, norm := range scale[:pixels] {
			r := radius(lo + i)
			// Above 0, so that 0 is projected onto a ball of radius 0.
			scale[i] = r / max(norm, r, math.SmallestNonzeroFloat32)
		}
		for c := range size {
			to, from := out[c*plane+lo:][:pixels], in[c*plane+lo:][:pixels]
			for i, v := range from {
				to[i] = v * scale[i]
			}
		}
	}
}

// projectBallsGradientPortable tells what each pixel has for its radius.
func projectBallsGradientPortable(out, x, dy []float32, n, plane, size int, radius func(pixel int) float32, tell func(pixel int, along float32)) {
	for lo := 0; lo < n; lo += ballPixels {
		pixels := min(ballPixels, n-lo)
		norms := euclideanNorms(x[lo:], pixels, plane, size)
		along := inOctaves(size, func(c int, to *someBalls) {
			y := dy[c*plane+lo:][:pixels]
			for i, v := range x[c*plane+lo:][:pixels] {
				to[i] = v * y[i]
			}
		})
		for i, norm := range norms[:pixels] {
			r := radius(lo + i)
			if norm <= r {
				norms[i], along[i] = 1, 0
				tell(lo+i, 0)
				continue
			}
			inverse := 1 / norm
			along[i] *= inverse
			tell(lo+i, along[i])
			norms[i] = r * inverse
			along[i] = along[i] * norms[i] * inverse
		}
		for c := range size {
			to := out[c*plane+lo:][:pixels]
			v, y := x[c*plane+lo:][:pixels], dy[c*plane+lo:][:pixels]
			for i := range to {
				to[i] = float32(norms[i]*y[i]) - float32(along[i]*v[i])
			}
		}
	}
}
