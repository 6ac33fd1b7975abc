package restore

import (
	"fmt"
	"image"
	"math"

	"github.com/averaged/imaging/internal/imagefile/jpeg"
)

// Compression is how the file of an image was compressed with loss, such as a JPEG (CompressionOf).
type Compression struct {
	// Noise is the standard deviation of what the rounding of coefficients has changed in the samples, where 1 is
	// white. 0 is none. An estimate of noise hardly sees it, since smooth parts have none. Where the level is estimated,
	// Upscale removes at least this noise, because enlarging without removing it gives a worse image than interpolation,
	// and estimates of a blur add it to the noise: otherwise the kernel follows it.
	Noise float64
	// ChromaX and ChromaY are how many pixels share one sample of colour, in a row and in a column: 2 and 2 for 4:2:0.
	// 0 and 1 are no sharing. Where pixels share colours, the colour of a missing one is also in those beside it, so
	// Inpaint fills these too.
	ChromaX, ChromaY int
}

// maxShared is the largest ChromaX and ChromaY, that of JPEG.
const maxShared = 4

// Compressed says how the file of the image was compressed. The default is without loss.
func Compressed(how Compression) Option {
	return option{"Compressed", func(c *request) error {
		switch {
		case !(how.Noise >= 0) || math.IsInf(how.Noise, 0):
			return &OptionError{Option: "Compressed", Value: how.Noise, Want: "a finite standard deviation, 0 or more"}
		case min(how.ChromaX, how.ChromaY) < 0 || max(how.ChromaX, how.ChromaY) > maxShared:
			return &OptionError{Option: "Compressed", Value: [2]int{how.ChromaX, how.ChromaY}, Want: "0 to 4 pixels to a sample of colour"}
		}
		c.compressed = how
		return nil
	}}
}

// CompressionOf tells how the file was compressed that img was decoded from, for the option Compressed. It is zero for
// files other than JPEG. It reads the head of the file and compares it with parts of img, so that it takes no time. img
// must be as the file has it, not yet turned, cut or resized. If the image is turned by 90 degrees afterwards, ChromaX and
// ChromaY change places.
//
// An error says that the head of a JPEG is broken, or that img is not its picture.
func CompressionOf(img image.Image, file []byte) (Compression, error) {
	c, err := jpeg.CodingOf(file, img)
	if err != nil {
		return Compression{}, fmt.Errorf("restore: the compression is not known: %w", err)
	}
	if c == nil {
		return Compression{}, nil
	}
	return Compression{Noise: c.Noise, ChromaX: c.ChromaX, ChromaY: c.ChromaY}, nil
}
