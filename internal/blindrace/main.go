// Command blindrace measures deblurring without a kernel on a folder of photographs: each is blurred
// beyond its frame by each kernel, gets noise, and is rounded to 8 bits; its kernel is estimated, and
// what restore.Deblur makes with that is compared with what it makes with the true one.
//
//	go run ./internal/blindrace -count 16 FOLDER
//
// Printed are Levin's error ratio (Levin, Weiss, Durand and Freeman 2009), ‖x_estimated − x‖² over
// ‖x_known − x‖², both up to a shift of the image, inside half a kernel and 8 pixels from the frame, and
// means over all. Everything is grey, as in that paper.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/restore"
	_ "github.com/averaged/imaging/weights/research"
)

func main() {
	log.SetFlags(0)
	var b bench
	count := flag.Int("count", 16, "how many photographs, spread over the folder")
	kinds := flag.String("kernels", "shake", "shake: the eight shakes of bench/deblur.sh; shapes: motions, disks, Gaussians and none")
	most := flag.Int("most", 0, "of the kernels only so many, in turn, for each photograph; 0: all")
	flag.Float64Var(&b.noise, "noise", 2.55, "standard deviation of the noise, of 255")
	flag.IntVar(&b.quality, "jpeg", 0, "quality of JPEG to save each photograph in; 0: none")
	flag.IntVar(&b.crop, "crop", 0, "side of a square in the middle of each photograph; 0: all of it")
	flag.StringVar(&b.method, "prior", restore.TV, "prior of the deblurring")
	flag.IntVar(&b.threads, "threads", 0, "threads, 0: all")
	flag.Parse()
	files, err := filepath.Glob(filepath.Join(flag.Arg(0), "*.*"))
	if err != nil || len(files) == 0 {
		log.Fatalf("blindrace: no photographs in %q", flag.Arg(0))
	}
	kernels, err := kernelsOf(*kinds)
	if err != nil {
		log.Fatal(err)
	}
	n := min(*count, len(files))
	for i := range n {
		f := files[i*len(files)/n]
		x, err := b.read(f)
		if err != nil {
			log.Fatal(err)
		}
		each := len(kernels)
		if *most > 0 {
			each = min(*most, each)
		}
		for j := range each {
			at := (i*each + j) % len(kernels)
			if err := b.one(filepath.Base(f), at, x, kernels[at], uint64(i*len(kernels)+at+1)); err != nil {
				log.Fatal(err)
			}
		}
	}
	b.summary()
}

type bench struct {
	noise         float64
	quality, crop int
	method        string
	threads       int
	ratios        []float64
	loss, seconds float64
}

func kernelsOf(kind string) (all []deblur.Kernel, err error) {
	add := func(k deblur.Kernel, e error) {
		all = append(all, k)
		if err == nil {
			err = e
		}
	}
	switch kind {
	case "shake":
		for i, size := range []int{19, 17, 15, 27, 13, 21, 23, 25} {
			add(deblur.Shake(size, uint64(i)))
		}
	case "shapes":
		add(deblur.Motion(15, 30))
		add(deblur.Motion(8, 100))
		add(deblur.Disk(4))
		add(deblur.Disk(2.5))
		add(deblur.Gaussian(1.6))
		add(deblur.Gaussian(2.5))
		add(deblur.Motion(1, 0))
	default:
		err = fmt.Errorf("blindrace: kernels %q, want shake or shapes", kind)
	}
	return all, err
}

// read returns the brightness of a photograph.
func (b *bench) read(path string) (*restore.Planar, error) {
	m, err := imagefile.Read(path, imagefile.ReadOptions{})
	if err != nil {
		return nil, err
	}
	h, w := m.Height, m.Width
	if b.crop > 0 {
		h, w = min(h, b.crop), min(w, b.crop)
	}
	top, left := (m.Height-h)/2, (m.Width-w)/2
	p := restore.NewPlanar(1, h, w)
	weights := []float32{1}
	if m.Channels == 3 {
		weights = []float32{.299, .587, .114}
	}
	for c, weight := range weights {
		plane := m.Plane(c)
		for i := range p.Pix {
			p.Pix[i] += weight * plane[(top+i/w)*m.Width+left+i%w]
		}
	}
	return p, nil
}

// one blurs a photograph and restores it with both kernels.
func (b *bench) one(name string, number int, x *restore.Planar, k deblur.Kernel, seed uint64) error {
	y, err := b.degrade(x, k, seed)
	if err != nil {
		return err
	}
	ctx, began := context.Background(), time.Now()
	found, report, err := restore.EstimateKernel(ctx, y, restore.Threads(b.threads))
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	var errors [2]float64
	for i, kernel := range []deblur.Kernel{k, found} {
		out, _, err := restore.Deblur(ctx, y, kernel, restore.Method(b.method), restore.Threads(b.threads))
		if err != nil {
			return err
		}
		if errors[i], err = upToShift(out.(*restore.Planar), x, k); err != nil {
			return err
		}
	}
	blurred, err := upToShift(y, x, k)
	if err != nil {
		return err
	}
	ratio := errors[1] / errors[0]
	b.ratios = append(b.ratios, ratio)
	b.loss += 10 * math.Log10(ratio)
	b.seconds += seconds
	psnr := func(e float64) float64 { return -10 * math.Log10(e) }
	fmt.Printf("%s kernel %d: blurred %.2f dB, known %.2f, estimated %.2f, ratio %.2f, %s, %.1f s\n",
		name, number, psnr(blurred), psnr(errors[0]), psnr(errors[1]), ratio, report, seconds)
	return nil
}

// degrade blurs beyond the frame, adds noise, and rounds.
func (b *bench) degrade(x *restore.Planar, k deblur.Kernel, seed uint64) (*restore.Planar, error) {
	h, w := x.Height-k.H+1, x.Width-k.W+1
	random := rand.New(rand.NewPCG(seed, 1))
	grey := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for i := range w {
			sum := 0.0
			for j, weight := range k.Weights {
				if weight != 0 {
					sum += float64(weight) * float64(x.Pix[(y+k.H-1-j/k.W)*x.Width+i+k.W-1-j%k.W])
				}
			}
			sum = 255*sum + b.noise*random.NormFloat64()
			grey.Pix[y*grey.Stride+i] = uint8(math.Round(min(max(sum, 0), 255)))
		}
	}
	if b.quality > 0 {
		var file bytes.Buffer
		if err := jpeg.Encode(&file, grey, &jpeg.Options{Quality: b.quality}); err != nil {
			return nil, err
		}
		img, err := jpeg.Decode(&file)
		if err != nil {
			return nil, err
		}
		return restore.FromImage(img)
	}
	return restore.FromImage(grey)
}

func (b *bench) summary() {
	slices.Sort(b.ratios)
	n := float64(len(b.ratios))
	below := func(limit float64) float64 {
		i, _ := slices.BinarySearch(b.ratios, limit)
		return 100 * float64(i) / n
	}
	fmt.Fprintf(os.Stdout, "noise %g, JPEG %d, %d photographs: below 2 %.0f %%, below 3 %.0f %%, median %.2f, mean loss %.2f dB, %.1f s each\n",
		b.noise, b.quality, len(b.ratios), below(2), below(3), racing.Median(b.ratios), b.loss/n, b.seconds/n)
}
