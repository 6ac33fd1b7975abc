package cameranoise

import (
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
)

// Random draws a camera, its settings and what becomes of its picture, over the whole range that
// photographs come from. Equal seeds give equal cameras, on every machine.
//
// λs is log-uniform from 2e-5 (a large sensor at base ISO) to 2e-2 (a phone at the end of its
// range; Brooks et al. go from 1e-4 to 1.2e-2). The deviation of read noise is theirs. Gains of
// white balance go from incandescent light to shade, colour matrices from those of large
// sensors to those of phones. Smoothing, resizing by up to 4 and JPEG of quality 60 to 100 are each left
// out in a part of the cameras.
func Random(seed uint64) Camera {
	r := draw{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
	c := Camera{Reduction: 1, Resize: 1}
	if r.chance(0.5) {
		c.Reduction = r.uniform(1, 2)
	}
	c.Exposure = r.uniform(0.25, 1)
	c.Pattern = Pattern(r.IntN(4))
	c.FullWell = r.logUniform(4000, 60000)
	c.ISO = 100 * c.FullWell * r.logUniform(2e-5, 2e-2)
	c.ReadNoise = roundedTo26Bits(math.Exp(0.5 * 0.26 * float64(backend.GaussianAt(seed, 0))))
	if r.chance(0.5) {
		c.RowNoise = r.uniform(0, 0.3)
	}
	if r.chance(0.7) {
		c.BlackLevel = r.uniform(1./64, 1./16)
	}
	c.Bits = 10 + 2*r.IntN(3)
	c.WhiteBalance = [2]float64{r.uniform(1.2, 2.6), r.uniform(1.2, 2.8)}
	c.Matrix = matrix([6]float64{
		r.uniform(0.3, 0.9), r.uniform(-0.1, 0.2),
		r.uniform(0.1, 0.35), r.uniform(0.15, 0.5),
		r.uniform(-0.05, 0.1), r.uniform(0.25, 0.7),
	})
	// Cameras do better than bilinear, except for previews.
	c.Demosaicking = [5]Demosaicking{Bilinear, Malvar, Malvar, HamiltonAdams, HamiltonAdams}[r.IntN(5)]
	c.Tone = r.uniform(0, 0.7)
	if r.chance(0.6) {
		c.LumaSmoothing = r.uniform(0.3, 1.2)
	}
	if r.chance(0.7) {
		c.ChromaSmoothing = r.uniform(0.5, 4)
	}
	if r.chance(0.6) {
		c.Sharpening = r.uniform(0, 1)
	}
	if r.chance(0.5) {
		c.Resize = r.uniform(1, 4)
		c.Resampling = Resampling(r.IntN(3))
	}
	for range r.IntN(3) {
		c.JPEG = append(c.JPEG, JPEG{Quality: 60 + r.IntN(41), Subsampling: Subsampling(r.IntN(3))})
	}
	return c
}

// matrix has what each colour loses to the other two, in the order of the rows; rows add up to 1.
func matrix(loss [6]float64) [9]float64 {
	return [9]float64{
		1 + loss[0] + loss[1], -loss[0], -loss[1],
		-loss[2], 1 + loss[2] + loss[3], -loss[3],
		-loss[4], -loss[5], 1 + loss[4] + loss[5],
	}
}

type draw struct{ *rand.Rand }

func (r draw) chance(p float64) bool { return r.Float64() < p }

func (r draw) uniform(low, high float64) float64 {
	return low + float64((high-low)*r.Float64())
}

func (r draw) logUniform(low, high float64) float64 {
	return roundedTo26Bits(low * math.Exp(float64(math.Log(high/low)*r.Float64())))
}
