// Command rawrace measures what denoising a raw photograph gains over denoising its development.
//
//	go run ./internal/rawrace -data FOLDER
//
// FOLDER has open/*/val and open2/*/val with photographs. A part of each is photographed by simulated
// sensors at several ISO. Each raw image is developed as it is; developed, and denoised by restore.Denoise; and denoised by
// restore.DenoiseRaw, and developed. All are compared with the development of the raw image without noise, by PSNR, and a row of the table
// has the means of one ISO. With the tag research there is a column for "general" on the four planes of a mosaic.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/internal/rawdenoise"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

func main() {
	data := flag.String("data", "", "`FOLDER` of the photographs")
	sensors := flag.Int("sensors", 8, "how many sensors, each with a photograph of its own")
	every := flag.Bool("every", false, "every photograph, and every ISO")
	threads := flag.Int("threads", 0, "threads, 0 for all")
	flag.Parse()
	if *data == "" || flag.NArg() > 0 || *sensors < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := race(context.Background(), os.Stdout, *data, *sensors, *every, *threads); err != nil {
		log.Fatal(err)
	}
}

const height, width = 480, 600

// scenes are the middles of the photographs that are large enough.
func scenes(ctx context.Context, data string) ([][]float32, error) {
	var list [][]float32
	for _, pattern := range []string{"open/*/val/*", "open2/*/val/*"} {
		files, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			m, err := imagefile.Read(ctx, f, imagefile.ReadOptions{})
			if err != nil {
				return nil, err
			}
			if m.Channels != 3 || m.Width < width || m.Height < height {
				continue
			}
			var scene []float32
			for c := range 3 {
				plane := m.Plane(c)
				for y := range height {
					scene = append(scene, plane[((m.Height-height)/2+y)*m.Width+(m.Width-width)/2:][:width]...)
				}
			}
			list = append(list, scene)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("there are no photographs in " + data)
	}
	return list, nil
}

// camera is one of the sensors, of a plain development.
func camera(number int, iso float64) cameranoise.Camera {
	c := cameranoise.Random(uint64(100 + number))
	c.Reduction, c.Resize, c.JPEG, c.RowNoise = 1, 1, nil, 0
	c.LumaSmoothing, c.ChromaSmoothing, c.Sharpening = 0, 0, 0
	c.Demosaicking = cameranoise.HamiltonAdams
	// The same electrons for all, so that ISO means the same; what differs is pattern, colours, exposure, tone and digits.
	c.FullWell, c.ISO, c.BlackLevel = 20000, iso, 1./32
	return c
}

// method is a way from a raw image to a picture, whose planes it returns.
type method struct {
	name string
	run  func(ctx context.Context, c cameranoise.Camera, noisy []float32) ([]float32, error)
}

func race(ctx context.Context, w io.Writer, data string, sensors int, every bool, threads int) error {
	photographs, err := scenes(ctx, data)
	if err != nil {
		return err
	}
	r, err := restore.New(restore.Threads(threads))
	if err != nil {
		return err
	}
	defer r.Close()
	methods := methodsOf(r)
	n, levels := sensors, []float64{400, 1600, 6400, 25600}
	if every {
		n, levels = max(sensors, len(photographs)), []float64{400, 800, 1600, 3200, 6400, 12800, 25600}
	}
	fmt.Fprintf(w, "%d photographs, %d raw images at each ISO\n\nISO", len(photographs), n)
	for _, m := range methods {
		fmt.Fprintf(w, "\t%s", m.name)
	}
	fmt.Fprintln(w, "\tsmallest gain over noisy")
	for _, iso := range levels {
		sums, gain := make([]float64, len(methods)), math.Inf(1)
		for k := range n {
			c, scene := camera(k%sensors, iso), photographs[k*len(photographs)/n%len(photographs)]
			scores, err := score(ctx, c, scene, uint64(k), methods)
			if err != nil {
				return err
			}
			for i, s := range scores {
				sums[i] += s / float64(n)
			}
			gain = min(gain, scores[ofRaw]-scores[0])
		}
		fmt.Fprintf(w, "%g", iso)
		for _, s := range sums {
			fmt.Fprintf(w, "\t%.2f", s)
		}
		fmt.Fprintf(w, "\t%.2f\n", gain)
	}
	return nil
}

// score returns the PSNR of each method.
func score(ctx context.Context, c cameranoise.Camera, scene []float32, seed uint64, methods []method) ([]float64, error) {
	clean, err := c.Mosaic(scene, height, width, 0, false)
	if err != nil {
		return nil, err
	}
	want, err := c.Develop(clean, height, width)
	if err != nil {
		return nil, err
	}
	noisy, err := c.Mosaic(scene, height, width, seed, true)
	if err != nil {
		return nil, err
	}
	var scores []float64
	for _, m := range methods {
		got, err := m.run(ctx, c, noisy)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		psnr, err := quality.PSNR(want, got, 1)
		if err != nil {
			return nil, err
		}
		scores = append(scores, psnr)
	}
	return scores, nil
}

// ofRaw is the number of the method that denoises raw images.
const ofRaw = 2

func methodsOf(r *restore.Restorer) []method {
	list := []method{
		{"noisy", func(_ context.Context, c cameranoise.Camera, noisy []float32) ([]float32, error) {
			return c.Develop(noisy, height, width)
		}},
		{"developed, denoised", func(ctx context.Context, c cameranoise.Camera, noisy []float32) ([]float32, error) {
			pix, err := c.Develop(noisy, height, width)
			if err != nil {
				return nil, err
			}
			return denoised(ctx, r, &restore.Planar{Width: width, Height: height, Channels: 3, Pix: pix})
		}},
		{"raw denoised", func(ctx context.Context, c cameranoise.Camera, noisy []float32) ([]float32, error) {
			out, _, err := r.DenoiseRaw(ctx, imageOf(c, noisy))
			if err != nil {
				return nil, err
			}
			return c.Develop(out.Pix, height, width)
		}},
	}
	if name := weights.General; slices.Contains(weights.Embedded(), name) {
		list = append(list, method{name + " on four planes", func(ctx context.Context, c cameranoise.Camera, noisy []float32) ([]float32, error) {
			out, _, err := rawdenoise.DenoisePlanes(ctx, imageOf(c, noisy), func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
				return denoised(ctx, r, &restore.Planar{Width: p.Width, Height: p.Height, Channels: p.Channels, Pix: p.Pix},
					restore.Method(name), restore.Sigma(sigma), restore.Shadows(false))
			})
			if err != nil {
				return nil, err
			}
			return c.Develop(out.Pix, height, width)
		}})
	}
	return list
}

func denoised(ctx context.Context, r *restore.Restorer, img *restore.Planar, options ...restore.Option) ([]float32, error) {
	out, _, err := r.Denoise(ctx, img, options...)
	if err != nil {
		return nil, err
	}
	return out.(*restore.Planar).Pix, nil
}

// imageOf is the raw image of a camera.
func imageOf(c cameranoise.Camera, light []float32) *raw.Image {
	m := &raw.Image{
		Width: width, Height: height, Samples: 1, Mosaic: true, Pix: light,
		Low: float32(-c.BlackLevel / (1 - c.BlackLevel)), Step: float32(1 / (float64(int(1)<<c.Bits-1) * (1 - c.BlackLevel))),
	}
	for i, colour := range c.Pattern.Filters() {
		m.Pattern[i/2][i%2] = raw.Colour(colour)
	}
	return m
}
