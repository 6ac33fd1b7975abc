// Command ownoperator restores a picture from measurements of an operator of its own: that of a
// sensor which adds up each pixel with its right neighbour. What it works on are plain numbers,
// one channel at a time.
//
//	go run ./examples/ownoperator testdata/scene.png found.png
package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log"
	"os"

	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/restore"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ownoperator IN.png OUT.png")
	}
	if err := simulate(context.Background(), os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// sums is the operator for images of the given size, an even number of pixels wide.
func sums(height, width int) operator.Host {
	return operator.Host{
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
}

// simulate measures a picture with the sensor, and writes what is found from the measurements.
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
	if x.Width%2 != 0 {
		return errors.New("want a picture that is an even number of pixels wide")
	}
	sensor := sums(x.Height, x.Width)
	measured := restore.NewPlanar(x.Channels, sensor.RangeH, sensor.RangeW)
	for c := range x.Channels {
		if err := sensor.Apply(measured.Plane(c), x.Plane(c)); err != nil {
			return err
		}
	}

	found, report, err := restore.Solve(ctx, sensor.On, measured, restore.Sigma(0.01))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d×%d samples, converged: %v\n", found.Height, found.Width, report.Iteration.Converged)
	fmt.Fprintf(w, "proven to converge: %v\n", report.Iteration.Run.Certificate.Converges())
	result, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(result, found), result.Close())
}
