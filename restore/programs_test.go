package restore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/restore"
)

// denoiseHandler answers with the picture that it is sent, denoised, within a time.
func denoiseHandler(r *restore.Restorer, within time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithTimeout(request.Context(), within)
		defer cancel()
		img, _, err := image.Decode(http.MaxBytesReader(w, request.Body, 32<<20))
		if err != nil {
			http.Error(w, "this is no picture", http.StatusBadRequest)
			return
		}
		out, _, err := r.Denoise(ctx, img)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, "the picture is too large", http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, out) // nobody is left to tell
	}
}

// A web server denoises what it is sent. It has one Restorer for all requests, and a deadline for
// each.
func Example_webHandler() {
	r, err := restore.New(restore.Method(restore.Fast))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	picture, err := os.ReadFile("../testdata/readme/noisy.png")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, within := range []time.Duration{time.Minute, time.Nanosecond} {
		answer := httptest.NewRecorder()
		denoiseHandler(r, within)(answer, httptest.NewRequest("POST", "/denoise", bytes.NewReader(picture)))
		fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	}
	// Output:
	// 200 image/png
	// 503 text/plain; charset=utf-8
}

// The operator of this example is that of a sensor which adds up each pixel with its right
// neighbour. What it works on are plain numbers, one channel at a time.
func ExampleSolve() {
	const height, width = 84, 112
	sums := operator.Host{
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
	x, err := restore.FromImage(part(readPNG("../testdata/scene.png")))
	if err != nil {
		fmt.Println(err)
		return
	}
	measured := restore.NewPlanar(x.Channels, height, width/2)
	if err := sums.Apply(measured.Pix, x.Pix); err != nil { // all channels at once: rows do not meet
		fmt.Println(err)
		return
	}

	found, report, err := restore.Solve(context.Background(), sums.On, measured, restore.Sigma(0.01))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d×%d samples, converged: %v\n", found.Height, found.Width, report.Converged)
	fmt.Printf("proven to converge: %v\n", report.Iteration.Certificate.Converges())
	// Output:
	// 84×112 samples, converged: true
	// proven to converge: true
}

// median sets every sample of dst to the median of the 3×3 samples around it in src.
func median(ctx context.Context, dst, src *restore.Planar) error {
	for c := range src.Channels {
		from, to := src.Plane(c), dst.Plane(c)
		for y := range src.Height {
			if err := ctx.Err(); err != nil {
				return err
			}
			for x := range src.Width {
				var around []float32
				for v := max(y-1, 0); v <= min(y+1, src.Height-1); v++ {
					around = append(around, from[v*src.Width+max(x-1, 0):v*src.Width+min(x+2, src.Width)]...)
				}
				slices.Sort(around)
				to[y*src.Width+x] = around[len(around)/2]
			}
		}
	}
	return nil
}

// A denoiser of one's own takes the place of the library's, in any task. Of one that has a proof,
// Prior tells the library, so that the iteration has one.
func ExamplePriorFunc() {
	own := restore.PriorFunc(median)
	out, report, err := restore.Denoise(context.Background(), part(readPNG("../testdata/readme/noisy.png")), own)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v by %s\n", out.Bounds().Size(), report.Method)
	_, report, err = restore.Upscale(context.Background(), part(readPNG("../testdata/readme/denoised.png")), 2, own, restore.Iterations(4))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d iterations, proven to converge: %v\n", report.Iterations, report.Iteration.Certificate.Converges())
	// Output:
	// (112,84) by prior
	// 4 iterations, proven to converge: false
}

// A batch loads its network once, and takes no more memory than it is given.
func ExampleNew() {
	r, err := restore.New(restore.Method(restore.Fast), restore.MemoryLimit(64<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for _, name := range []string{"noisy", "blurred", "missing"} {
		f, err := os.Open("../testdata/readme/" + name + ".png")
		if err != nil {
			fmt.Println(name + ": no such picture")
			continue
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			fmt.Println(name+":", err)
			continue
		}
		_, report, err := r.Denoise(context.Background(), img)
		switch {
		case errors.Is(err, backend.ErrOutOfMemory):
			fmt.Println(name + ": too large")
		case err != nil:
			fmt.Println(name+":", err)
		default:
			fmt.Printf("%s: proven to be averaged: %v\n", name, report.Certified)
		}
	}
	// Output:
	// noisy: proven to be averaged: true
	// blurred: proven to be averaged: true
	// missing: no such picture
}
