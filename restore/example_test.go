package restore_test

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"os"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

func readPNG(path string) image.Image {
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		panic(err)
	}
	return img
}

// part returns the upper left corner of a picture, so that an example takes a moment only.
func part(img image.Image) image.Image {
	b := img.Bounds()
	b.Max = b.Min.Add(image.Pt(112, 84))
	return img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(b)
}

func ExampleDenoise() {
	img := readPNG("../testdata/readme/noisy.png")
	out, report, err := restore.Denoise(context.Background(), img)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%T of %v, noise %.2f, proven to be averaged: %v\n",
		out, out.Bounds().Size(), report.Noise.Sigma, report.Certified && report.Averagedness < 1)
	// Output: *image.NRGBA of (480,320), noise 0.15, proven to be averaged: true
}

func ExampleDeblur() {
	img := part(readPNG("../testdata/readme/blurred.png"))
	kernel, err := deblur.KernelFromImage(readPNG("../testdata/readme/kernel.png"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, report, err := restore.Deblur(context.Background(), img, kernel, restore.Sigma(0.01))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := report.Iteration.Run.Certificate
	fmt.Printf("converged: %v\n", report.Iteration.Converged)
	fmt.Printf("‖K‖ ≤ %.4g, proven to converge: %v, a fixed point exists: %v\n", c.Norm, c.Converges(), c.FixedPointExists())
	// Output:
	// converged: true
	// ‖K‖ ≤ 1, proven to converge: true, a fixed point exists: true
}

func ExampleCheck() {
	report, err := restore.Check(context.Background(), nil, deblur.Kernel{}, restore.Method("tv"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Certificate)
	// Output:
	// denoiser       Φ is 0.5-averaged (proven)
	// operator       ‖K‖ ≤ 1: unknown: the sum of the weights, none of which is negative (Young's inequality)
	// gradient step  τ = 1: x − τ∇E(x) is 0.5-averaged (Baillon–Haddad)
	// iteration      T is 0.75-averaged (Combettes–Yamada 2015, Proposition 2.5)
	// fixed point    exists: T maps the box [0,1]ⁿ continuously into itself (Brouwer)
	// residual       min ‖x − T(x)‖ ≤ 1.73205·(‖x₀ − x*‖ + errors)/√(k+1) after k steps (Krasnoselskii–Mann)
}

// The weights of this example are random, from a seed: they restore nothing. Those of
// a trained network come from weights.Open, or from a file with weights.Read.
func ExampleNetwork() {
	ctx := context.Background()
	model, err := denoise.RandomModel(1, denoise.Architecture{Width: 8, Blocks: 2}, 1.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := model.File(weights.Card{
		Name: "random", Sigma: 0.15, Licence: "Apache-2.0",
		Provenance: weights.Provenance{Software: "denoise.RandomModel", Data: "none"},
	}, denoise.Certificate{})
	if err != nil {
		fmt.Println(err)
		return
	}

	dev, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	network, err := denoise.Load(ctx, dev, file) // certifies it, because the file has no certificate
	if err != nil {
		fmt.Println(err)
		return
	}
	defer network.Free()
	_, report, err := restore.Denoise(ctx, readPNG("../testdata/readme/noisy.png"), restore.Network(network), restore.Sigma(0.3), restore.Adaptation(false))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("method %s, rescaled by %g, proven to be averaged: %v\n", report.Method, report.Network.Rescaling, report.Certified && report.Averagedness < 1)
	// Output: method euler, rescaled by 2, proven to be averaged: true
}

func ExampleEstimateNoise() {
	e, err := restore.EstimateNoise(readPNG("../testdata/readme/noisy.png"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, reliable: %v\n", e.Sigma, e.Reliable)
	// Output: 0.15, reliable: true
}
