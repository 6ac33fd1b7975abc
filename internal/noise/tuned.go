package noise

// The constants of this package and of internal/denoising that somebody tuned, all of them: 40 at most, by a test.
// Other constants are definitions, bounds of time and memory, or belong to the network of levels, which learned with
// them. Levels and differences of samples are in units of the full range, where 1 is white.
const (
	// White noise: fitted to 25 photographs of BSDS500's train with noise of 0.02 to 0.3, clipped to 8 bits and not.

	patchSide      = 8     // side of a patch in pixels
	flatShare      = 0.03  // of the patches, the flattest: measured at least; less texture, more chance
	minFlat        = 64    // patches measured at least, where there are as many
	flatEnergy     = 1.1   // times the energy of noise at low frequencies: patches up to it are measured too
	quietEnergy    = 3.0   // times that energy: patches up to it are about as flat as noise alone
	minQuiet       = 0.01  // share of such patches for a reliable estimate
	minHomogeneity = 0.6   // for a reliable one; white noise has 0.94 to 1.06 in eight of ten photographs
	minShare       = 0.75  // of the noise's standard deviation that clipping leaves in a measured patch
	clippedCount   = 8     // values at an end of the range, and
	clippedShare   = 0.001 // their share of all, from which on it is a clipping limit
	constantShare  = 0.1   // of constant patches, from which on texture elsewhere is no noise
	MinSide        = 64    // of a square with as many pixels as an image with a reliable estimate; shorter sides are mirrored for the network
	Dominance      = 2.0   // ratio of noise in brightness to that in colour above which it is not white

	// Impulses: fitted to synthetic salt, pepper and hot pixels, to drawings, and to stars of 0.8 pixels' deviation.

	impulseStep = 0.1 // difference of an impulse from its neighbours at least; smaller ones do little harm
	clearRatio  = 2.5 // of that difference to the neighbours' spread, at least; stars reach 1.2
	crowd       = 5.0 // pairs of impulses in a row, column or cell at most, over those of independent ones
	impulseCell = 16  // side of a cell in pixels
	saltRange   = 0.2 // of the values of nine of ten outliers of one sign, for salt or for pepper
	minSalt     = 20  // outliers of one sign that tell their value

	// What is removed: fitted to clean photographs, texture and drawings, and to white noise, of the quality gate.

	MinLevel      = 0.003 // of a square with noise: three quarters of a step of 8 bits; drawings with gradients get less
	MinShare      = 0.05  // of squares with noise in an image that has some: a few squares of a drawing look like it
	MaxEqual      = 0.5   // share of equal neighbours where there is noise, above which an image is a drawing
	Agreeing      = 1.4   // ratio of the network's level and the measured one within which noise is white
	EqualColours  = 1.06  // ratio of the noise of two colours below which it is equal, which a camera's seldom is
	AgreeingEqual = 2.0   // Agreeing of such noise, and of the upper quartile of the levels

	// Images to enlarge: fitted to photographs that were scaled down by 2, with noise of cameras and white noise.

	MinCoarse = 0.012 // level of coarse noise at least
	Coarser   = 2.0   // ratio of that level to the white part at least
	Enlarged  = 2.0   // factor on that level: enlarging makes noise coarser yet

	// Shadows: fitted to photographs of SIDD, whose skewness is 0.4 to 0.9 of the model's, and PolyU and white noise,
	// where it is -0.2 to 0.15 of it.

	ToneGamma       = 2.2  // exponent of tone curves; results with 1.9 and 2.5 are within 0.05 dB
	ShadowTones     = 32   // intervals of brightness in which noise is measured
	ShadowSamples   = 200  // of an interval that is measured
	MaxRatio        = 0.4  // of standard deviation to mean where skewness is compared: black limits noise beyond
	BelowWhite      = 2.5  // standard deviations between the mean and white where it is
	NoCertainty     = 0.15 // share of the model's skewness from which on the shift is believed
	Certainty       = 0.4  // and from which on all of it
	CertaintyDoubts = 3.0  // standard deviations of that share that are taken off
	MaxLost         = 0.25 // of the removed variance that is a shift at a brightness: more is no noise
	SteepestShadows = 0.5  // difference of the curve's slope from 1 at most
)
