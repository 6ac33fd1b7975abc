// Command blindrace measures deblurring without a kernel on a folder of photographs: each is blurred
// beyond its frame by each kernel, gets noise, is rounded to 8 bits and, if asked for, saved as JPEG; its
// kernel is estimated, and what is made of the photograph with that is compared with what is made of it
// with the true one.
//
//	go run ./internal/blindrace -count 8 -kernel-count 2 -crop 320 -noise 0,2.55,7.65 -jpeg 0,90 FOLDER
//
// Printed are Levin's error ratio (Levin, Weiss, Durand and Freeman 2009), ‖x_estimated − x‖² over
// ‖x_known − x‖², both up to a shift of the image, inside half a kernel and 8 pixels from the frame, and
// a table with a row for every noise level, quality of JPEG and kind of kernel. Everything is grey, as in
// that paper.
//
// With -vary it is the report that is measured: whether it tells photographs whose blur varies over the
// frame from those whose blur does not. With -grid a rotation of the camera is removed with one kernel and with kernels on a grid,
// known and estimated; the ratio is then that of the errors of the estimated ones, grid over single. With -real the photographs are
// those of a set of real shakes, with measured kernels.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/internal/srgb"
	"github.com/averaged/imaging/restore"
	_ "github.com/averaged/imaging/weights/research"
)

func main() {
	log.SetFlags(0)
	b := bench{out: os.Stdout}
	count := flag.Int("count", 16, "how many photographs, spread over the folder")
	kinds := flag.String("kernels", "shake", "shake: the eight shakes of bench/deblur.sh; unseen: eight others; long: eight of 45 and 75 samples; shapes: motions, disks, Gaussians and none")
	kernelCount := flag.Int("kernel-count", 0, "kernels for each photograph, in turn; 0: all")
	noise := flag.String("noise", "2.55", "standard deviations of the noise, of 255")
	quality := flag.String("jpeg", "0", "qualities of JPEG to save each photograph in; 0: none")
	flag.IntVar(&b.crop, "crop", 0, "side of a square in the middle of each photograph; 0: all of it")
	flag.StringVar(&b.method, "prior", "tv", "prior of the deblurring; wiener: Wiener's filter alone, which is quick")
	flag.BoolVar(&b.light, "light", false, "blur light, before sRGB's curve, and not samples")
	told := flag.String("linear-light", "auto", "what the estimate and the deblurring are told (not with -prior wiener): on, that light was blurred; off, that samples were; auto, nothing")
	flag.IntVar(&b.threads, "threads", 0, "threads, 0: all")
	vary := flag.Bool("vary", false, "see whether the report tells blur that varies over the frame, and deblur nothing")
	grid := flag.Bool("grid", false, "restore blur that varies over the frame, with one kernel and with a grid of kernels")
	isReal := flag.Bool("real", false, "restore the photographs of real shakes in FOLDER/blurred, with FOLDER/kernel and without")
	flag.Parse()
	switch *told {
	case "on":
		b.told = restore.LinearLight()
	case "off":
		b.told = restore.StoredSamples()
	case "auto":
	default:
		log.Fatalf("blindrace: -linear-light %q, want auto, on or off", *told)
	}
	if *isReal {
		if err := b.realShakes(flag.Arg(0)); err != nil {
			log.Fatal(err)
		}
		if err := b.summary(false); err != nil {
			log.Fatal(err)
		}
		return
	}
	files, err := filepath.Glob(filepath.Join(flag.Arg(0), "*.*"))
	if err != nil || len(files) == 0 {
		log.Fatalf("blindrace: no photographs in %q", flag.Arg(0))
	}
	kernels, err := kernelsOf(*kinds)
	if err != nil {
		log.Fatal(err)
	}
	conditions, err := conditionsOf(*noise, *quality)
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
		if *kernelCount > 0 {
			each = min(*kernelCount, each)
		}
		for j := range each {
			at := (i*each + j) % len(kernels)
			for _, c := range conditions {
				b.condition, b.seed = c, uint64(i*len(kernels)+at+1)
				run := b.one
				switch {
				case *vary:
					run = b.varying
				case *grid:
					run = b.byParts
				}
				if err := run(filepath.Base(f), x, kernels, at); err != nil {
					log.Fatal(err)
				}
			}
		}
	}
	if err := b.summary(*vary); err != nil {
		log.Fatal(err)
	}
}

// condition is what becomes of a photograph that is blurred.
type condition struct {
	noise   float64 // standard deviation, of 255
	quality int     // of JPEG, 0: none
}

func conditionsOf(noise, quality string) (all []condition, err error) {
	for _, a := range strings.Split(noise, ",") {
		sigma, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return nil, fmt.Errorf("blindrace: noise %q, want numbers with commas between them", noise)
		}
		for _, b := range strings.Split(quality, ",") {
			q, err := strconv.Atoi(b)
			if err != nil || q < 0 || q > 100 {
				return nil, fmt.Errorf("blindrace: qualities %q, want 0 to 100 with commas between them", quality)
			}
			all = append(all, condition{sigma, q})
		}
	}
	return all, nil
}

type bench struct {
	condition
	seed    uint64
	crop    int
	method  string
	threads int
	light   bool           // light is blurred
	told    restore.Option // what was blurred, nil: nothing
	out     io.Writer
	rows    []*row
}

// row is one of the table.
type row struct {
	condition
	kind    string
	values  []float64 // ratios of errors, or variations
	seconds float64
	varies  int // how many were said to vary
	trusted int // how many were not called doubtful
	good    int // how many were called good
	inLight int // of how many light was said to be blurred
	wrong   int // of these, how many have a ratio above 3
}

// row returns that of the condition at hand and a kind of blur.
func (b *bench) row(kind string) *row {
	for _, r := range b.rows {
		if r.condition == b.condition && r.kind == kind {
			return r
		}
	}
	r := &row{condition: b.condition, kind: kind}
	b.rows = append(b.rows, r)
	return r
}

// blur is a kernel and what kind it is.
type blur struct {
	kind string
	deblur.Kernel
}

func kernelsOf(kinds string) (all []blur, err error) {
	add := func(kind string, k deblur.Kernel, e error) {
		all = append(all, blur{kind, k})
		if err == nil {
			err = e
		}
	}
	shape := func(kind string, of func(float64) (deblur.Kernel, error), of1 float64) {
		k, err := of(of1)
		add(kind, k, err)
	}
	switch kinds {
	case "shake":
		for i, size := range []int{19, 17, 15, 27, 13, 21, 23, 25} {
			k, err := deblur.Shake(size, uint64(i))
			add("shake", k, err)
		}
	case "unseen": // by which nothing was chosen
		for i, size := range []int{21, 15, 25, 17, 23, 13, 19, 27} {
			k, err := deblur.Shake(size, uint64(100+i))
			add("shake", k, err)
		}
	case "long": // by which nothing was chosen, either
		for i := range 8 {
			k, err := deblur.Shake([]int{45, 75}[i%2], uint64(200+i))
			add("shake", k, err)
		}
	case "shapes":
		for _, m := range [][2]float64{{15, 30}, {8, 100}} {
			shape("motion", func(l float64) (deblur.Kernel, error) { return deblur.Motion(l, m[1]) }, m[0])
		}
		shape("disk", deblur.Disk, 4)
		shape("disk", deblur.Disk, 2.5)
		shape("Gaussian", deblur.Gaussian, 1.6)
		shape("Gaussian", deblur.Gaussian, 2.5)
		shape("none", func(l float64) (deblur.Kernel, error) { return deblur.Motion(l, 0) }, 1)
	default:
		err = fmt.Errorf("blindrace: kernels %q, want shake, unseen, long or shapes", kinds)
	}
	return all, err
}

// read returns the brightness of a photograph.
func (b *bench) read(path string) (*restore.Planar, error) {
	m, err := imagefile.Read(context.Background(), path, imagefile.ReadOptions{})
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
func (b *bench) one(name string, x *restore.Planar, kernels []blur, number int) error {
	k := kernels[number].Kernel
	y, coding, err := b.degrade(x, k, func(y, x int) deblur.Kernel { return k })
	if err != nil {
		return err
	}
	ctx, began := context.Background(), time.Now()
	found, report, err := restore.EstimateKernel(ctx, y, b.options(coding)...)
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	return b.compare(fmt.Sprintf("%s kernel %d", name, number), kernels[number].kind, y, k, found, report, seconds, func(p *restore.Planar) (float64, error) {
		return upToShift(p, x, inside(k))
	})
}

func (r *row) count(report *restore.KernelReport, seconds float64) {
	r.seconds += seconds
	if report.Varies {
		r.varies++
	}
	if report.Trust != "doubtful" {
		r.trusted++
	}
	if report.LinearLight {
		r.inLight++
	}
}

func (c condition) String() string {
	if c.quality == 0 {
		return fmt.Sprintf("noise %g", c.noise)
	}
	return fmt.Sprintf("noise %g, JPEG %d", c.noise, c.quality)
}

// options are those of estimates, for a photograph whose compression has noise.
func (b *bench) options(coding float64) []restore.Option {
	return append(b.about(), restore.Compressed(restore.Compression{Noise: coding}))
}

// about are the options of estimates and deblurring alike.
func (b *bench) about() []restore.Option {
	options := []restore.Option{restore.Threads(b.threads), b.told}
	return options
}

// deblurred restores a photograph by the prior, or by Wiener's filter for noise of standard deviation sigma.
func (b *bench) deblurred(ctx context.Context, y *restore.Planar, g deblur.Grid, sigma float64) (*restore.Planar, error) {
	if b.method != "wiener" {
		if len(g.Kernels) == 1 {
			out, _, err := restore.Deblur(ctx, y, g.Kernels[0], append(b.about(), restore.Method(b.method))...)
			if err != nil {
				return nil, err
			}
			return out.(*restore.Planar), nil
		}
		out, _, err := restore.DeblurVarying(ctx, y, g, append(b.about(), restore.Method(b.method))...)
		if err != nil {
			return nil, err
		}
		return out.(*restore.Planar), nil
	}
	dev, err := cpu.Open(cpu.Threads(b.threads))
	if err != nil {
		return nil, err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	o, err := deblur.NewVarying(dev, g, y.Height, y.Width)
	if err != nil {
		return nil, err
	}
	defer o.Free()
	h, w := o.Domain()
	src, err := dev.Alloc(backend.Image(1, y.Height, y.Width))
	if err != nil {
		return nil, err
	}
	defer src.Free()
	dst, err := dev.Alloc(backend.Image(1, h, w))
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	if err := dev.Upload(src, y.Pix); err != nil {
		return nil, err
	}
	// No kernel is exact, so that very weak noise is not counted on.
	if err := o.Wiener(dst, src, deblur.NoiseToSignal(y.Pix, len(y.Pix), max(sigma, 1./255))); err != nil {
		return nil, err
	}
	all, out := make([]float32, h*w), restore.NewPlanar(1, y.Height, y.Width)
	if err := dev.Download(all, dst); err != nil {
		return nil, err
	}
	return out, o.Crop(out.Pix, all)
}

// degrade blurs beyond the frame, by kernels of the size of k, each its own pixel; adds noise, rounds, and compresses. It
// returns the noise of the compression, too.
func (b *bench) degrade(x *restore.Planar, k deblur.Kernel, kernel func(y, x int) deblur.Kernel) (*restore.Planar, float64, error) {
	h, w := x.Height-k.H+1, x.Width-k.W+1
	random := rand.New(rand.NewPCG(b.seed, 1))
	grey := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for i := range w {
			sum, of := 0.0, kernel(y, i)
			for j, weight := range of.Weights {
				if weight != 0 {
					v := float64(x.Pix[(y+k.H-1-j/k.W)*x.Width+i+k.W-1-j%k.W])
					if b.light {
						v = srgb.Linear(v)
					}
					sum += float64(weight) * v
				}
			}
			if b.light {
				sum = srgb.Encoded(sum)
			}
			sum = 255*sum + b.noise*random.NormFloat64()
			grey.Pix[y*grey.Stride+i] = uint8(math.Round(min(max(sum, 0), 255)))
		}
	}
	if b.quality > 0 {
		var file bytes.Buffer
		if err := jpeg.Encode(&file, grey, &jpeg.Options{Quality: b.quality}); err != nil {
			return nil, 0, err
		}
		m, err := imagefile.Decode(context.Background(), &file, imagefile.ReadOptions{CodingNoise: true})
		if err != nil {
			return nil, 0, err
		}
		return &restore.Planar{Width: w, Height: h, Channels: 1, Pix: m.Pix}, m.CodingNoise(), nil
	}
	p, err := restore.FromImage(grey)
	return p, 0, err
}

// summary prints the table.
func (b *bench) summary(vary bool) error {
	slices.SortStableFunc(b.rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.noise, b.noise), cmp.Compare(a.quality, b.quality))
	})
	heading, print := "| | runs | below 2 | below 3 | median ratio | mean loss | worst | good, of these above 3 | not doubtful | said to vary | in light | seconds |", (*row).print
	if vary {
		heading, print = "| | runs | median variation | range | said to vary | not doubtful | seconds |", (*row).printVariation
	}
	if _, err := fmt.Fprintf(b.out, "\n%s\n%s|\n", heading, strings.Repeat("|---", strings.Count(heading, "|")-1)); err != nil {
		return err
	}
	for _, r := range b.rows {
		if err := print(r, b.out); err != nil {
			return err
		}
	}
	return nil
}

func (r *row) print(out io.Writer) error {
	slices.Sort(r.values)
	n := float64(len(r.values))
	below := func(limit float64) float64 {
		i, _ := slices.BinarySearch(r.values, limit)
		return 100 * float64(i) / n
	}
	loss := 0.0
	for _, v := range r.values {
		loss += 10 * math.Log10(v) / n
	}
	_, err := fmt.Fprintf(out, "| %s, %s | %g | %.0f %% | %.0f %% | %.2f | %.2f dB | %.1f dB | %d, %d | %d | %d | %d | %.1f |\n",
		r.condition, r.kind, n, below(2), below(3), racing.Median(r.values), loss, 10*math.Log10(r.values[len(r.values)-1]),
		r.good, r.wrong, r.trusted, r.varies, r.inLight, r.seconds/n)
	return err
}
