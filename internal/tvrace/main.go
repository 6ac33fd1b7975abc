// Command tvrace times the total variation solver against a reference in C on the
// same input, in turn, and prints medians and their ratio:
//
//	go run ./internal/tvrace -reference tvc.c -image photo.jpg
//
// The reference is a C file with the function
//
//	int tv_rof(const double *y, double *u, int h, int w, double alpha, double tol,
//	           int maxit, double *gap, double *primal);
//
// which solves one channel to gap ≤ tol·primal. It is compiled by gcc with -O3
// -march=native -ffast-math and runs on one thread.
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/tv"
)

// The name ends in .txt because a package without cgo may hold no C file.
//
//go:embed reference.c.txt
var referenceMain []byte

func main() {
	log.SetFlags(0)
	reference := flag.String("reference", "", "C file with tv_rof")
	path := flag.String("image", "testdata/scene.png", "picture to add noise to")
	sigma := flag.Float64("sigma", 0.15, "standard deviation of the noise")
	alpha := flag.Float64("alpha", 0.125, "weight of total variation, per channel")
	runs := flag.Int("runs", 7, "runs of each at each gap")
	flag.Parse()
	if err := race(*reference, *path, *sigma, *alpha, *runs); err != nil {
		log.Fatal(err)
	}
}

func race(reference, path string, sigma, alpha float64, runs int) error {
	img, err := imagefile.Read(context.Background(), path, imagefile.ReadOptions{})
	if err != nil {
		return err
	}
	for i := range img.Pix {
		img.Pix[i] += float32(sigma) * backend.GaussianAt(1, uint64(i))
	}
	folder, err := os.MkdirTemp("", "tvrace")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	solver, input, err := compile(folder, reference, img)
	if err != nil {
		return err
	}
	for _, set := range cpu.InstructionSets() {
		for _, gap := range []float64{1e-3, 1e-4, 1e-5, 1e-6} {
			var ours, theirs []float64
			var ourGap, theirGap float64
			for range runs {
				t, g, err := solve(set, img, alpha, gap)
				if err != nil {
					return err
				}
				ours, ourGap = append(ours, t), g
				out, err := exec.Command(solver, input, fmt.Sprint(img.Channels), fmt.Sprint(img.Height), fmt.Sprint(img.Width),
					fmt.Sprint(alpha), fmt.Sprint(gap), "1").Output()
				if err != nil {
					return err
				}
				if _, err := fmt.Sscan(string(out), &t, &theirGap); err != nil {
					return err
				}
				theirs = append(theirs, t)
			}
			a, b := racing.Median(ours), racing.Median(theirs)
			fmt.Printf("%-9v gap %g: ours %6.1f ms (gap %.1e)  reference %6.1f ms (gap %.1e)  ratio %.2f\n",
				set, gap, 1e3*a, ourGap, 1e3*b, theirGap, b/a)
		}
	}
	return nil
}

// solve returns the seconds of one solution from the noisy samples to the result.
func solve(set cpu.InstructionSet, img *imagefile.Image, alpha, gap float64) (seconds, reached float64, err error) {
	dev, err := cpu.Open(cpu.UseInstructionSet(set))
	if err != nil {
		return 0, 0, err
	}
	defer dev.Close()
	shape := backend.Image(img.Channels, img.Height, img.Width)
	src, err := dev.Wrap(shape, img.Pix)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	dst, err := dev.Alloc(shape)
	if err != nil {
		return 0, 0, err
	}
	prox, err := tv.New(dev, shape, tv.Options{Alpha: alpha, Coupling: tv.PerChannel(), RelativeGap: gap})
	if err != nil {
		return 0, 0, err
	}
	defer prox.Free()
	if err := prox.Apply(context.Background(), dst, src); err != nil {
		return 0, 0, err
	}
	return time.Since(begin).Seconds(), prox.Report().RelativeGap(), nil
}

// compile builds the reference and writes its input.
func compile(folder, reference string, img *imagefile.Image) (solver, input string, err error) {
	mainFile := filepath.Join(folder, "main.c")
	if err := os.WriteFile(mainFile, referenceMain, 0o600); err != nil {
		return "", "", err
	}
	solver, input = filepath.Join(folder, "solver"), filepath.Join(folder, "input")
	gcc := exec.Command("gcc", "-O3", "-march=native", "-ffast-math", mainFile, reference, "-o", solver, "-lm")
	gcc.Stderr = os.Stderr
	if err := gcc.Run(); err != nil {
		return "", "", fmt.Errorf("compiling %s: %w", reference, err)
	}
	var raw []byte
	for _, v := range img.Pix {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(float64(v)))
	}
	return solver, input, os.WriteFile(input, raw, 0o600)
}
