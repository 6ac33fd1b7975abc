package restore

import (
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/blurdomain"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/strength"
)

// What the tests ask of the packages inside.
var (
	DefaultMethod = networks.DefaultMethod
	DefaultPrior  = networks.DefaultPrior
	MethodOf      = networks.MethodOf
	EnlargeAlpha  = imageplanes.EnlargeAlpha
	SolveLevel    = strength.SolveLevel
)

// Weighed adds a doubt about the kernel, if the spectra do not show it.
func Weighed(b *Blur, by blurdomain.Evidence) *Blur { return b.weighed(by) }

// ErrNoWeights is about a network without weights.
var ErrNoWeights = errNoWeights

const (
	MaxBrightness    = inverse.MaxBrightness
	NetworkTolerance = deblurring.NetworkTolerance
)

// StartingPoint is for Start.
type StartingPoint = deblurring.StartingPoint

// Start sets Deblur's initial estimate.
func Start(s deblurring.StartingPoint) Option {
	return option{"Start", func(c *request) error {
		c.start = s
		return nil
	}}
}

// The initial estimates.
const (
	StartWiener   = deblurring.StartWiener
	StartImage    = deblurring.StartImage
	StartConstant = deblurring.StartConstant
)

// DeblurLevel is the noise level that Deblur uses a network without a guide for, with the default step.
func DeblurLevel(sigma float64, kernel deblur.Kernel) float64 {
	return strength.DeblurLevel(sigma, kernel.Energy(), strength.DeblurStep)
}
