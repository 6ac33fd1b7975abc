package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/memory"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/restore"
)

// checkRawFlags refuses flags that are about developed pictures where an input is a raw photograph, and a strength of
// 0 where one is not.
func (b *batchFlags) checkRawFlags(tasks []plan.Task) error {
	found := slices.ContainsFunc(tasks, func(t plan.Task) bool { return t.Raw })
	others := slices.ContainsFunc(tasks, func(t plan.Task) bool { return !t.Raw })
	switch {
	case b.strength.factor == 0 && others:
		return usagef("--strength 0 leaves a raw photograph (.dng) as it is; for other pictures want a number above 0")
	case !found:
		return nil
	case b.sigma.given:
		return usagef("--sigma is for developed pictures: the noise of a raw photograph is measured in each colour, as a function of the light")
	case b.preview.given():
		return usagef("--preview is for developed pictures; --report FILE.html shows a raw photograph before and after")
	case b.reference != "":
		return usagef("--reference is for developed pictures")
	case b.writing.metadata.value == "none" && slices.ContainsFunc(tasks, writesRaw):
		return usagef("--metadata none is for developed pictures: a raw photograph that is written keeps the metadata of its source, byte for byte")
	}
	return nil
}

// writesRaw tells whether the result of a task is a raw photograph.
func writesRaw(t plan.Task) bool {
	return t.Raw && (t.Output == message.StandardStream || plan.IsRaw(t.Output))
}

// openRaw opens a raw photograph, and reads it. The file is to be closed.
func (a *app) openRaw(path string, r reading) (*raw.File, *os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fileError{path, err}
	}
	photo, err := decodeRaw(f, r)
	if err != nil {
		f.Close() // nothing was written
		return nil, nil, fileError{path, err}
	}
	return photo, f, nil
}

func decodeRaw(f *os.File, r reading) (*raw.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file, which a raw photograph must be")
	}
	opt := raw.Options{}
	if r.flags.Changed("max-pixels") {
		opt.MaxPixels = r.maxPixels
	}
	return raw.Read(f, info.Size(), opt)
}

// restoreRaw does one task with a raw photograph: read, denoise, write.
func (a *app) restoreRaw(ctx context.Context, r restorer, t plan.Task, opts []restore.Option) (*record.Outcome, string, error) {
	b, seconds := r.shared(), stopwatch()
	photo, file, err := a.openRaw(t.Input, b.reading)
	if err != nil {
		return nil, "", err
	}
	defer file.Close() // nothing is written to it
	img := photo.Image()
	pixels := img.Width * img.Height
	memory.AfterReading(pixels)
	memory.Limit(pixels, memory.OfDenoisingRaw(pixels))
	if a.page != nil {
		m, err := developed(photo, file, img)
		if err != nil {
			return nil, "", fileError{t.Input, err}
		}
		if err := a.page.Before(planarOf(m), m); err != nil {
			return nil, "", err
		}
	}
	out, report := img, &restore.Report{Unchanged: true, Averagedness: 1, Certified: true, Raw: &restore.RawReport{}}
	if b.strength.factor > 0 {
		img.Pix = nil // they would take memory beside all else
		bar := a.newProgress(t.Input)
		defer bar.Clear()
		bar.Show(0, 0)
		err = b.failover.On(func(dev backend.Device) (err error) {
			out, report, err = restore.DenoiseRawFile(ctx, photo, append(slices.Clip(opts), b.ofRaw(img), restore.Device(dev), restore.Progress(func(p backend.Progress) error {
				bar.Show(p.Fraction, p.Residual)
				return ctx.Err()
			}))...)
			return err
		})
		if err != nil {
			return nil, "", err
		}
		bar.Clear()
	}
	if err := a.writeRaw(ctx, b, t, photo, file, out); err != nil {
		return nil, "", err
	}
	o := record.Of(&imagefile.Image{Width: img.Width, Height: img.Height, Channels: 3}, report)
	o.SetRaw(photo, img, report.Raw)
	if !o.Unchanged {
		o.Network = b.networkInfoFor(report.Method)
	}
	o.Seconds = seconds()
	if a.page != nil {
		m, err := developed(photo, file, out)
		if err != nil {
			return nil, "", fileError{t.Input, err}
		}
		if err := a.page.After(m, r.removedBlur(), report); err != nil {
			return nil, "", err
		}
	}
	if report.Raw.Claimed {
		a.Remark(t.Input, "the noise could not be measured; it is taken to be what the camera claims")
	}
	return o, o.RawSummary(b.strength.factor == 0), nil
}

// writeRaw writes a raw photograph with another image, or, if the result has the name of a picture, its plain development.
func (a *app) writeRaw(ctx context.Context, b *batchFlags, t plan.Task, photo *raw.File, file *os.File, img *raw.Image) error {
	if !writesRaw(t) {
		m, err := developed(photo, file, img)
		if err != nil {
			return fileError{t.Input, err}
		}
		for _, w := range m.Warnings {
			a.Remark(t.Input, "%s", w)
		}
		return a.write(ctx, t.Output, m, b.writing.options(m, t.Output, b.Force))
	}
	write := func(w io.Writer) error { return photo.Write(w, img) }
	var err error
	if t.Output == message.StandardStream {
		err = write(a.stdout)
	} else if err = makeFolder(t.Output); err == nil {
		err = atomicfile.Write(ctx, t.Output, b.Force, write)
	}
	if err != nil {
		return fileError{message.OutputName(t.Output), err}
	}
	return nil
}

// developed is a raw image of a file as a picture to look at, with the metadata of the file, turned as it says.
func developed(photo *raw.File, file *os.File, img *raw.Image) (*imagefile.Image, error) {
	pix, channels, err := photo.Develop(img)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	m := &imagefile.Image{Width: img.Width, Height: img.Height, Channels: channels, Depth: 8, SourceDepth: 8, Format: imagefile.PNG, Pix: pix}
	return m, imagefile.TakeMetadata(m, file, info.Size())
}
