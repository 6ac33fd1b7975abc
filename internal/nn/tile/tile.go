package tile

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Plan computes an image region by region.
type Plan interface {
	// Apply sets the pixels of dst inside the region. They are the same, to the bit, for
	// every region that holds them.
	Apply(ctx context.Context, dst, src backend.Buffer, region backend.Region) error
	// Side returns the height and width of the automatic tile for images of shape s on
	// a device with the given grid.
	Side(s backend.Shape, grid int) int
	// Layers are the convolutions that Apply makes one after the other.
	Layers() Reach
}

// Cuttable is a Plan that depends on where in the image a pixel lies.
type Cuttable interface {
	Plan
	// Cut returns the plan for a window that is cut out of the image, with scratch memory
	// that lives as long as s.
	Cut(s *Scratch, window backend.Region) (Plan, error)
}

// Restarting is a Plan that keeps something of the regions that it has computed: Restart says
// that the image is computed again, from its first region on.
type Restarting interface {
	Plan
	Restart()
}

const (
	MaxSide = 1 << 20
	// scratchLimit is what the automatic tile keeps scratch memory below, in bytes, if it
	// can: the tile does not get smaller than its halo or than minTile, because the
	// halo is computed again for every tile.
	scratchLimit = 280 << 20
	minTile      = 96
	// hugeScratch is refused even if the device would try: a host that runs out of memory
	// ends the process.
	hugeScratch = 16 << 30
)

// Apply sets dst = Φ(src) tile by tile, whose sides are multiples of grid. Where the
// device has no room for a tile's scratch memory it begins again with half the tile.
func Apply(ctx context.Context, dev backend.Device, p Plan, side, grid int, dst, src backend.Buffer) error {
	s := src.Shape()
	// Tiles read src after others have written dst.
	if shared, err := dev.Overlaps(dst, src); err != nil {
		return err
	} else if shared {
		return fmt.Errorf("%w: a network from %v to %v", backend.ErrAlias, src.Shape(), dst.Shape())
	}
	if side == 0 {
		side = p.Side(s, grid)
	}
	for {
		side = min(ceil(side, grid), ceil(max(s.H, s.W), grid))
		tiles, done := ((s.H+side-1)/side)*((s.W+side-1)/side), 0
		err := eachTile(s, side, func(r backend.Region, last bool) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := backend.PartOfProgress(ctx, done, tiles)
			done++
			if err := p.Apply(part, dst, src, r); err != nil || last {
				return err
			}
			backend.ReportProgress(part, 1)
			return dev.Sync() // so that the end of ctx has not long to wait
		})
		if !errors.Is(err, backend.ErrOutOfMemory) {
			return err
		}
		if side <= grid || side <= 8 {
			return fmt.Errorf("no room for a tile of %d pixels: %w", side, err)
		}
		side /= 2
		if r, ok := p.(Restarting); ok {
			r.Restart()
		}
	}
}

// ceil rounds n up to a multiple of grid.
func ceil(n, grid int) int { return (n + grid - 1) / grid * grid }

// eachTile calls f for the tiles of an image, row by row.
func eachTile(s backend.Shape, side int, f func(r backend.Region, last bool) error) error {
	for y := 0; y < s.H; y += side {
		for x := 0; x < s.W; x += side {
			r := backend.Region{Y0: y, Y1: min(s.H, y+side), X0: x, X1: min(s.W, x+side)}
			if err := f(r, r.Y1 == s.H && r.X1 == s.W); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reach are the convolutions between source and result, by the radius ⌊K/2⌋ of each.
type Reach []int

// Window returns what must be computed for a region, with the grid where it is in the
// whole image.
func (c Reach) Window(r backend.Region, grid int, s backend.Shape) backend.Region {
	for i := len(c) - 1; i >= 0; i-- {
		r = r.Reach(c[i], grid, s)
	}
	r.Y0 -= r.Y0 % grid
	r.X0 -= r.X0 % grid
	return r
}

// Side returns the largest tile whose window takes at most scratchLimit bytes, with
// the given number of float32s for a pixel, but at least minTile and the halo on one
// side.
func (c Reach) Side(floats int, s backend.Shape, grid int) int {
	return c.SideWithin(scratchLimit, floats, s, grid)
}

// SideWithin is Side with another limit in bytes.
func (c Reach) SideWithin(limit float64, floats int, s backend.Shape, grid int) int {
	pixels := limit / 4 / float64(floats) / float64(s.N)
	if pixels >= float64(s.Plane()) {
		return max(s.H, s.W)
	}
	halo := 0
	for _, radius := range c {
		halo += ceil(radius, grid)
	}
	return ceil(max(int(math.Sqrt(pixels))-2*(halo+grid), halo, minTile), grid)
}

// Scratch are buffers of one device that are freed together.
type Scratch struct {
	Dev   backend.Device
	owned []backend.Buffer
}

// NewScratch returns scratch memory of a device.
func NewScratch(dev backend.Device) *Scratch { return &Scratch{Dev: dev} }

// Alloc returns a buffer with any contents.
func (s *Scratch) Alloc(shape backend.Shape) (backend.Buffer, error) {
	b, err := s.Dev.Alloc(shape)
	if err == nil {
		s.owned = append(s.owned, b)
	}
	return b, err
}

// Free frees all of them.
func (s *Scratch) Free() {
	for _, b := range s.owned {
		b.Free()
	}
	s.owned = nil
}

// Window computes a region in a window cut out of the image, with the given number
// of float32s of scratch memory for a pixel: run gets the window of src as an array of
// width channels, those beyond the image's being zero, and returns the array whose first
// channels are the result.
func Window(dev backend.Device, dst, src backend.Buffer, r backend.Region, c Reach, width, floats int,
	run func(s *Scratch, z backend.Buffer) (backend.Buffer, error)) error {
	full := src.Shape()
	cut := c.Window(r, dev.ConvolutionGrid(), full)
	h, w := cut.Size()
	if bytes := 4 * float64(floats) * float64(full.N) * float64(h) * float64(w); bytes > hugeScratch {
		return fmt.Errorf("%w: a window of %d×%d pixels takes %.0f GB", backend.ErrOutOfMemory, h, w, bytes/1e9)
	}
	s := NewScratch(dev)
	defer s.Free()
	z, err := s.Alloc(backend.Shape{N: full.N, C: width, H: h, W: w})
	if err != nil {
		return err
	}
	if err := dev.CopyRegion(z, 0, 0, src, cut); err != nil {
		return err
	}
	if z, err = run(s, z); err != nil {
		return err
	}
	return dev.CopyRegion(dst, r.Y0, r.X0, z, Shift(r, cut))
}

// Shift returns the region as it lies in a frame that was cut out.
func Shift(r, frame backend.Region) backend.Region {
	return backend.Region{Y0: r.Y0 - frame.Y0, Y1: r.Y1 - frame.Y0, X0: r.X0 - frame.X0, X1: r.X1 - frame.X0}
}
