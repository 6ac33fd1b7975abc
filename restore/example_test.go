package restore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"sync"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/raw"
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

// A server has one Restorer for all goroutines, a limit of memory, and a deadline for each call.
func ExampleNew() {
	r, err := restore.New(restore.Method("fast"), restore.MemoryLimit(1<<30))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	img := part(readPNG("../testdata/readme/noisy.png"))
	var calls sync.WaitGroup
	var results [3]image.Image
	for i := range results {
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			var err error
			if results[i], _, err = r.Denoise(ctx, img); err != nil {
				fmt.Println(err)
			}
		})
	}
	calls.Wait()
	for _, out := range results {
		fmt.Println(out.Bounds())
	}
	// Output:
	// (0,0)-(112,84)
	// (0,0)-(112,84)
	// (0,0)-(112,84)
}

// Errors tell what is to blame: the image, the options, the time, or the memory.
func ExampleRestorer_errors() {
	blame := func(err error) string {
		var option *restore.OptionError
		switch {
		case err == nil:
			return "nothing"
		case errors.Is(err, restore.ErrImage), errors.Is(err, restore.ErrMask):
			return "the image"
		case errors.As(err, &option):
			return "the option " + option.Option
		case errors.Is(err, restore.ErrMethod):
			return "the name of the method"
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return "the time"
		case errors.Is(err, backend.ErrOutOfMemory):
			return "the memory"
		default: // the device, a closed Restorer, or what a Progress returned
			return err.Error()
		}
	}
	r, err := restore.New(restore.MemoryLimit(4 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	denoise := func(ctx context.Context, img image.Image, options ...restore.Option) error {
		_, _, err := r.Denoise(ctx, img, options...)
		return err
	}
	ctx, img := context.Background(), readPNG("../testdata/readme/noisy.png")
	fmt.Println(blame(denoise(ctx, &image.NRGBA{})))
	fmt.Println(blame(denoise(ctx, img, restore.Sigma(-1))))
	fmt.Println(blame(denoise(ctx, img, restore.Method("best"))))
	late, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	fmt.Println(blame(denoise(late, img)))
	fmt.Println(blame(denoise(ctx, img, restore.Method("fast"))))
	// Output:
	// the image
	// the option Sigma
	// the name of the method
	// the time
	// the memory
}

// Progress tells how far the work is, and may stop it.
func ExampleProgress() {
	img := part(readPNG("../testdata/readme/noisy.png"))
	enough := errors.New("enough")
	stop := restore.Progress(func(p backend.Progress) error {
		if p.Fraction > 0.5 {
			return enough
		}
		return nil
	})
	_, _, err := restore.Upscale(context.Background(), img, 2, restore.Method("tv"), stop)
	fmt.Println(errors.Is(err, enough))
	// Output: true
}

// A *Planar holds samples as float32, and the result of one is neither rounded nor clipped.
func ExampleFromImage() {
	samples, err := restore.FromImage(part(readPNG("../testdata/readme/noisy.png")))
	if err != nil {
		fmt.Println(err)
		return
	}
	red := samples.Plane(0)
	red[0] = 1.5 // brighter than an image.Image can be
	out, _, err := restore.Denoise(context.Background(), samples, restore.Method("fast"), restore.Sigma(0.15))
	if err != nil {
		fmt.Println(err)
		return
	}
	clean := out.(*restore.Planar)
	fmt.Println(clean.Channels, clean.Height, clean.Width, len(clean.Pix))
	// Output: 3 84 112 28224
}

// A weight file is read once, and its certificate is verified. The report says what was used.
func ExampleWeights() {
	file, err := weights.ReadFile("../weights/open/fast.safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := restore.New(restore.Weights(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	_, report, err := r.Denoise(context.Background(), part(readPNG("../testdata/readme/noisy.png")))
	if errors.Is(err, denoise.ErrCertificate) || errors.Is(err, weights.ErrChecksum) {
		fmt.Println("this file is not what it says:", err)
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, proven to be averaged: %v\n", report.Method, report.Certified && report.Averagedness < 1)
	// Output: fast, proven to be averaged: true
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

// A raw photograph stays one.
func ExampleDenoiseRawFile() {
	in, err := os.ReadFile("photo.dng")
	if err != nil {
		fmt.Println(err)
		return
	}
	photo, err := raw.Read(bytes.NewReader(in), int64(len(in)), raw.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	clean, report, err := restore.DenoiseRawFile(context.Background(), photo)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("hot pixels:", report.Raw.HotPixels)
	var out bytes.Buffer
	if err := photo.Write(&out, clean); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile("photo.denoised.dng", out.Bytes(), 0o644); err != nil {
		fmt.Println(err)
	}
}

// Without a kernel, DeblurBlind estimates the blur from the photograph.
func ExampleDeblurBlind() {
	out, report, err := restore.DeblurBlind(context.Background(), readPNG("../testdata/readme/blurred.png"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Bounds().Size(), report.Blur)
	for _, doubt := range report.Doubts {
		fmt.Println(doubt)
	}
}

// A program that decodes a JPEG tells how it was compressed, so that what the coding has changed is not taken for detail.
func ExampleCompressionOf() {
	var file bytes.Buffer // in the place of os.ReadFile
	if err := jpeg.Encode(&file, part(readPNG("../testdata/readme/restored.png")), &jpeg.Options{Quality: 60}); err != nil {
		fmt.Println(err)
		return
	}
	img, _, err := image.Decode(bytes.NewReader(file.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	how, err := restore.CompressionOf(img, file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, report, err := restore.Upscale(context.Background(), img, 2, restore.Compressed(how), restore.Method("tv"), restore.Iterations(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d×%d pixels share a colour, the coding changed %.3f, removed is noise of %.3f\n", how.ChromaX, how.ChromaY, how.Noise, report.Noise.Sigma)
	// Output: 2×2 pixels share a colour, the coding changed 0.008, removed is noise of 0.017
}

func ExampleUpscale() {
	img := part(readPNG("../testdata/readme/restored.png"))
	out, report, err := restore.Upscale(context.Background(), img, 2, restore.Method("tv"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(img.Bounds().Size(), "to", out.Bounds().Size(), "proven to converge:", report.Iteration.Run.Certificate.Converges())
	// Output: (112,84) to (224,168) proven to converge: true
}

// An operator of one's own: a sensor adds up each pixel with its right neighbour.
func ExampleSolve() {
	const height, width = 4, 6
	sensor := operator.Host{
		DomainH: height, DomainW: width, RangeH: height, RangeW: width / 2,
		Apply: func(dst, src []float32) error {
			for i := range dst {
				dst[i] = src[2*i] + src[2*i+1]
			}
			return nil
		},
		Adjoint: func(dst, src []float32) error {
			for i, v := range src {
				dst[2*i], dst[2*i+1] = v, v
			}
			return nil
		},
		Norm: 1.4143, Reason: "each row of K has two ones, and no two rows meet: KKᵀ = 2",
	}
	y := restore.NewPlanar(1, height, width/2)
	for i := range y.Pix {
		y.Pix[i] = 1 // two pixels of 0.5
	}
	x, report, err := restore.Solve(context.Background(), sensor.On, y, restore.Method("tv"), restore.Sigma(0.01))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, proven to converge: %v\n", x.Pix[0], report.Iteration.Run.Certificate.Converges())
	// Output: 0.50, proven to converge: true
}

// A denoiser of one's own serves every task.
func ExamplePriorFunc() {
	mean := func(ctx context.Context, dst, src *restore.Planar) error {
		for i := range dst.Pix {
			dst.Pix[i] = (src.Pix[max(i-1, 0)] + src.Pix[i] + src.Pix[min(i+1, len(src.Pix)-1)]) / 3
		}
		return ctx.Err()
	}
	y := &restore.Planar{Width: 6, Height: 1, Channels: 1, Pix: []float32{0.5, 0.5, 0.8, 0.5, 0.5, 0.5}}
	out, report, err := restore.Denoise(context.Background(), y, restore.PriorFunc(mean))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f by %s, proven: %v\n", out.(*restore.Planar).Pix, report.Method, report.Certified)
	// Output: [0.5 0.6 0.6 0.6 0.5 0.5] by prior, proven: false
}

// The mean of a sample and its mirror image is a projection onto a subspace, which is ½-averaged. So the iteration with it
// is proven to converge.
func ExampleAveragedPriorFunc() {
	symmetric := func(ctx context.Context, dst, src *restore.Planar) error {
		for i, v := range src.Pix {
			dst.Pix[i] = (v + src.Pix[len(src.Pix)-1-i]) / 2
		}
		return ctx.Err()
	}
	y := &restore.Planar{Width: 4, Height: 1, Channels: 1, Pix: []float32{0.2, 0.6, 0, 0}}
	mask := image.NewGray(y.Bounds())
	mask.Pix[2], mask.Pix[3] = 255, 255
	out, report, err := restore.Inpaint(context.Background(), y, mask, restore.AveragedPriorFunc(0.5, symmetric))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f, proven to converge: %v\n", out.(*restore.Planar).Pix, report.Iteration.Run.Certificate.Converges())
	// Output: [0.2 0.6 0.6 0.2], proven to converge: true
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
	e, err := restore.EstimateNoise(context.Background(), readPNG("../testdata/readme/noisy.png"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, reliable: %v\n", e.Sigma, e.Reliable)
	// Output: 0.15, reliable: true
}
