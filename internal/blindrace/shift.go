package main

import (
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/restore"
)

// place is where in the truth an image begins, and how much of its border is left out.
type place struct{ top, left, margin int }

// inside is the place of a photograph that was blurred beyond its frame.
func inside(k deblur.Kernel) place {
	return place{k.H - 1 - k.CY, k.W - 1 - k.CX, max(k.H, k.W)/2 + 8}
}

// upToShift is the mean square of the difference between an image and the truth that it is part of,
// moved against each other, first by whole samples and then by eighths, to where that is least.
func upToShift(found, truth *restore.Planar, at place) (float64, error) {
	margin, top, left := at.margin, at.top, at.left
	h, w := found.Height, found.Width
	off := func(p *restore.Planar, dy, dx int) float64 {
		sum, n := 0.0, 0
		for y := margin; y < h-margin; y++ {
			for x := margin; x < w-margin; x++ {
				d := float64(p.Pix[(y+dy)*w+x+dx]) - float64(truth.Pix[(y+top)*truth.Width+x+left])
				sum += d * d
				n++
			}
		}
		return sum / float64(n)
	}
	dy, dx, best := 0, 0, off(found, 0, 0)
	for moved := true; moved; {
		moved = false
		fromY, fromX := dy, dx
		for y := max(fromY-2, -margin); y <= min(fromY+2, margin); y++ {
			for x := max(fromX-2, -margin); x <= min(fromX+2, margin); x++ {
				if e := off(found, y, x); e < best {
					dy, dx, best, moved = y, x, e, true
				}
			}
		}
	}
	sub := [2]float64{}
	for _, step := range []float64{.5, .25, .125} {
		from := sub
		for i := range 9 {
			to := [2]float64{from[0] + step*float64(i/3-1), from[1] + step*float64(i%3-1)}
			p, err := shifted(found, to[0], to[1])
			if err != nil {
				return 0, err
			}
			if e := off(p, dy, dx); e < best {
				sub, best = to, e
			}
		}
	}
	return best, nil
}

// shifted is an image moved up and to the left by parts of a sample, in Fourier space; it is continued
// by reflection.
func shifted(p *restore.Planar, dy, dx float64) (*restore.Planar, error) {
	h, w := 2*p.Height, 2*p.Width
	plan, err := fft.New(h, w)
	if err != nil {
		return nil, err
	}
	pool := parallel.New(0)
	defer pool.Close()
	pix := make([]float32, h*w)
	for y := range h {
		for x := range w {
			pix[y*w+x] = p.Pix[min(y, h-1-y)*p.Width+min(x, w-1-x)]
		}
	}
	spectrum, err := plan.Forward(pool, pix)
	if err != nil {
		return nil, err
	}
	spectrum.Each(func(fy, fx int, v complex64) complex64 {
		if 2*fy > h {
			fy -= h
		}
		sin, cos := math.Sincos(2 * math.Pi * (float64(fy)*dy/float64(h) + float64(fx)*dx/float64(w)))
		return v * complex64(complex(cos, sin))
	})
	if err := spectrum.Inverse(pool, pix); err != nil {
		return nil, err
	}
	q := restore.NewPlanar(1, p.Height, p.Width)
	for y := range p.Height {
		copy(q.Pix[y*p.Width:(y+1)*p.Width], pix[y*w:])
	}
	return q, nil
}
