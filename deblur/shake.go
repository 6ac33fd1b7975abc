package deblur

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Steps of a camera's path, and how many points are drawn for each.
const (
	shakeSteps  = 256
	shakePoints = 16
)

// Shake is the blur of a camera that is held by hand: a random path with inertia and an occasional sudden
// turn. It fits a square of size×size samples around its centre of mass, and touches at least one side of it.
// size is odd, 3 to 2001. Equal seeds give equal bits on every platform.
func Shake(size int, seed uint64) (Kernel, error) {
	if size < 3 || size > 2001 || size%2 == 0 {
		return Kernel{}, fmt.Errorf("deblur: camera shake of size %d, want an odd size of 3 to 2001", size)
	}
	path := shakePath(rand.New(rand.NewPCG(seed, 0x5ead5eed0c0ffee5)))

	// The path is shifted so that the mean of its points is the centre, and
	// scaled so that the point farthest out is on the border.
	var mean [2]float64
	points := make([][2]float64, 0, (shakeSteps-1)*shakePoints)
	for i := range shakeSteps - 1 {
		for j := range shakePoints {
			t := (float64(j) + .5) / shakePoints
			var p [2]float64
			for a := range p {
				// The conversions keep a compiler from fusing a product with a sum.
				p[a] = float64((1-t)*path[i][a]) + float64(t*path[i+1][a])
				mean[a] += p[a]
			}
			points = append(points, p)
		}
	}
	for a := range mean {
		mean[a] /= float64(len(points))
	}
	far := 0.0
	for _, p := range points {
		far = max(far, math.Abs(p[0]-mean[0]), math.Abs(p[1]-mean[1]))
	}
	r := size / 2
	scale := float64(r) / far

	weights := make([]float64, size*size)
	for _, p := range points {
		// Each point is shared among the four samples around it.
		y, fy := split(float64(scale*(p[0]-mean[0])), r)
		x, fx := split(float64(scale*(p[1]-mean[1])), r)
		at := y*size + x
		weights[at] += float64((1 - fy) * (1 - fx))
		weights[at+1] += float64((1 - fy) * fx)
		weights[at+size] += float64(fy * (1 - fx))
		weights[at+size+1] += float64(fy * fx)
	}
	return normalised(weights, size, size)
}

// split returns the sample i in 0…2r−1 below position p in [−r, r], counted from
// −r, and how far p is on the way to sample i+1.
func split(p float64, r int) (i int, f float64) {
	p = min(max(p+float64(r), 0), float64(2*r))
	i = min(int(p), 2*r-1)
	return i, p - float64(i)
}

// shakePath is a random walk (row, column) whose velocity turns slowly, wavers in
// speed, and is kicked a few times.
func shakePath(random *rand.Rand) [shakeSteps][2]float64 {
	var path [shakeSteps][2]float64
	velocity := [2]float64{bell(random), bell(random)}
	for t := 1; t < shakeSteps; t++ {
		kick := 0.12
		if random.Float64() < 0.012 {
			kick = 1.5
		}
		for a := range velocity {
			velocity[a] = float64(0.985*velocity[a]) + float64(kick*bell(random))
			path[t][a] = path[t-1][a] + velocity[a]
		}
	}
	return path
}

// bell is a random number of mean 0 and variance 1, nearly normal: the sum of 12
// uniform ones. Unlike a logarithm it has the same bits on every platform.
func bell(random *rand.Rand) float64 {
	sum := -6.0
	for range 12 {
		sum += random.Float64()
	}
	return sum
}
