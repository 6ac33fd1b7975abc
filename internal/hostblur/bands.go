package hostblur

import (
	"math"

	"github.com/averaged/imaging/internal/fft"
)

// bands are the rows of an extended image in overlapping pieces, which are transformed one by one: the result of each is right
// but for the rows that wrap around, and those are another's (overlap and save). The spectra of a large image would take
// as much memory as two of its channels.
type bands struct {
	count, stride int
	reach         int // rows of the kernel, less one
}

// largestSpectrum is how many complex numbers the spectrum of an image may have that is transformed as a whole, and those of a band.
// They are as many as a filter's transforms keep in memory at a time in any case.
const largestSpectrum = 1 << 22

// moreWork is by how much bands may add to the work of transforms. With 1.1 the preconditioner of a kernel with 31 rows was a whole at 24
// megapixels, and took 200 MB.
const moreWork = 1.35

// newBands cuts so many extended rows for a kernel of size rows into the bands with the least work, of which each has the period that is
// returned. There is one if the whole is small enough, or bands that are add too much work.
func newBands(height, size, width, largest int) (b bands, period int) {
	b = bands{count: 1, stride: height, reach: size - 1}
	period = fft.GoodSize(height)
	work := func(count, period int) float64 {
		return float64(count*period) * math.Log2(float64(period)*float64(width))
	}
	fits := func(period int) bool { return period*(width/2+1) <= largest }
	if fits(period) {
		return b, period
	}
	least := moreWork * work(1, period)
	for n := 2; n*size <= height; n++ {
		stride := (height + n - 1) / n
		p := fft.GoodSize(stride + size - 1)
		if w := work(n, p); fits(p) && w < least {
			least, period, b.count, b.stride = w, p, n, stride
		}
	}
	return b, period
}

// overlap is how many bands have the same row, at most.
func (b bands) overlap() int { return 1 + (b.reach+b.stride-1)/b.stride }

// read hands over the rows of bands of an image, which begin lead rows before their stride: 0 of the extended image, and
// reach of the blurred one, for the adjoint.
func (b bands) read(image fft.Rows, lead int) fft.Rows {
	if b.count == 1 {
		return image
	}
	return fft.Rows{H: b.stride + b.reach, W: image.W, Row: func(i, y int, row []float32) {
		if y += i%b.count*b.stride - lead; y >= 0 && y < image.H {
			image.Row(i/b.count, y, row)
		} else {
			clear(row)
		}
	}}
}

// write takes the rows of bands of an image that are right, which come behind lead rows that wrap around: 0 of the blurred image,
// and reach of the extended one, for the adjoint.
func (b bands) write(image fft.Rows, lead int) fft.Rows {
	if b.count == 1 {
		return image
	}
	return fft.Rows{H: lead + min(b.stride, image.H), W: image.W, Row: func(i, y int, row []float32) {
		if at := i%b.count*b.stride + y - lead; y >= lead && at < image.H {
			image.Row(i/b.count, at, row)
		}
	}}
}
