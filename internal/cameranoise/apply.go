package cameranoise

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
)

// Apply returns the photograph that the camera takes of pix, which is one grey plane or three of
// red, green and blue, of h×w samples in [0,1], display-referred sRGB. The result has as many
// planes, of the size that Size says. A grey picture is photographed in colour, and its
// brightness kept.
//
// Equal arguments give equal bits; another seed gives other noise of the same camera. Samples
// outside [0,1] and what Check refuses are errors that wrap ErrArgument.
func (c Camera) Apply(pix []float32, h, w int, seed uint64) ([]float32, error) {
	return c.photograph(pix, h, w, seed, true)
}

// Clean is Apply without noise, digits and JPEG. Sensor and development still clip at white and black.
func (c Camera) Clean(pix []float32, h, w int) ([]float32, error) {
	return c.photograph(pix, h, w, 0, false)
}

// buffers are what a photograph needs on the way, kept for the next one.
type buffers struct{ planes, room []float32 }

var spare = sync.Pool{New: func() any { return new(buffers) }}

// atLeast returns a slice of n samples, s if it is large enough.
func atLeast(s []float32, n int) []float32 { return slices.Grow(s[:0], n)[:n] }

func (c Camera) photograph(pix []float32, h, w int, seed uint64, noisy bool) ([]float32, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	channels, err := channelsOf(pix, h, w)
	if err != nil {
		return nil, err
	}
	b := spare.Get().(*buffers)
	defer spare.Put(b)
	sceneH, sceneW := reduced(h, c.Reduction), reduced(w, c.Reduction)
	n := sceneH * sceneW
	m := demosaic.Mosaic{H: sceneH, W: sceneW, Stride: sceneW + 2*border, Pattern: c.Pattern.Filters()}
	sensorSize := (sceneH + 2*border) * m.Stride
	b.planes = atLeast(b.planes, 3*n)
	b.room = atLeast(b.room, max(2*sensorSize, h*sceneW))

	if c.Reduction > 1 {
		resampled(b.planes, pix, b.room, channels, h, w, c.Reduction, Area)
	} else {
		copy(b.planes, pix)
	}
	if channels == 1 {
		copy(b.planes[n:], b.planes[:n])
		copy(b.planes[2*n:], b.planes[:n])
	}
	m.V = b.room[:sensorSize]
	s := c.sensor(seed, noisy)
	c.expose(&m, b.planes, &s)
	c.balance(&m)
	m.Planes(b.planes, demosaic.Way(c.Demosaicking), b.room[sensorSize:])
	c.develop(b.planes)
	c.retouch(b.planes, b.room, sceneH, sceneW)
	if channels == 1 {
		for i := range n {
			b.planes[i] = lumaWeights.of(b.planes[i], b.planes[n+i], b.planes[2*n+i])
		}
	}
	outH, outW := reduced(sceneH, c.Resize), reduced(sceneW, c.Resize)
	out := make([]float32, channels*outH*outW)
	if c.Resize > 1 {
		resampled(out, b.planes, b.room, channels, sceneH, sceneW, c.Resize, c.Resampling)
		for i, v := range out {
			out[i] = min(max(v, 0), 1) // a bicubic kernel overshoots
		}
	} else {
		copy(out, b.planes)
	}
	if noisy {
		b.room = atLeast(b.room, paddedSize(outH, outW))
		for _, j := range c.JPEG {
			compress(out, b.room, channels, outH, outW, j)
		}
	}
	return out, nil
}

// channelsOf checks a picture.
func channelsOf(pix []float32, h, w int) (int, error) {
	if h < 1 || w < 1 || h > math.MaxInt32/w || len(pix) != h*w && len(pix) != 3*h*w {
		return 0, fmt.Errorf("%w: %d samples are not one or three planes of %d×%d", ErrArgument, len(pix), h, w)
	}
	for i, v := range pix {
		if !(v >= 0 && v <= 1) {
			return 0, fmt.Errorf("%w: sample %d is %v, want 0 to 1", ErrArgument, i, v)
		}
	}
	return len(pix) / (h * w), nil
}

// expose makes planes linear and fills m with what the sensor gives. At the border the last
// pixels go on; their noise is their own.
func (c Camera) expose(m *demosaic.Mosaic, planes []float32, s *sensor) {
	tone := float32(c.Tone)
	for i, v := range planes {
		planes[i] = undevelop(v, tone)
	}
	var filter [3]weights
	back := matrix3.Matrix(c.Matrix).Inverse()
	for k, gain := range c.gains() {
		filter[k] = rowOf(back, k)
		for j := range filter[k] {
			filter[k][j] *= float32(c.Exposure / gain)
		}
	}
	n := m.H * m.W
	i := 0
	for y := -border; y < m.H+border; y++ {
		row := s.rowNoise(y + border)
		fromY := min(max(y, 0), m.H-1) * m.W
		for x := -border; x < m.W+border; x++ {
			k := fromY + min(max(x, 0), m.W-1)
			light := filter[m.Pattern.At(y, x)].of(planes[k], planes[n+k], planes[2*n+k])
			m.V[i] = s.pixel(i, light, row)
			i++
		}
	}
}

// balance is the white balance, before demosaicking as cameras do. What is above white is cut off, so that
// highlights stay white.
func (c Camera) balance(m *demosaic.Mosaic) {
	gains := c.gains()
	i := 0
	for y := range m.H + 2*border {
		for x := range m.W + 2*border {
			m.V[i] = min(m.V[i]*float32(gains[m.Pattern.At(y, x)]/c.Exposure), 1)
			i++
		}
	}
}

func (c Camera) gains() [3]float64 { return [3]float64{c.WhiteBalance[0], 1, c.WhiteBalance[1]} }

// develop takes planes of the sensor's colours to sRGB.
func (c Camera) develop(planes []float32) {
	tone := float32(c.Tone)
	red, green, blue := rowOf(c.Matrix, 0), rowOf(c.Matrix, 1), rowOf(c.Matrix, 2)
	n := len(planes) / 3
	for i := range n {
		r, g, b := planes[i], planes[n+i], planes[2*n+i]
		planes[i] = develop(red.of(r, g, b), tone)
		planes[n+i] = develop(green.of(r, g, b), tone)
		planes[2*n+i] = develop(blue.of(r, g, b), tone)
	}
}
