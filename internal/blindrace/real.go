package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// realShakes restores photographs that were taken with a shaken camera: root holds blurred/IMAGE_KERNEL.png, clean/IMAGE.png of the
// same size, and the measured kernel/KERNEL.png.
func (b *bench) realShakes(root string) error {
	files, err := filepath.Glob(filepath.Join(root, "blurred", "*.png"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("blindrace: no photographs in %q", filepath.Join(root, "blurred"))
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".png")
		scene, kernel, _ := strings.Cut(name, "_")
		y, err := b.read(f)
		if err != nil {
			return err
		}
		x, err := b.read(filepath.Join(root, "clean", scene+".png"))
		if err != nil {
			return err
		}
		if x.Height != y.Height || x.Width != y.Width {
			return fmt.Errorf("blindrace: %s has %d×%d pixels, and %s.png %d×%d", name, y.Width, y.Height, scene, x.Width, x.Height)
		}
		m, err := imagefile.Read(context.Background(), filepath.Join(root, "kernel", kernel+".png"), imagefile.ReadOptions{})
		if err != nil {
			return err
		}
		k, err := deblur.KernelFromPlanes(m.Pix, m.Channels, m.Height, m.Width)
		if err != nil {
			return err
		}
		began := time.Now()
		found, report, err := restore.EstimateKernel(context.Background(), y, restore.Threads(b.threads))
		if err != nil {
			return err
		}
		if err := b.compare(name, "real shake", y, k, found, report, time.Since(began).Seconds(), func(p *restore.Planar) (float64, error) {
			return upToShift(p, x, place{margin: 15})
		}); err != nil {
			return err
		}
	}
	return nil
}

// compare restores a photograph with the known kernel and with the estimated one, and prints how far off both are.
func (b *bench) compare(name, kind string, y *restore.Planar, known, found deblur.Kernel, report *restore.KernelReport, seconds float64, off func(*restore.Planar) (float64, error)) error {
	var errors [2]float64
	for i, kernel := range []deblur.Kernel{known, found} {
		out, err := b.deblurred(context.Background(), y, deblur.OneKernel(kernel), report.Sigma)
		if err != nil {
			return err
		}
		if errors[i], err = off(out); err != nil {
			return err
		}
	}
	blurred, err := off(y)
	if err != nil {
		return err
	}
	ratio := errors[1] / errors[0]
	r := b.row(kind)
	r.values = append(r.values, ratio)
	r.count(report, seconds)
	if report.Trust == "good" {
		r.good++
		if ratio > 3 {
			r.wrong++
		}
	}
	_, err = fmt.Fprintf(b.out, "%s, %s: blurred %.2f dB, known %.2f, estimated %.2f, ratio %.2f, %s, %.1f s\n",
		name, b.condition, decibels(blurred), decibels(errors[0]), decibels(errors[1]), ratio, report, seconds)
	return err
}

func decibels(e float64) float64 { return -10 * math.Log10(e) }
