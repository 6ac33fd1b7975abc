//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"path"
	"strings"
	"syscall/js"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/kernelimage"
	"github.com/averaged/imaging/restore"
)

// maxPixels is what a picture may have: with more, the memory of WebAssembly would end before the
// work does.
const maxPixels = 40e6

// request is what the page asks for.
type request struct {
	Do string // "open" or "restore"
	// Name is that of the file to open, or of the open one.
	Name string

	// Task is "denoise" or "deblur", Method a method of restore, Strength a factor. Sigma is the
	// noise level, 0 to estimate it.
	Task, Method    string
	Strength, Sigma float64
	// Kernel is "estimate", "motion" of Length and Angle, or "picture", which the message has.
	Kernel        string
	Length, Angle float64
}

// restorer restores what messages ask for.
type restorer struct {
	self     js.Value
	computer *computer
	picture  *imagefile.Image // the open one, or nil
	file     []byte           // that it was read from
}

// restorePictures serves the page.
func restorePictures(start js.Value) {
	r := &restorer{self: js.Global()}
	var err error
	if r.computer, err = newComputer(start); err != nil {
		r.fail(err)
		return
	}
	ready := func() { post(r.self, map[string]any{"event": "ready", "computer": r.computer.String()}) }
	listen(r.self, ready, func(m js.Value) {
		if err := r.serve(m); err != nil {
			r.fail(err)
		}
	})
}

func (r *restorer) fail(err error) {
	post(r.self, map[string]any{"event": "failed", "text": strings.TrimPrefix(err.Error(), "restore: ")})
}

func (r *restorer) serve(m js.Value) error {
	var q request
	if err := json.Unmarshal([]byte(m.Get("request").String()), &q); err != nil {
		return err
	}
	var file []byte
	if f := m.Get("file"); f.Truthy() {
		file = takeBytes(f)
	}
	switch q.Do {
	case "open":
		return r.open(file)
	case "restore":
		return r.restore(q, file)
	}
	return fmt.Errorf("nothing is called %q", q.Do)
}

// open decodes a picture and shows it.
func (r *restorer) open(file []byte) error {
	r.picture, r.file = nil, nil
	p, err := imagefile.DecodeAt(context.Background(), bytes.NewReader(file), int64(len(file)), imagefile.ReadOptions{MaxPixels: maxPixels, CodingNoise: true})
	if err != nil {
		return err
	}
	if err := p.CheckMagnitude(); err != nil {
		return err
	}
	r.picture, r.file = p, file
	pixels := giveBytes(pixelsOf(p.Pix, p.Channels))
	post(r.self, map[string]any{
		"event": "opened", "width": p.Width, "height": p.Height, "pixels": pixels,
		"text":     fmt.Sprintf("%s, %d×%d pixels, %s of %d bits", p.Format, p.Width, p.Height, colours(p.Channels), p.Depth),
		"warnings": list(p.Warnings),
	}, pixels)
	return nil
}

func colours(channels int) string {
	if channels == 1 {
		return "grey"
	}
	return "colour"
}

// list is a list of texts for JavaScript.
func list[T any](texts []T) []any {
	values := make([]any, len(texts))
	for i, t := range texts {
		values[i] = fmt.Sprint(t)
	}
	return values
}

// step tells what is being done; without text the page goes on saying what it said.
func (r *restorer) step(text string, fraction float64) {
	post(r.self, map[string]any{"event": "progress", "text": text, "fraction": fraction})
}

// progress is an option that tells of a part of the work, from one fraction of it to another.
func (r *restorer) progress(text string, from, to float64) restore.Option {
	r.step(text, from)
	reported := time.Now()
	return restore.Progress(func(p backend.Progress) error {
		if time.Since(reported) >= reportEvery || p.Fraction == 1 {
			reported = time.Now()
			r.step(text, from+(to-from)*p.Fraction)
		}
		return nil
	})
}

// restore restores the open picture, and sends the file of the result.
func (r *restorer) restore(q request, file []byte) error {
	p := r.picture
	if p == nil {
		return errors.New("open a picture first")
	}
	began := time.Now()
	img := &restore.Planar{Width: p.Width, Height: p.Height, Channels: p.Channels, Pix: p.Pix, Alpha: p.Alpha}
	options := []restore.Option{restore.Method(q.Method), restore.Strength(q.Strength)}
	level := []restore.Option{restore.Compressed(restore.Compression{Noise: p.CodingNoise()})} // of estimates of the blur
	if q.Sigma > 0 {
		options = append(options, restore.Sigma(q.Sigma))
		level = append(level, restore.Sigma(q.Sigma))
	}
	done, err := r.task(q, img, file, options, level)
	if fault := r.computer.fault(err); fault != "" {
		r.step("starting the workers", 0)
		if err := r.computer.fallBack(fault); err != nil {
			return err
		}
		post(r.self, map[string]any{"event": "computer", "computer": r.computer.String()})
		done, err = r.task(q, img, file, options, level)
	}
	if err != nil {
		return err
	}
	r.step("writing the result", 1)
	restored, err := restore.FromImage(done.image)
	if err != nil {
		return err
	}
	result := p.Like()
	copy(result.Pix, restored.Pix)
	var encoded bytes.Buffer
	// As the command line names and writes it.
	name := strings.TrimSuffix(q.Name, path.Ext(q.Name)) + done.suffix + imagefile.WritableExtension(q.Name)
	format, err := imagefile.FormatOf(name)
	if err != nil {
		return err
	}
	opt := imagefile.WriteOptions{Format: format}
	if done.report.Unchanged && imagefile.Recoding(result, opt) == "" {
		encoded.Write(r.file)
	} else if err := imagefile.Encode(context.Background(), &encoded, result, opt); err != nil {
		return err
	}
	written, pixels := giveBytes(encoded.Bytes()), giveBytes(pixelsOf(result.Pix, result.Channels))
	post(r.self, map[string]any{
		"event": "restored", "file": written, "name": name, "pixels": pixels,
		"facts": append(done.facts(time.Since(began)), []any{"Computed on", r.computer.String()}), "doubts": list(done.doubts), "proof": done.proof(),
	}, written, pixels)
	return nil
}

// task does what was asked for.
func (r *restorer) task(q request, img *restore.Planar, file []byte, options, level []restore.Option) (*done, error) {
	ctx := context.Background()
	d := &done{}
	var err error
	switch q.Task {
	case "denoise":
		d.suffix = ".denoised"
		d.image, d.report, err = r.computer.restorer.Denoise(ctx, img, append(options, r.progress("removing noise", 0, 1))...)
	case "deblur":
		d.suffix = ".deblurred"
		d.image, d.report, err = r.deblur(ctx, q, img, file, options, level, d)
	default:
		return nil, fmt.Errorf("no task is called %q", q.Task)
	}
	if err != nil {
		return nil, err
	}
	d.doubts = append(d.doubts, d.report.Doubts...)
	return d, nil
}

// deblur removes the blur that was asked for, or estimates it first.
func (r *restorer) deblur(ctx context.Context, q request, img *restore.Planar, file []byte, options, level []restore.Option, d *done) (image.Image, *restore.Report, error) {
	// An estimate takes about as long as a few steps of the iteration.
	const estimated = 0.1
	removing := "removing blur"
	if q.Kernel == "estimate" {
		blur, err := restore.EstimateBlur(ctx, img, append(level, restore.Threads(1), r.progress("looking for the blur", 0, estimated))...)
		if err != nil {
			return nil, nil, err
		}
		d.blur = blur.String()
		d.doubts = append(d.doubts, blur.Doubts()...)
		return r.computer.restorer.DeblurBlind(ctx, img, blur, append(options, r.progress(removing, estimated, 1))...)
	}
	kernel, notes, err := kernelOf(q, file)
	if err != nil {
		return nil, nil, fmt.Errorf("kernel: %w", err)
	}
	for _, note := range notes {
		d.doubts = append(d.doubts, restore.Doubt{Text: "kernel: " + note})
	}
	r.step("comparing the kernel with the picture", 0)
	against, err := restore.CheckKernel(ctx, img, kernel, append(level, restore.Threads(1))...)
	if err != nil {
		return nil, nil, err
	}
	d.doubts = append(d.doubts, against...)
	return r.computer.restorer.Deblur(ctx, img, kernel, append(options, r.progress(removing, estimated, 1))...)
}

// kernelOf is the kernel that was given.
func kernelOf(q request, file []byte) (k deblur.Kernel, notes []string, err error) {
	switch q.Kernel {
	case "motion":
		k, err = deblur.Motion(q.Length, q.Angle)
		return k, nil, err
	case "picture":
		return pictureOfKernel(file)
	}
	return k, nil, fmt.Errorf("no kernel is called %q", q.Kernel)
}

func pictureOfKernel(file []byte) (k deblur.Kernel, notes []string, err error) {
	if len(file) == 0 {
		return k, nil, errors.New("choose its picture")
	}
	m, err := imagefile.DecodeAt(context.Background(), bytes.NewReader(file), int64(len(file)), imagefile.ReadOptions{MaxPixels: maxPixels})
	if err != nil {
		return k, nil, err
	}
	return kernelimage.Kernel(m)
}
