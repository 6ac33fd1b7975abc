package cameranoise

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
)

// ErrArgument is wrapped by every error of this package.
var ErrArgument = errors.New("camera noise")

// Pattern is the order of colour filters in the two by two pixels at the top left.
type Pattern int

// The four orders of Bayer's pattern, row by row.
const (
	RGGB Pattern = iota
	GRBG
	GBRG
	BGGR
)

// String returns the name in capitals.
func (p Pattern) String() string { return nameOf(int(p), "RGGB", "GRBG", "GBRG", "BGGR") }

// Filters are the colours of the pattern: 0 red, 1 green, 2 blue.
func (p Pattern) Filters() demosaic.Pattern {
	return [4]demosaic.Pattern{{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 1}, {2, 1, 1, 0}}[p]
}

// Demosaicking is a way to find the two colours that a pixel lacks.
type Demosaicking int

// The ways, which package demosaic describes.
const (
	Bilinear      = Demosaicking(demosaic.Bilinear)
	Malvar        = Demosaicking(demosaic.Malvar)
	HamiltonAdams = Demosaicking(demosaic.HamiltonAdams)
)

// String returns the name that ParseDemosaicking takes.
func (d Demosaicking) String() string { return nameOf(int(d), demosaickings...) }

// Demosaickings returns the names of all ways to demosaick.
func Demosaickings() []string { return slices.Clone(demosaickings) }

var demosaickings = []string{"bilinear", "malvar", "hamilton-adams"}

// ParseDemosaicking is the inverse of String.
func ParseDemosaicking(name string) (Demosaicking, error) {
	i, err := indexOf("demosaicking", name, demosaickings)
	return Demosaicking(i), err
}

// Resampling is a way to make a picture smaller.
type Resampling int

const (
	// Area averages the pixels that a new one covers.
	Area Resampling = iota
	// Bicubic is Keys's kernel (a = −½) widened by the factor.
	Bicubic
	// Nearest leaves pixels out, so that neighbours stay as independent as distant ones were.
	Nearest
)

// String returns the name in small letters.
func (r Resampling) String() string { return nameOf(int(r), resamplings...) }

// Resamplings returns the names of all ways to make a picture smaller.
func Resamplings() []string { return slices.Clone(resamplings) }

var resamplings = []string{"area", "bicubic", "nearest"}

// ParseResampling is the inverse of String.
func ParseResampling(name string) (Resampling, error) {
	i, err := indexOf("resampling", name, resamplings)
	return Resampling(i), err
}

// Subsampling says how many samples of colour a JPEG file has.
type Subsampling int

const (
	// Full is 4:4:4, as many as of brightness.
	Full Subsampling = iota
	// HalfWidth is 4:2:2.
	HalfWidth
	// Quarter is 4:2:0, half in width and height.
	Quarter
)

// String returns the three numbers.
func (s Subsampling) String() string { return nameOf(int(s), subsamplings...) }

var subsamplings = []string{"4:4:4", "4:2:2", "4:2:0"}

// ParseSubsampling is the inverse of String.
func ParseSubsampling(name string) (Subsampling, error) {
	i, err := indexOf("subsampling", name, subsamplings)
	return Subsampling(i), err
}

func nameOf(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("number %d", i)
	}
	return names[i]
}

func indexOf(what, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("%w: there is no %s %q", ErrArgument, what, name)
}

// JPEG is one compression with the usual tables.
type JPEG struct {
	Quality     int // 1 to 100, as the Independent JPEG Group counts
	Subsampling Subsampling
}

// Camera is a camera with its settings, and what happens to its pictures later. Random draws
// one; Typical is one to begin with.
type Camera struct {
	// Reduction is the factor, at least 1, by which the scene is made smaller before it is
	// photographed; above 1 it is sharper than a sensor sees, and noise of its own is averaged.
	Reduction float64
	// Exposure is the light on the sensor, at most 1, where white saturates it. Less leaves room
	// above white, as cameras do, or is too dark; development makes up for it.
	Exposure float64

	Pattern Pattern
	// ISO is the sensitivity; shot noise has the variance ISO/(100·FullWell)·x. 0 is a sensor
	// without any noise.
	ISO float64
	// FullWell is the number of electrons, at least 1, that saturate a pixel at ISO 100: some
	// 4000 in a phone, 60000 in a large sensor.
	FullWell float64
	// ReadNoise is a factor, 0 or more, in the standard deviation of read noise; 1 is the one
	// that Brooks et al. found most often.
	ReadNoise float64
	// RowNoise is the standard deviation of what whole rows have in common, in units of that of
	// read noise.
	RowNoise float64
	// BlackLevel is what the sensor gives without light, as a part of its range, from 0 to
	// below 1. At 0 noise is clipped at black, which makes shadows brighter.
	BlackLevel float64
	// Bits is the depth of the sensor's numbers, 1 to 16; 0 does not round.
	Bits int

	// WhiteBalance has the gains of red and blue, above 0, in units of green's.
	WhiteBalance [2]float64
	// Matrix takes the sensor's red, green and blue to linear sRGB, row by row. The sum of each
	// row is 1, so that grey stays grey.
	Matrix       [9]float64
	Demosaicking Demosaicking
	// Tone mixes sRGB's gamma with a smoothstep after it: 0 is sRGB alone, at most 0.8.
	Tone float64

	// LumaSmoothing and ChromaSmoothing are standard deviations in pixels, at most 8, of the
	// Gaussians that brightness and colour differences are smoothed with; 0 leaves them.
	LumaSmoothing, ChromaSmoothing float64
	// Sharpening is the amount, 0 to 4, of an unsharp mask with a Gaussian of one pixel.
	Sharpening float64

	// Resize is the factor, at least 1, by which the picture is made smaller.
	Resize     float64
	Resampling Resampling
	// JPEG compressions, one after another.
	JPEG []JPEG
}

// Typical is a camera in the middle of what Random draws, with strong noise: ISO 3200. It
// resizes and compresses nothing.
func Typical() Camera {
	return Camera{
		Reduction: 1, Exposure: 0.7, Pattern: RGGB,
		ISO: 3200, FullWell: 20000, ReadNoise: 1, BlackLevel: 1. / 32, Bits: 12,
		WhiteBalance: [2]float64{2, 1.7},
		Matrix:       [9]float64{1.65, -0.6, -0.05, -0.2, 1.5, -0.3, 0, -0.5, 1.5},
		Demosaicking: Malvar, Tone: 0.3,
		LumaSmoothing: 0.4, ChromaSmoothing: 1, Sharpening: 0.3,
		Resize: 1,
	}
}

// ShotNoise is λs: the variance of shot noise is λs·x where x is light, 1 at saturation.
func (c Camera) ShotNoise() float64 { return c.ISO / (100 * c.FullWell) }

// ReadVariance is λr, the variance of read noise, that of rows left out.
func (c Camera) ReadVariance() float64 {
	if c.ISO == 0 {
		return 0
	}
	// The library's exponential and logarithm differ between processors in their last bits.
	return c.ReadNoise * c.ReadNoise * roundedTo26Bits(math.Exp(float64(2.18*math.Log(c.ShotNoise()))+1.2))
}

// roundedTo26Bits hides the last bits, in which math.Exp and math.Log may differ between processors.
func roundedTo26Bits(v float64) float64 {
	fraction, power := math.Frexp(v)
	return math.Ldexp(math.Round(fraction*(1<<26)), power-26)
}

// Size returns the height and width that Apply and Clean give a picture of the given ones.
func (c Camera) Size(h, w int) (int, int) {
	return reduced(reduced(h, c.Reduction), c.Resize), reduced(reduced(w, c.Reduction), c.Resize)
}

// reduced is a length in pixels, made smaller: at least 1.
func reduced(n int, factor float64) int { return max(int(float64(n)/factor+1e-9), 1) }

// Check returns an error that wraps ErrArgument, a line for a person, if a field is out of its
// range.
func (c Camera) Check() error {
	within := func(name string, v, low, high float64) error {
		if !(v >= low && v <= high) {
			return fmt.Errorf("%w: %s of %v, want %v to %v", ErrArgument, name, v, low, high)
		}
		return nil
	}
	const most = math.MaxInt32
	for _, err := range []error{
		within("a reduction", c.Reduction, 1, most),
		within("an exposure", c.Exposure, 1e-3, 1),
		within("a pattern", float64(c.Pattern), 0, float64(BGGR)),
		within("ISO", c.ISO, 0, 1e9),
		within("a full well", c.FullWell, 1, 1e9),
		within("read noise", c.ReadNoise, 0, 1e3),
		within("row noise", c.RowNoise, 0, 1e3),
		within("a black level", c.BlackLevel, 0, 0.9),
		within("a number of bits", float64(c.Bits), 0, 16),
		within("a gain of red", c.WhiteBalance[0], 0.01, 100),
		within("a gain of blue", c.WhiteBalance[1], 0.01, 100),
		within("a demosaicking", float64(c.Demosaicking), 0, float64(HamiltonAdams)),
		within("a tone curve", c.Tone, 0, 0.8),
		within("smoothing of brightness", c.LumaSmoothing, 0, 8),
		within("smoothing of colour", c.ChromaSmoothing, 0, 8),
		within("sharpening", c.Sharpening, 0, 4),
		within("resizing", c.Resize, 1, most),
		within("a resampling", float64(c.Resampling), 0, float64(Nearest)),
	} {
		if err != nil {
			return err
		}
	}
	for _, j := range c.JPEG {
		if err := j.check(); err != nil {
			return err
		}
	}
	for row := range 3 {
		sum := c.Matrix[3*row] + c.Matrix[3*row+1] + c.Matrix[3*row+2]
		if !(math.Abs(sum-1) < 1e-6) {
			return fmt.Errorf("%w: row %d of the colour matrix adds up to %v, want 1", ErrArgument, row+1, sum)
		}
	}
	if d := matrix3.Matrix(c.Matrix).Determinant(); !(math.Abs(d) > 1e-3) || math.Abs(d) > 1e6 {
		return fmt.Errorf("%w: the colour matrix has the determinant %v, and cannot be undone", ErrArgument, d)
	}
	return nil
}

func (j JPEG) check() error {
	if j.Quality < 1 || j.Quality > 100 {
		return fmt.Errorf("%w: a JPEG quality of %d, want 1 to 100", ErrArgument, j.Quality)
	}
	if j.Subsampling < Full || j.Subsampling > Quarter {
		return fmt.Errorf("%w: subsampling %v, want 4:4:4, 4:2:2 or 4:2:0", ErrArgument, j.Subsampling)
	}
	return nil
}
