package evaluation

import (
	"context"
	"fmt"
	"image"
	"strconv"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/degradation"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// The names of tasks.
const (
	Denoise = "denoise"
	Deblur  = "deblur"
	Inpaint = "inpaint"
)

// Task says how images are degraded, and how methods restore them.
type Task struct {
	Name       string
	Kernel     *deblur.Kernel // of Deblur
	KernelFile string         // the name of its file
	Mask       *image.Gray    // of Inpaint, white where pixels are missing; nil: a share of them, drawn by the seed
	MaskFile   string
	Missing    float64 // that share
	Seed       uint64  // of the first image; the next one has the next
	Blind      bool    // methods are not told the noise level
}

// Photograph is an image as it is, as methods are given it, and as one restored it.
type Photograph struct {
	Name         string
	Clean, Given *imagefile.Image
	Restored     []float32
	mask         *image.Gray // of missing pixels, which are black in Given
}

// SeedOf is the seed of an image, by its place.
func (t *Task) SeedOf(index int) uint64 { return t.Seed + uint64(index) }

// Degrade blurs an image, adds noise of a standard deviation to it, and takes pixels from it, as the task says.
func (t *Task) Degrade(dev backend.Device, clean *imagefile.Image, index int, sigma float64) (p Photograph, err error) {
	given := *clean
	given.Pix, given.Alpha = append([]float32(nil), clean.Pix...), nil
	p = Photograph{Clean: clean, Given: &given}
	if t.Kernel != nil {
		if err := degradation.Blur(dev, &given, deblur.OneKernel(*t.Kernel), deblur.Circular); err != nil {
			return p, err
		}
	}
	if sigma > 0 {
		if err := degradation.AddNoise(dev, &given, t.SeedOf(index), float32(sigma)); err != nil {
			return p, err
		}
	}
	if t.Name != Inpaint {
		return p, nil
	}
	if p.mask = t.Mask; p.mask == nil {
		p.mask = degradation.MissingPixels(given.Height, given.Width, t.Missing, t.SeedOf(index))
	}
	if size := p.mask.Bounds().Size(); size.X != given.Width || size.Y != given.Height {
		return p, fmt.Errorf("the mask %s has %d×%d pixels and the image %d×%d; give one of its size, or --missing SHARE",
			t.MaskFile, size.X, size.Y, given.Width, given.Height)
	}
	for i := range given.Pix {
		if p.mask.Pix[i%len(p.mask.Pix)] != 0 {
			given.Pix[i] = 0
		}
	}
	return p, nil
}

// Restore does the task by the method of options.
func (t *Task) Restore(ctx context.Context, p Photograph, sigma float64, opts ...restore.Option) (image.Image, *restore.Report, error) {
	switch {
	case !t.Blind && sigma > 0:
		opts = append(opts, restore.Sigma(sigma))
	case t.Blind && t.Name == Inpaint:
		opts = append(opts, restore.SigmaAuto()) // its default is no noise
	}
	given := &restore.Planar{Width: p.Given.Width, Height: p.Given.Height, Channels: p.Given.Channels, Pix: p.Given.Pix}
	switch t.Name {
	case Deblur:
		return restore.Deblur(ctx, given, *t.Kernel, append(opts, restore.Boundary(deblur.Circular))...)
	case Inpaint:
		return restore.Inpaint(ctx, given, p.mask, opts...)
	}
	return restore.Denoise(ctx, given, opts...)
}

// InWords says how images are degraded and measured. noisy tells whether there is noise.
func (t *Task) InWords(images int, noisy bool) string {
	var b strings.Builder
	switch t.Name {
	case Deblur:
		fmt.Fprintf(&b, "Deblurring, with each method as the prior: blurred circularly with the kernel %s, then with Gaussian noise. Images: %d.", t.KernelFile, images)
	case Inpaint:
		which := "those that are white in " + t.MaskFile
		if t.Mask == nil {
			which = strconv.FormatFloat(100*t.Missing, 'g', -1, 64) + " % of them, drawn by the seed of the image"
		}
		fmt.Fprintf(&b, "Inpainting, with each method as the prior: pixels are missing, %s. They are black in what was given, and all pixels count. Images: %d.", which, images)
	default:
		fmt.Fprintf(&b, "Denoising: Gaussian noise was added. Images: %d.", images)
	}
	fmt.Fprintf(&b, " The seed of the first image is %d, that of the next %d, and so on.", t.Seed, t.Seed+1)
	switch {
	case t.Blind:
		b.WriteString(" The methods estimated the noise level.")
	case noisy:
		b.WriteString(" The methods were told the noise level.")
	}
	return b.String() + " PSNR has the peak 1, and nothing is clipped."
}
