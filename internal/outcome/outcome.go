// Package outcome is what the parts of a restoration say of it. restore.Report is made of it, and explains the fields.
package outcome

import (
	"slices"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/pnp"
)

// Report is what becomes restore.Report.
type Report struct {
	Method       string
	Unchanged    bool
	Doubts       []Doubt
	Averagedness float64
	Certified    bool
	Weight       float64
	LinearLight  bool

	Noise     Noise
	Network   Network
	Iteration Iteration
}

// Doubt becomes restore.Doubt.
type Doubt struct {
	Kind DoubtKind
	Text string
}

// DoubtKind is restore.DoubtKind.
type DoubtKind string

// The kinds of doubts, which restore.Doubt explains.
const (
	NoiseDoubt    DoubtKind = "noise"
	InvertedMask  DoubtKind = "inverted mask"
	TurnedKernel  DoubtKind = "turned kernel"
	ForeignKernel DoubtKind = "foreign kernel"
)

// Noise becomes restore.NoiseReport.
type Noise struct {
	Sigma       float64
	Estimate    *Estimate
	Given       float64
	Disturbance float64
	Impulses    float64
	Clipped     float64

	ShadowsRaised, ShadowSlope float64
}

// Network becomes restore.NetworkReport.
type Network struct {
	Certificate                  *denoise.Certificate
	Level, Rescaling, Adaptation float64
	Guide                        *Guide
}

// Guide becomes restore.GuideReport.
type Guide struct {
	Strength        float64
	Looks           int
	Parameters      int
	Multiplications float64
}

// Iteration becomes restore.IterationReport.
type Iteration struct {
	Count               int
	Converged           bool
	Residual, Tolerance float64
	Left                []float64
	Run                 *pnp.Report
}

// NoiseKind says what noise looks like.
type NoiseKind string

// The kinds of noise, which restore.NoiseEstimate explains.
const (
	NoNoise     NoiseKind = "none"
	WhiteNoise  NoiseKind = "white"
	CoarseNoise NoiseKind = "coarse"
)

// Estimate is what an image tells of its noise: restore.NoiseEstimate.
type Estimate struct {
	Kind       NoiseKind
	Sigma      float64
	Levels     *denoise.LevelMap // one of ByDenoiser, or nil
	PerChannel []float64
	InChannels float64 // of white noise: the level in the channels, less than Sigma if the noise is in brightness alone
	Reliable   bool
	Note       string
	// ByDenoiser are the maps for each kind of denoiser.
	ByDenoiser [noise.Denoisers]*denoise.LevelMap
}

// Noiseless says that the noise was measured, and that there is none at all.
func (n *Noise) Noiseless() bool { return n.Estimate != nil && n.Estimate.Sigma == 0 }

// Scale multiplies what is in the units of the samples: the levels of noise, the weight of total variation, and what runs left.
func (r *Report) Scale(factor float64) {
	r.Noise.scale(factor)
	r.Noise.Disturbance *= factor
	r.Weight *= factor
	for i := range r.Iteration.Left {
		r.Iteration.Left[i] *= factor
	}
}

// scale multiplies the noise level and its map. An estimate without a map stays as it is.
func (n *Noise) scale(factor float64) {
	n.Sigma *= factor
	if n.Estimate == nil || n.Estimate.Levels == nil {
		return
	}
	e := *n.Estimate
	e.Sigma *= factor
	for k, m := range e.ByDenoiser {
		scaled := *m
		scaled.Sigma = slices.Clone(m.Sigma)
		for i := range scaled.Sigma {
			scaled.Sigma[i] *= float32(factor)
		}
		if e.ByDenoiser[k] = &scaled; e.Levels == m {
			e.Levels = &scaled
		}
	}
	n.Estimate = &e
}
