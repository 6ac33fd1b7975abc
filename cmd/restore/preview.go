package main

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// previewFlag is the part of an image that --preview restores, in pixels of the image.
type previewFlag struct {
	x, y, width, height int
	whole, part         image.Rectangle // of the image at hand: all of it, and what is computed
}

func (p *previewFlag) given() bool { return p.width > 0 }

func (p *previewFlag) String() string {
	if !p.given() {
		return ""
	}
	return fmt.Sprintf("%d,%d,%d,%d", p.x, p.y, p.width, p.height)
}

func (p *previewFlag) Type() string { return "X,Y,W,H" }

func (p *previewFlag) Set(text string) error {
	words := strings.Split(text, ",")
	var n [4]int
	for i := range n {
		var v uint64
		err := strconv.ErrSyntax
		if len(words) == len(n) {
			v, err = strconv.ParseUint(strings.TrimSpace(words[i]), 10, 31)
		}
		if err != nil || i >= 2 && v == 0 {
			return fmt.Errorf("want X,Y,W,H: the column and row where the part begins, from 0, and its width and height, in pixels, such as 400,300,256,256")
		}
		n[i] = int(v)
	}
	p.x, p.y, p.width, p.height = n[0], n[1], n[2], n[3]
	return nil
}

func (b *batchFlags) bindPreview(c *cobra.Command) {
	c.Flags().Var(&b.preview, "preview", "restore a part only, before and after side by side; --strength 0.7,1,1.4 shows three")
}

// checkPreview checks what --preview goes with, and has its results named for it.
func (b *batchFlags) checkPreview() error {
	switch {
	case !b.preview.given() && len(b.strength.more) > 0:
		return usagef("--strength %v: several strengths are for --preview X,Y,W,H, which shows them side by side", &b.strength)
	case !b.preview.given():
		return nil
	case b.report != "":
		return usagef("--preview and --report: a preview is a picture without a report; leave out one of them")
	case b.reference != "":
		return usagef("--preview and --reference: the reference is compared with a whole result; leave out one of them")
	}
	b.Suffix, b.Extension = ".preview", imagefile.PNG.Extension()
	return nil
}

// previewMargin is how many pixels around a part are restored along with it and cut off, so that it
// looks as in the whole: what networks see around a pixel, and what a blur brings in besides. The part begins and ends at
// a multiple of it, or of the side of squares with noise levels, so that repeated pixels are whole.
const previewMargin = 48

// previewOne does one task of --preview.
func (a *app) previewOne(ctx context.Context, r restorer, t plan.Task, opts []restore.Option) (*record.Outcome, string, error) {
	b, seconds := r.shared(), stopwatch()
	m, err := a.read(ctx, t.Input, b.reading)
	if err != nil {
		return nil, "", err
	}
	p := &b.preview
	if p.x+p.width > m.Width || p.y+p.height > m.Height {
		return nil, "", fileError{t.Input, fmt.Errorf("has %d×%d pixels, and --preview %v is not inside; X+W may be %d and Y+H %d at most", m.Width, m.Height, p, m.Width, m.Height)}
	}
	if scale := floatRangeOf(m); scale != nil {
		m.Pix = scale.scaled
		a.remarkRange(t.Input, scale, imagefile.WriteOptions{Format: imagefile.PNG})
	}
	opts = append(slices.Clone(opts), r.ofFile(m)...)
	noise, err := r.noiseOfWhole(ctx, m)
	if err != nil {
		return nil, "", err
	}
	bar := a.newProgress(t.Input)
	defer bar.Clear()
	bar.Show(0, 0)
	b.bar = bar
	if err := r.look(ctx, planarOf(m)); err != nil {
		return nil, "", err
	}
	var ofWhole []restore.Option
	err = b.failover.Run(opts, func(opts []restore.Option) (err error) {
		ofWhole, err = r.ofWhole(ctx, planarOf(m), opts)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	opts = append(opts, ofWhole...)
	kernel := r.removedBlur()
	margin := previewMargin + max(kernel.H, kernel.W)
	square := previewMargin
	if noise != nil {
		square = noise.Levels.Side
	}
	p.whole = image.Rect(0, 0, m.Width, m.Height)
	p.part = image.Rect(p.x, p.y, p.x+p.width, p.y+p.height).Inset(-margin)
	p.part = image.Rect(
		max(0, p.part.Min.X)/square*square, max(0, p.part.Min.Y)/square*square,
		(p.part.Max.X+square-1)/square*square, (p.part.Max.Y+square-1)/square*square).Intersect(p.whole)
	if noise != nil {
		opts = append(opts, restore.Noise(noise.Part(p.part)))
	}
	m.Crop(p.part.Dy(), p.part.Dx(), p.part.Min.Y, p.part.Min.X)

	strengths := append([]float64{b.strength.factor}, b.strength.more...)
	whole := *m
	panel := func(pix []float32) imagefile.Image {
		part := whole
		part.Pix, part.Alpha = slices.Clone(pix), nil
		part.Crop(p.height, p.width, p.y-p.part.Min.Y, p.x-p.part.Min.X)
		return part
	}
	panels := []imagefile.Image{panel(m.Pix)}
	labels := []string{"before"}
	var o *record.Outcome
	for i, s := range strengths {
		img := planarOf(&whole)
		img.Pix = slices.Clone(whole.Pix)
		var out *restore.Planar
		var report *restore.Report
		err := b.failover.Run(append(slices.Clip(opts), restore.Strength(s)), func(opts []restore.Option) (err error) {
			out, report, err = asPlanar(r.solve(ctx, img, append([]restore.Option{
				restore.Progress(func(at backend.Progress) error {
					bar.Show((float64(i)+at.Fraction)/float64(len(strengths)), at.Residual)
					return ctx.Err()
				}),
			}, opts...)...))
			return err
		})
		if err != nil {
			return nil, "", err
		}
		panels = append(panels, panel(out.Pix))
		labels = append(labels, strengthName(s))
		if o == nil {
			if report.Network.Adaptation > 0 {
				a.Remark(t.Input, "here the strength follows the detail of this part; in the whole image it follows the whole (--adapt=false: neither)")
			}
			o = record.Of(&panels[i+1], report)
			if !o.Unchanged {
				o.Network = b.networkInfo()
			}
			r.describe(o)
			a.remarkRun(t.Input, report)
		}
	}
	bar.Clear()
	side := sideBySide(panels)
	opt := b.writing.options(side, t.Output, b.Force)
	if err := a.write(ctx, t.Output, side, opt); err != nil {
		return nil, "", err
	}
	o.Seconds = seconds()
	return o, fmt.Sprintf("preview of %v, from left to right: %s; %s", p, strings.Join(labels, ", "), o.Summary(r.achieved(o))), nil
}

// previewGap is the width of the white stripe between the pictures of a preview.
const previewGap = 8

// sideBySide is a picture of pictures of equal size.
func sideBySide(panels []imagefile.Image) *imagefile.Image {
	first := panels[0]
	side := first
	side.Width = len(panels)*(first.Width+previewGap) - previewGap
	side.Pix = make([]float32, side.Channels*side.Height*side.Width)
	for i := range side.Pix {
		side.Pix[i] = 1
	}
	for i := range panels {
		for c := range side.Channels {
			from, to := panels[i].Plane(c), side.Plane(c)
			for y := range side.Height {
				copy(to[y*side.Width+i*(first.Width+previewGap):], from[y*first.Width:][:first.Width])
			}
		}
	}
	return &side
}

func (b *batchFlags) noiseOfWhole(context.Context, *imagefile.Image) (*restore.NoiseEstimate, error) {
	return nil, nil
}

func (b *batchFlags) ofWhole(context.Context, *restore.Planar, []restore.Option) ([]restore.Option, error) {
	return nil, nil
}

// noiseOfWhole finds the noise in the whole image, as without --preview.
func (d *denoiser) noiseOfWhole(ctx context.Context, m *imagefile.Image) (*restore.NoiseEstimate, error) {
	if d.sigma.given {
		return nil, nil
	}
	e, err := restore.EstimateNoise(ctx, planarOf(m))
	return &e, err
}
