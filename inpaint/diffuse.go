package inpaint

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/parallel"
)

// diffusionSweeps is how often the missing pixels of every resolution are averaged.
const diffusionSweeps = 12

// Diffuse fills the missing pixels by diffusion from the known ones (the function Diffuse), to start
// iterations from. The host computes it.
func (m *Mask) Diffuse(ctx context.Context, dst, src []float32) error {
	return Diffuse(ctx, dst, src, m.known, m.h, m.w, m.device.Description().Threads)
}

// Diffuse fills the missing pixels of images of h rows and w columns by diffusion from the known ones. src
// and dst hold planes, one after the other; dst may be src. The values of missing pixels in src are ignored.
// threads is 0 for all; the result does not depend on it.
//
// The fill approximates the solution of Laplace's equation with the known pixels as boundary values and no
// flow through the frame. It works from coarse to fine (nested iteration; Brandt 1977). A coarse pixel is the
// mean of the known ones among 2×2 pixels, and is known if one of them is. The coarse image is filled first,
// and its missing pixels start those of the fine one, which are then averaged with their neighbours a few
// times (red and black in turn, Gauss and Seidel). So the time depends on the size of the image, not of the
// holes. It is an error if no pixel is known.
func Diffuse(ctx context.Context, dst, src []float32, known []bool, h, w, threads int) error {
	if err := checkMask(known, h, w); err != nil {
		return err
	}
	n := h * w
	if len(src)%n != 0 || len(dst) != len(src) {
		return fmt.Errorf("inpaint: %d samples diffused to %d, want as many, and planes of %d×%d", len(src), len(dst), h, w)
	}
	if !slices.Contains(known, true) {
		return fmt.Errorf("inpaint: no pixel of %d×%d is known, so there is nothing to diffuse", h, w)
	}
	pool := parallel.New(threads)
	defer pool.Close()
	copy(dst, src)
	for from := 0; from < len(dst); from += n {
		if err := (layer{pool: pool, h: h, w: w, known: known, value: dst[from : from+n]}).fill(ctx); err != nil {
			return err
		}
	}
	return nil
}

// layer is one resolution of one channel.
type layer struct {
	pool  *parallel.Pool
	h, w  int
	known []bool
	value []float32
}

// fill sets the missing pixels. At least one is known.
func (l layer) fill(ctx context.Context) error {
	if l.h == 1 && l.w == 1 {
		return nil
	}
	c := l.coarse()
	if err := c.fill(ctx); err != nil {
		return err
	}
	l.pool.For(l.h, func(y int) {
		for x := range l.w {
			if i := y*l.w + x; !l.known[i] {
				l.value[i] = c.value[y/2*c.w+x/2]
			}
		}
	})
	for sweep := range 2 * diffusionSweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.pool.For(l.h, func(y int) { l.average(y, sweep%2) })
	}
	return nil
}

// coarse returns the layer of half the rows and columns, rounded up.
func (l layer) coarse() layer {
	c := layer{pool: l.pool, h: (l.h + 1) / 2, w: (l.w + 1) / 2}
	c.known, c.value = make([]bool, c.h*c.w), make([]float32, c.h*c.w)
	l.pool.For(c.h, func(y int) {
		for x := range c.w {
			sum, count := float32(0), float32(0)
			for fy := 2 * y; fy < min(2*y+2, l.h); fy++ {
				for fx := 2 * x; fx < min(2*x+2, l.w); fx++ {
					if l.known[fy*l.w+fx] {
						sum += l.value[fy*l.w+fx]
						count++
					}
				}
			}
			if count > 0 {
				c.known[y*c.w+x], c.value[y*c.w+x] = true, sum/count
			}
		}
	})
	return c
}

// average sets the missing pixels of one colour of the chessboard in row y to the mean
// of their neighbours, which have the other colour.
func (l layer) average(y, colour int) {
	row := l.value[y*l.w:][:l.w]
	for x := (y + colour) % 2; x < l.w; x += 2 {
		if l.known[y*l.w+x] {
			continue
		}
		sum, count := float32(0), float32(0)
		if x > 0 {
			sum, count = sum+row[x-1], count+1
		}
		if x+1 < l.w {
			sum, count = sum+row[x+1], count+1
		}
		if y > 0 {
			sum, count = sum+l.value[(y-1)*l.w+x], count+1
		}
		if y+1 < l.h {
			sum, count = sum+l.value[(y+1)*l.w+x], count+1
		}
		row[x] = sum / count
	}
}
