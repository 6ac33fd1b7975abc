package noise

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/ondevice"
)

// Network is a network of noise levels on a device. It is safe for concurrent use until Free.
type Network struct {
	dev    backend.Device
	layers []layer
	choice Layer
	side   int // of what is computed at a time
}

type layer struct {
	filter backend.Filter
	bias   backend.Buffer
}

// NewNetwork puts a network on a device.
func NewNetwork(dev backend.Device, m *Model) (*Network, error) {
	n := &Network{dev: dev, choice: m.Layers[Choice], side: tileSide}
	for _, l := range m.Layers[:Choice] {
		filter, err := ondevice.Filter(dev, backend.Shape{N: l.Out, C: l.In, H: l.Kernel, W: l.Kernel}, l.Weight)
		if err != nil {
			n.Free()
			return nil, err
		}
		bias, err := ondevice.Vector(dev, l.Bias)
		if err != nil {
			filter.Free()
			n.Free()
			return nil, err
		}
		n.layers = append(n.layers, layer{filter, bias})
	}
	return n, nil
}

// Free gives the memory on the device back.
func (n *Network) Free() {
	for _, l := range n.layers {
		l.filter.Free()
		l.bias.Free()
	}
	n.layers = nil
}

// Said is what the network says of a photograph.
type Said struct {
	Rows, Columns int
	// Levels are noise levels of Rows×Columns squares, for each denoiser.
	Levels [Denoisers][]float32
	// Chosen is the denoiser whose result is said to be better.
	Chosen int
}

// tileSide is the side of a tile in pixels, and halo what is computed around it: 28 pixels reach a square.
const tileSide, halo = 512, 32

// Find returns what the network says of an image of one or three planes of h×w samples. Samples may be outside [0, 1].
// Squares that are hidden, of which nil has none, say nothing of the others. It looks at tiles of one size, whatever the
// device.
func (n *Network) Find(ctx context.Context, pix []float32, hidden []bool, channels, h, w int) (*Said, error) {
	if channels != 1 && channels != 3 || h < 1 || w < 1 || len(pix) != channels*h*w {
		return nil, fmt.Errorf("%w: levels of %d samples in %d channels of %d×%d", backend.ErrShape, len(pix), channels, w, h)
	}
	s := &Said{Rows: (h + Square - 1) / Square, Columns: (w + Square - 1) / Square}
	squares := s.Rows * s.Columns
	features := 0
	for i := range Scales {
		features += n.layers[2*i].filter.Shape().N
	}
	magnitudes, counts := make([]float32, (features+BandsOf)*squares), make([]float32, countsOf*squares)
	source := image{pix, channels, h, w}
	pool := devicequeue.NewPool(n.dev)
	defer pool.Free()
	down, high := n.evenly(s.Rows)
	across, broad := n.evenly(s.Columns)
	for y := 0; y < s.Rows*Square; y += down {
		for x := 0; x < s.Columns*Square; x += across {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r := backend.Region{Y0: y, Y1: min(y+down, s.Rows*Square), X0: x, X1: min(x+across, s.Columns*Square)}
			wide := backend.Region{Y0: min(max(0, y-halo), s.Rows*Square-high), X0: min(max(0, x-halo), s.Columns*Square-broad)}
			wide.Y1, wide.X1 = wide.Y0+high, wide.X0+broad
			if err := n.tile(pool, source, r, wide, s, magnitudes, counts); err != nil {
				return nil, err
			}
		}
	}
	for i, is := range hidden {
		if is { // as what is clipped
			counts[squares+i] = 1
		}
	}
	return s, n.head(ctx, s, magnitudes, counts)
}

// evenly returns the side of tiles that cover some squares, and that of the windows that they are computed from: one for
// all, so that a tile uses the memory of the one before.
func (n *Network) evenly(squares int) (side, window int) {
	count := (squares*Square + n.side - 1) / n.side
	side = (squares + count - 1) / count * Square
	return side, min(squares*Square, side+2*halo)
}

// image is planes whose last samples go on beyond the lower and the right edge.
type image struct {
	pix            []float32
	channels, h, w int
}

// cut returns three planes of a region that begins within the image.
func (m image) cut(r backend.Region) []float32 {
	h, w := r.Size()
	out := make([]float32, 3*h*w)
	for c := range 3 {
		plane := m.pix[min(c, m.channels-1)*m.h*m.w:][:m.h*m.w]
		for y := range h {
			row := plane[min(r.Y0+y, m.h-1)*m.w:][:m.w]
			to := out[(c*h+y)*w:][:w]
			for x := copy(to, row[r.X0:min(r.X1, m.w)]); x < w; x++ {
				to[x] = row[m.w-1]
			}
		}
	}
	return out
}

// tile sets the magnitudes and counts of the squares of a region, by a wider one.
func (n *Network) tile(pool *devicequeue.Pool, source image, r, wide backend.Region, s *Said, magnitudes, counts []float32) error {
	samples := source.cut(wide)
	h, w := wide.Size()
	rows, columns := h/Square, w/Square
	// keep copies what was found in a window to the squares of the region.
	keep := func(dst, found []float32, features, first int) {
		for k := range features {
			for row := r.Y0 / Square; row < r.Y1/Square; row++ {
				from := found[(k*rows+row-wide.Y0/Square)*columns:][:columns]
				copy(dst[((first+k)*s.Rows+row)*s.Columns:][r.X0/Square:r.X1/Square], from[(r.X0-wide.X0)/Square:])
			}
		}
	}
	keep(counts, Counts(samples, h, w), countsOf, 0)
	keep(magnitudes, Bands(samples, h, w), BandsOf, len(magnitudes)/(s.Rows*s.Columns)-BandsOf)
	for i, v := range samples {
		samples[i] = (v - 0.5) * Gain
	}
	q := &devicequeue.Queue{Dev: n.dev}
	defer pool.Reclaim()
	x := pool.Take(q, backend.Shape{N: 1, C: 3, H: h, W: w})
	q.Upload(x, samples)
	first := 0
	for i := range Scales {
		u := pool.Take(q, x.Shape().Unshuffled(2))
		from := x
		q.Do(func() error { return n.dev.Unshuffle(u, from, 2) })
		x = n.convolve(q, pool, 2*i+1, n.convolve(q, pool, 2*i, u, true), true)
		shape := x.Shape()
		values := make([]float32, shape.Len())
		q.Download(values, x)
		keep(magnitudes, Magnitudes(values, shape.C, shape.H, shape.W, shape.H*Square/h), shape.C, first)
		first += shape.C
	}
	return q.Err
}

func (n *Network) convolve(q *devicequeue.Queue, pool *devicequeue.Pool, k int, x backend.Buffer, activated bool) backend.Buffer {
	s := x.Shape()
	s.C = n.layers[k].filter.Shape().N
	y := pool.Take(q, s)
	end := backend.ConvEnd{Bias: n.layers[k].bias}
	if activated {
		end.Activation = backend.Activation{Kind: backend.LeakyReLU, Slope: Slope}
	}
	q.Convolve(y, x, n.layers[k].filter, end)
	return y
}

// head sets the levels and the choice.
func (n *Network) head(ctx context.Context, s *Said, magnitudes, counts []float32) error {
	squares := s.Rows * s.Columns
	input, _, err := HeadInput(ctx, magnitudes, counts, squares)
	if err != nil {
		return err
	}
	q := &devicequeue.Queue{Dev: n.dev}
	pool := devicequeue.NewPool(n.dev)
	defer pool.Free()
	x := pool.Take(q, backend.Shape{N: 1, C: len(input) / squares, H: s.Rows, W: s.Columns})
	q.Upload(x, input)
	for i := range 3 {
		q.Do(ctx.Err)
		x = n.convolve(q, pool, Head+i, x, true)
	}
	seen, said := make([]float32, x.Shape().Len()), make([]float32, Denoisers*squares)
	q.Download(seen, x)
	q.Download(said, n.convolve(q, pool, Head+3, x, false))
	if q.Err != nil {
		return q.Err
	}
	for k := range s.Levels {
		s.Levels[k] = make([]float32, squares)
		for i, u := range said[k*squares:][:squares] {
			if s.Levels[k][i] = Level(u); u != u || s.Levels[k][i] != s.Levels[k][i] {
				return fmt.Errorf("the network of noise levels says %v of square %d", u, i)
			}
		}
	}
	choice := float64(n.choice.Bias[0])
	for c, weight := range n.choice.Weight {
		sum := 0.0
		for _, v := range seen[c*squares:][:squares] {
			sum += float64(v)
		}
		choice += float64(weight) * sum / float64(squares)
	}
	if math.IsNaN(choice) {
		return fmt.Errorf("the network of noise levels chooses %v", choice)
	}
	if choice > 0 {
		s.Chosen = 1
	}
	return nil
}
