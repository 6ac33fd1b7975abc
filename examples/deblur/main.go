// Command deblur removes a known blur from a picture, and prints what is proven of the iteration
// that did it.
//
//	go run ./examples/deblur testdata/readme/kernel.png testdata/readme/blurred.png sharp.png
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

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: deblur KERNEL IN OUT.png")
	}
	if err := sharpen(context.Background(), os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

// sharpen writes a picture without the blur of a kernel.
func sharpen(ctx context.Context, w io.Writer, kernelFile, from, to string) error {
	picture, err := decode(kernelFile)
	if err != nil {
		return err
	}
	kernel, err := deblur.KernelFromImage(picture)
	if err != nil {
		return fmt.Errorf("%s: %w", kernelFile, err)
	}
	img, err := decode(from)
	if err != nil {
		return err
	}
	out, report, err := restore.Deblur(ctx, img, kernel)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "converged: %v, noise %.3f\n%v", report.Iteration.Converged, report.Noise.Sigma, report.Iteration.Run.Certificate)
	result, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(result, out), result.Close())
}

func decode(name string) (image.Image, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return img, nil
}
