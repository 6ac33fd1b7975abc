// Command owndenoiser removes noise, and enlarges a picture, with a denoiser of its own in the place
// of the library's: the median of 3×3 pixels.
//
//	go run ./examples/owndenoiser testdata/readme/noisy.png larger.png
//
// Nothing is proven of a denoiser like this one, and so nothing of the iteration. If yours
// has a proof, restore.AveragedPriorFunc tells the library.
package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"io"
	"log"
	"os"
	"slices"

	"github.com/averaged/imaging/restore"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: owndenoiser IN OUT.png")
	}
	if err := enlarge(context.Background(), os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
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

// enlarge denoises a picture, and writes it twice as large.
func enlarge(ctx context.Context, w io.Writer, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		return err
	}
	own := restore.PriorFunc(median)
	clean, report, err := restore.Denoise(ctx, img, own)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%v by %s\n", clean.Bounds().Size(), report.Method)
	large, report, err := restore.Upscale(ctx, clean, 2, own, restore.Iterations(4))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d iterations, proven to converge: %v\n", report.Iteration.Count, report.Iteration.Run.Certificate.Converges())
	result, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(result, large), result.Close())
}
