package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/strength"
)

// Deblurring trains a network with levels as the prior of restore.Deblur.
//
// A network that is trained to remove noise sees images with noise. In an iteration it sees the data step of
// its own results. So here it is trained on those. Crops are blurred circularly and get noise, and both runs
// of restore.Deblur are made with the network in its present state. The network learns from the last image
// that it is applied to, with the crop as the target. At a fixed point x* = Φ(D(x*)) the gradient of
// ½‖x* − x‖² with respect to the weights is that of ½‖Φ(u) − x‖² at u = D(x*), except for the inverse of I −
// ∂T. That is replaced by the identity (Fung et al. 2022, Jacobian-free backpropagation).
//
// A network with a guide makes the annealed steps of restore.Deblur instead, each with the radii that the
// guide sets for the network's input, and then a run with the radii for its first input. It learns in one of
// the steps, drawn at random, or in the run. In the run the guide learns from the first input, and the blocks
// from the result. The loss is the logarithm of the error. With Terms, the first terms of its series replace
// the inverse of I − ∂T instead of the identity. With the identity the guide learns to denoise D(x*), which
// it can do already; with the inverse it learns to improve the result of a run.
type Deblurring struct {
	// NoiseMin and NoiseMax bound the standard deviation σ of the noise in the blurred crops, on images in
	// [0,1]. All crops of an iteration have one level, drawn uniformly in log σ.
	NoiseMin float64 `json:"noise_min"`
	NoiseMax float64 `json:"noise_max"`
	// Level is the noise level that the network is set to, divided by deblur.PriorLevel, or by the level of
	// restore.Deblur if Step is 0; 0 means 1.
	Level float64 `json:"level,omitempty"`
	// Step is τ of the proximal step; ‖K‖ is 1. With a guide, 0 means the step of restore.Deblur for the
	// noise.
	Step float64 `json:"step"`
	// Iterations is the smallest number of iterations in each run of a network without a guide; the largest
	// is twice that less one.
	Iterations int `json:"iterations"`
	// Margin is the number of pixels along the edges of a crop that the loss leaves out, because a circular
	// blur brings samples together there that are far apart in a photograph.
	Margin int `json:"margin"`
	// Terms is the number of terms of Neumann's series for the inverse of I − ∂T, besides the identity, in
	// the gradient of a network with a guide in a run. Each costs two applications of the network.
	Terms int `json:"terms,omitempty"`
}

// DeblurringConfig is the recipe of a prior of restore.Deblur without a guide. It is meant to start from the
// weights of a network for noise levels (Data.Initial).
func DeblurringConfig() Config {
	c := DefaultConfig().ForNoiseLevels(0.01, 0.3)
	c.Deblur = &Deblurring{NoiseMin: 0.006, NoiseMax: 0.095, Step: 10, Iterations: 5, Margin: 12}
	c.Batch, c.Crop, c.Iterations = 2, 128, 5000
	c.Schedule.Maximum = 0.008
	return c
}

// GuidedDeblurringConfig is the recipe of a network whose guide learns to guide deblurring. It is meant to
// start from weights trained with GuidedConfig (Data.Initial), and uses the steps and levels of
// restore.Deblur. Crops are whole tiles of the processor's convolutions at half the resolution. Half of them
// are saved as JPEG first. The series makes gradients longer, and so their limit is larger.
func GuidedDeblurringConfig() Config {
	c := GuidedConfig()
	c.Deblur = DeblurringConfig().Deblur
	c.Deblur.Step, c.Deblur.Terms = 0, 8
	c.Batch, c.Crop, c.Iterations, c.Saved = 2, 120, 4200, 0.5
	c.Schedule.Maximum, c.Optimiser.GradientLimit = 0.004, 0.4
	return c
}

func (c Config) checkDeblurring() error {
	d := c.Deblur
	switch {
	case d == nil:
		return nil
	case len(c.Levels) == 0:
		return errors.New("deblur is for a network with levels")
	case !(d.NoiseMin > 0 && d.NoiseMin <= d.NoiseMax && d.NoiseMax <= 1):
		return fmt.Errorf("deblur: noise from %v to %v, must rise within (0, 1]", d.NoiseMin, d.NoiseMax)
	case !(d.Level >= 0 && d.Level <= 10):
		return fmt.Errorf("deblur: level is %v, must be above 0 and at most 10, or 0 for 1", d.Level)
	case !(d.Step >= 0) || math.IsInf(d.Step, 1) || d.Step == 0 && c.Guide == nil:
		return fmt.Errorf("deblur: step is %v, must be above 0, or 0 with a guide for that of restore.Deblur", d.Step)
	case d.Iterations < 1 || d.Iterations > maxCount:
		return fmt.Errorf("deblur: iterations is %d, must be from 1 to %d", d.Iterations, maxCount)
	case d.Terms < 0 || d.Terms > maxCount || d.Terms > 0 && c.Guide == nil:
		return fmt.Errorf("deblur: terms is %d, must be from 0 to %d, and 0 without a guide", d.Terms, maxCount)
	case d.Margin < 0 || 2*d.Margin >= c.Crop:
		return fmt.Errorf("deblur: margin is %d, must be 0 or more and below half of the crop %d", d.Margin, c.Crop)
	}
	return nil
}

// widestBlur is the width of the widest kernel that is drawn.
const widestBlur = 27

// exposure is how the crops of an iteration were taken.
type exposure struct {
	kernel deblur.Kernel
	sigma  float64 // of the noise
	step   float64 // τ of the proximal step
	level  float64 // of the network
}

// draw draws a kernel and a noise level. Most kernels are camera shakes, 9 to 27 pixels wide;
// some are Gaussians, down to ones that hardly blur, and straight motions.
func (d *Deblurring) draw(g *generator) (e exposure, err error) {
	e.sigma = d.NoiseMin * math.Pow(d.NoiseMax/d.NoiseMin, g.uniform())
	switch u := g.uniform(); {
	case u < 0.85:
		e.kernel, err = deblur.Shake(widestBlur-2*g.below(10), g.bits())
	case u < 0.95:
		e.kernel, err = deblur.Gaussian(0.4 + 2.2*g.uniform())
	default:
		e.kernel, err = deblur.Motion(4+14*g.uniform(), 180*g.uniform())
	}
	d.settle(&e)
	return e, err
}

// settle sets the step and the level for the kernel and the noise.
func (d *Deblurring) settle(e *exposure) {
	if e.step = d.Step; e.step > 0 {
		e.level = deblur.PriorLevel(e.sigma, e.kernel, e.step)
	} else {
		e.step = strength.GuidedDeblurStep(e.sigma)
		e.level = strength.GuidedDeblurLevel(e.sigma, e.kernel.Energy(), e.step)
	}
	if d.Level > 0 {
		e.level *= d.Level
	}
}

// iterations draws the number of iterations of a run.
func (d *Deblurring) iterations(g *generator) int { return d.Iterations + g.below(d.Iterations) }
