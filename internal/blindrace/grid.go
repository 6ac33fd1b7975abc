package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// byParts blurs a photograph by a camera that turns about the middle of the frame, and one for comparison by one
// kernel, and restores both with one kernel and with a grid of kernels. Known are, of the rotation, the kernels of a
// grid and their mean, the best of which is printed as the single one.
func (b *bench) byParts(name string, x *restore.Planar, kernels []blur, number int) error {
	one := kernels[number].Kernel
	side := max(one.H, one.W, turnSide)
	one = framed(one, side)
	h, w := x.Height-side+1, x.Width-side+1
	turns := map[[2]int]deblur.Kernel{}
	turning := func(y, x int) deblur.Kernel { return turn(turns, y-h/2, x-w/2, min(h, w), side) }
	known := deblur.Grid{Rows: 16, Columns: 24}
	mean := make([]float32, side*side)
	for i := range known.Rows * known.Columns {
		k := turning((2*(i/known.Columns)+1)*h/(2*known.Rows), (2*(i%known.Columns)+1)*w/(2*known.Columns))
		known.Kernels = append(known.Kernels, k)
		for j, v := range k.Weights {
			mean[j] += v
		}
	}
	average, err := deblur.NewKernel(mean, side, side)
	if err != nil {
		return err
	}
	for _, v := range []struct {
		kind   string
		kernel func(y, x int) deblur.Kernel
		known  deblur.Grid
		best   deblur.Kernel
	}{
		{"rotation", turning, known, average},
		{"one kernel", func(_, _ int) deblur.Kernel { return one }, deblur.OneKernel(one), one},
	} {
		y, coding, err := b.degrade(x, one, v.kernel)
		if err != nil {
			return err
		}
		ctx, began := context.Background(), time.Now()
		found, report, err := restore.EstimateKernel(ctx, y, b.options(coding)...)
		if err != nil {
			return err
		}
		grid, err := restore.EstimateGrid(ctx, y, found, 0, 0, b.options(coding)...)
		if err != nil {
			return err
		}
		seconds := time.Since(began).Seconds()
		var psnrs []float64
		for _, g := range []deblur.Grid{v.known, deblur.OneKernel(v.best), deblur.OneKernel(found), grid} {
			out, err := b.deblurred(ctx, y, g, report.Sigma)
			if err != nil {
				return err
			}
			e, err := upToShift(out, x, inside(one))
			if err != nil {
				return err
			}
			psnrs = append(psnrs, decibels(e))
		}
		r := b.row(v.kind)
		r.values = append(r.values, math.Pow(10, (psnrs[2]-psnrs[3])/10))
		r.count(report, seconds)
		blurred, err := upToShift(y, x, inside(one))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(b.out, "%s kernel %d, %s, %s: blurred %.2f dB, known kernels %.2f, their mean %.2f, one estimated %.2f, %d×%d estimated %.2f, variation %.2f, %s, %.1f s\n",
			name, number, b.condition, v.kind, decibels(blurred), psnrs[0], psnrs[1], psnrs[2], grid.Rows, grid.Columns, psnrs[3], report.Variation, report, seconds); err != nil {
			return err
		}
	}
	return nil
}
