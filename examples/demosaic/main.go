// Command demosaic finds the colours of a picture of which a sensor saw one in each pixel, behind a Bayer filter:
// the inverse problem of the operator inpaint.Mosaic, by an iteration that is proven to converge.
//
//	go run ./examples/demosaic testdata/scene.png found.png
package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log"
	"math"
	"os"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/inpaint"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/restore"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: demosaic IN.png OUT.png")
	}
	if err := simulate(context.Background(), os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// The filters, row by row: 0 red, 1 green, 2 blue.
var bayer = [2][2]int{{0, 1}, {1, 2}}

// simulate looks at a picture through the filters, and writes what is found from that.
func simulate(ctx context.Context, w io.Writer, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		return err
	}
	x, err := restore.FromImage(img)
	if err != nil {
		return err
	}
	if x.Channels != 3 {
		return errors.New("want a picture in colour")
	}
	measured := restore.NewPlanar(3, x.Height, x.Width)
	for row := range x.Height {
		for column := range x.Width {
			c, i := bayer[row%2][column%2], row*x.Width+column
			measured.Plane(c)[i] = x.Plane(c)[i]
		}
	}
	// The operator is made on the device that Solve computes on.
	mosaic := func(dev backend.Device) (operator.Linear, error) {
		return inpaint.NewMosaic(dev, bayer, x.Height, x.Width)
	}
	found, report, err := restore.Solve(ctx, mosaic, measured, restore.Sigma(0.01))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "converged: %v, proven to converge: %v\n", report.Iteration.Converged, report.Iteration.Run.Certificate.Converges())
	fmt.Fprintf(w, "PSNR %.1f dB\n", psnr(x.Pix, found.Pix))
	result, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(result, found), result.Close())
}

func psnr(a, b []float32) float64 {
	sum := 0.
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return -10 * math.Log10(sum/float64(len(a)))
}
