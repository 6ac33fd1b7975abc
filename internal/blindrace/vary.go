package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/restore"
)

// varying blurs a photograph three times: by one kernel; its left half by that and its right one by the next
// kernel; and by a camera that turns about the middle of the frame.
func (b *bench) varying(name string, x *restore.Planar, kernels []blur, number int) error {
	one, other := kernels[number].Kernel, kernels[(number+1)%len(kernels)].Kernel
	side := max(one.H, one.W, other.H, other.W, turnSide)
	one, other = framed(one, side), framed(other, side)
	h, w := x.Height-side+1, x.Width-side+1
	turns := map[[2]int]deblur.Kernel{}
	for _, v := range []struct {
		kind   string
		kernel func(y, x int) deblur.Kernel
	}{
		{"one kernel", func(_, _ int) deblur.Kernel { return one }},
		{"two halves", func(_, x int) deblur.Kernel {
			if 2*x < w {
				return one
			}
			return other
		}},
		{"rotation", func(y, x int) deblur.Kernel { return turn(turns, y-h/2, x-w/2, min(h, w), side) }},
	} {
		y, coding, err := b.degrade(x, one, v.kernel)
		if err != nil {
			return err
		}
		began := time.Now()
		_, report, err := restore.EstimateKernel(context.Background(), y, b.options(coding)...)
		if err != nil {
			return err
		}
		r := b.row(v.kind)
		r.values = append(r.values, report.Variation)
		r.count(report, time.Since(began).Seconds())
		if _, err := fmt.Fprintf(b.out, "%s kernel %d, %s, %s: variation %.2f, spreads %.1f, parts %.2f, %s\n",
			name, number, b.condition, v.kind, report.Variation, report.Spreads, report.Parts, report); err != nil {
			return err
		}
	}
	return nil
}

// turnSide is the side of the kernels of a rotation: at the middle of a side of the frame the motion is
// turnLength pixels long.
const (
	turnSide   = 43
	turnLength = 20
)

// turn is the motion at a place beside the middle of a frame with a shorter side. Places within 8 pixels
// have the same one.
func turn(made map[[2]int]deblur.Kernel, dy, dx, shorter, side int) deblur.Kernel {
	at := [2]int{dy >> 3, dx >> 3}
	if _, ok := made[at]; !ok {
		y, x := float64(at[0]*8+4), float64(at[1]*8+4)
		k, err := deblur.Motion(min(max(1, 2*turnLength*math.Hypot(y, x)/float64(shorter)), turnSide-2), math.Atan2(x, y)*180/math.Pi)
		if err != nil {
			panic(err) // lengths are 1 to turnSide
		}
		made[at] = framed(k, side)
	}
	return made[at]
}

// framed is a kernel in a square of side samples, its centre in the middle.
func framed(k deblur.Kernel, side int) deblur.Kernel {
	weights := make([]float32, side*side)
	for i, v := range k.Weights {
		weights[(i/k.W-k.CY+side/2)*side+i%k.W-k.CX+side/2] = v
	}
	return deblur.Kernel{H: side, W: side, CY: side / 2, CX: side / 2, Weights: weights}
}

func (r *row) printVariation(out io.Writer) error {
	slices.Sort(r.values)
	n := len(r.values)
	_, err := fmt.Fprintf(out, "| %s, %s | %d | %.2f | %.2f to %.2f | %d | %d | %.1f |\n",
		r.condition, r.kind, n, racing.Median(r.values), r.values[0], r.values[n-1], r.varies, r.trusted, r.seconds/float64(n))
	return err
}
