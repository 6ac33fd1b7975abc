package strength

// The numbers of the rules, and what they were fitted to. docs/notebook has the measurements.

// MinSigma is the noise level below which no prior becomes weaker, but that of denoising by
// total variation, which may do nothing: about what rounding to 8 bits leaves. A blur cannot be
// undone without any prior, and a network cannot be taken to no noise at all.
const MinSigma = 0.001

// Total variation, denoising: fitted to the best α at seven noise levels, and within 0.03 dB of the mean PSNR of the
// best α at every sigma from 0.02 to 0.3. Outside of these the rules go on smoothly, to 0 at 0.
const (
	alphaKnee        = 0.0036 // noise level on which α/σ depends by a logarithm
	opponentSlope    = 0.2034 // of α/σ on that logarithm
	perChannelOffset = 0.092
	coupledOffset    = 0.344
	coupledSlope     = 0.245
	chromaOffset     = 0.63 // α/σ of colour above that of brightness
	// endOfChroma is the noise level, far below that of any photograph, where the chroma weight,
	// which has a pole at 0, stops growing.
	endOfChroma = 1e-4
)

// IterationChroma is the chroma weight of total variation in an iteration. DeblurWeight is a fit to the best weights at
// noise of 2.55, 7.65, 12.75 and 38 of 255 and kernels from no blur at all (‖k‖₂ = 1, where it agrees with
// AlphaOpponent) to camera shake 27 pixels wide.
const IterationChroma = 3

// Detail: DenoiseFactor is fitted to 67 photographs of BSDS500's train at seven levels of noise from 5.1 to 76.5 of
// 255, given right or wrong by 4 %, by the smallest loss of PSNR with the network general. DeblurFactor is fitted to 40
// photographs of train, each under another camera shake, and 13 under eight of them, at noise of 2.55 to 17.85 of 255,
// with the network deblur.
const (
	// minGradient is what is left of a square mean gradient without its noise at least, as a share of
	// the noise: with less the difference says nothing.
	minGradient = 0.02
	// The energies of the shakes; kernels beyond them are taken for the nearest.
	minEnergy = 0.02
	maxEnergy = 0.07
	// maxFactor limits the logarithm of both factors: 0.67 to 1.49. The best factors of single photographs were 0.6 to
	// 1.5.
	maxFactor = 0.4
)

// The noise level of the denoiser that follows a proximal step of deblurring, over √(τ‖K‖²)·σ
// under a wide blur: what it is trained for, and what it is used for as a share of that, together
// 1.026. With the network deblur, 0.95 has 0.04 dB more than 1 at noise of 2.55 of 255, and 0.02
// less at 17.85. On photographs under eight camera shakes PriorLevel is within about 10 % of the
// best level for restore.Deblur at noise of 2.55, 7.65, 12.75 and 17.85 of 255, for step from 5 to
// 20; under Gaussians, boxes, disks and motions within about 30 %, mostly at a cost of 0.1 dB or
// less.
const (
	trainedFor = 1.08
	usedFor    = 0.95
)

// DeblurStep is τ‖K‖² of the proximal step that deblurring with a network takes.
const DeblurStep = 10

// A network with a guide is used for about half of what one without wants in its two runs (internal/inverse), since
// the second of those is for a photograph that has the residual twice. A factor on the radii says the same as another
// level, and stays 1. All levels are fitted to photographs of BSDS500's val with the network guided, where 0.8 and 1.2
// times as much were worse or within 0.05 dB, and are smooth in σ. GuidedDeblurLevel is tuned under camera shakes at
// noise of 2.55, 7.65, 12.75 and 17.85 of 255, with the step of GuidedDeblurStep and the network original.

// AnnealedSteps is how many steps deblurring by a network with a guide makes before its run. Each has radii of
// its own, for what the network sees in it, and is for less noise than the one before, and for more than the
// run. Four to six are within 0.01 dB of each other; with four, thin edges at a frame lost a decibel.
const AnnealedSteps = 5

// The first annealed step is for noise of annealedFrom, but for at least annealedMin and at most annealedMax
// times the level of the run.
const (
	annealedFrom = 49.0 / 255
	annealedMin  = 1.5
	annealedMax  = 6.0
)

// kernelError is the error of a kernel as a share of the photograph's contrast, the standard deviation of its samples:
// 32 photographs of real shakes with measured kernels (Levin et al., 2009) are missed by 0.0053 at a contrast of about a
// quarter.
const kernelError = 0.018

// Inpainting is tuned on photographs with half and four fifths of the pixels missing at random, and with strokes as of
// writing, without noise and with 0.05: a level without noise, and its slope on the noise.
const (
	inpaintLevel, inpaintSlope             = 0.045, 1.5
	guidedInpaintLevel, guidedInpaintSlope = 0.019, 0.68
)

// Enlarging is tuned on photographs scaled down by 2, 3 and 4 with bicubic and Gaussian kernels, without noise and with
// 0.005 to 0.1; with a guide with the bicubic kernel, without noise and with 0.02 and 0.05. The slope is that on
// factor·σ.
const (
	upscaleLevel, upscaleSlope             = 0.01, 1.4
	guidedUpscaleLevel, guidedUpscaleSlope = 0.012, 0.6
)

// codingSlope is above 1 because the noise of a coding is strongest at edges, and also in the colours. It is tuned on eight
// photographs of the val parts of open and open2, enlarged by 2 and 4 from JPEGs of quality 50, 75 and 90: 3 is better by 0.06
// to 0.09 dB at factor 2, the same at 4, and smoother.
const codingSlope = 2.0

// The rules for a linear operator of which no more is known than a bound of its norm are not
// fitted but follow from those that are: Kx = y + noise is the same problem as cKx = cy + c·noise, so
// a level may depend on σ/‖K‖ alone, and a weight is ‖K‖² times what depends on that. InpaintLevel,
// of a projection, and UpscaleLevel, of operators with ‖K‖ = 1/factor, are 1.5 and 1.4 times σ/‖K‖
// where there is noise, and their weights 0.15 and 0.16 times ‖K‖·σ; without noise they lie between
// 0.01 and 0.045, and 0.0012·‖K‖² and 0.005·‖K‖².
const (
	solveLevel, solveSlope             = 0.02, 1.45
	guidedSolveLevel, guidedSolveSlope = 0.015, 0.64
)

// LeftUnguided and LeftGuided are what a run leaves. A run for the right level leaves 1.02 to 1.43 times the noise of the
// photographs of BSDS500's val, for half of it 1.80 to 2.08 times what was said and for twice it 0.53 to 1.13 times. With
// a guide it leaves 0.89 to 1.03 times (eight photographs, at 2.55 and 12.75 of 255), 1.18 to 1.85 and 0.51 to 0.58.
var (
	LeftUnguided = Leaving{Min: 0.95, Usual: 1.25, Max: 1.6}
	LeftGuided   = Leaving{Min: 0.75, Usual: 1, Max: 1.15}
)

// What is estimated is nearly always within 0.98 and 1.02 of the truth.
const (
	minRight = 0.95 // of an estimate that says nothing against a level
	maxRight = 1.25
	// MaxRatio is the largest ratio of an estimate to a level that was given, or the other way about: one beyond it is
	// taken for that.
	MaxRatio = 4.0
)

// MaxRepeats is how often the first run of deblurring is made again at most: for other noise levels, and for
// the one before if the last was no better.
const MaxRepeats = 4

// CoarseNoise is fitted to the best of five or six levels for each of four photographs, crops of 256×256 of the train part
// of open, under one shake each by simulated cameras, PNG at ISO 400 and 1600 and JPEG 90 at ISO 1600 and 6400: the best
// levels are 0.6 to 1.3 times this.
const coarseLevel, coarsePower = 2.0, 1.25
