package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/devices"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/degradation"
	"github.com/averaged/imaging/internal/imagefile"
)

// degradeFlags holds the flags of degrade.
type degradeFlags struct {
	destination
	reading
	writing
	computing
	kernelFile string
	cells      gridFlag // --kernel-grid
	boundary   choice
	sigma      sigmaFlag
	seed       uint64
	camera     cameraFlags
}

func (a *app) degradeCommand() *cobra.Command {
	d := &degradeFlags{sigma: sigmaFlag{zero: true}}
	d.Suffix, d.RawResults = ".degraded", true
	c := &cobra.Command{
		Use:   "degrade IN... --kernel FILE (--sigma S | --camera) --seed N",
		Short: "Blur an image and add noise, to make test data",
		Long: `Makes test data: blurs an image with a kernel, then adds Gaussian noise, or
photographs it with a simulated --camera. --jpeg compresses the result. One of
--kernel, --sigma, --camera and --jpeg is needed.

Equal seeds give equal noise on every machine. A .pfm result holds the noise
unclipped; other formats clip to 0…1.

'restore man degrade' has more about boundaries and the camera.`,
		Annotations: manual.Story(`--sigma is the standard deviation of the noise, where 1 is white. With several
inputs the first takes the seed N, the next N+1, and so on. PNG and TIFF results have 16 bits
unless --depth says otherwise, JPEG and BMP 8.

--boundary says what lies beyond the frame while the image is blurred. With
unknown, the default, only what the image determines is kept, as a camera would see
it, so the result is smaller than the image by the kernel's width and height less one.
circular, zero and reflect keep the size. Transparency is cropped alike, and not
blurred.

--camera takes the image, which should be clean, back to what fell on a sensor, and
photographs it again: shot and read noise on a Bayer mosaic, white balance,
demosaicking, colour matrix, tone curve, smoothing and sharpening, then --resize and
--jpeg if given. Its noise is correlated between pixels and colours and depends on
brightness, as in photographs. --iso says how much there is, on a sensor of average
size. What no flag says (pattern, white balance, colours, tone curve, demosaicking,
smoothing, sharpening) is drawn by the seed. --random draws everything else, too.

With -o FILE.dng the result is the raw photograph, as the sensor gives it.

--clean writes what the same camera would have given without noise, rounding and
JPEG: the reference for a restored result. After --jpeg a result of the format JPEG is
compressed once more, as --quality says.`),
		Example: `  restore degrade photo.png --kernel motion.png --sigma 0.01 --seed 1 -o blurred.pfm
  restore degrade photo.png --kernel turn.png --kernel-grid 16x24 -o turned.png
  restore degrade photo.png --sigma 25/255 -o noisy.png
  restore degrade photo.png --sigma 0.03 --jpeg 75 --depth 8 -o noisy.png
  restore degrade photo.png --kernel disk.png --boundary circular -o blurred.tif
  restore degrade photo.png --camera --iso 3200 --jpeg 85 --clean clean.png -o noisy.png
  restore degrade photo.png --camera --iso 12800 -o noisy.dng`,
		Args: inputs(1, -1, "one input or more"),
	}
	f := c.Flags()
	f.StringVarP(&d.kernelFile, "kernel", "k", "", "image `FILE` of the blur kernel; without it there is no blur")
	f.Var(&d.cells, "kernel-grid", "a sheet of `ROWSxCOLUMNS` kernels, for a blur that varies")
	f.Var(&d.sigma, "sigma", "standard deviation of the noise, where 1 is white, such as 25/255; default: no noise")
	f.Uint64Var(&d.seed, "seed", 1, "`NUMBER` of the noise, and of what is drawn of the camera")
	d.camera.bind(c)
	bindBoundary(c, &d.boundary, "what lies beyond the frame")
	d.destination.bind(c)
	d.computing.bind(c)
	d.reading.bind(c)
	d.writing.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error { return a.degrade(c.Context(), d, args) }
	return c
}

func (a *app) degrade(ctx context.Context, d *degradeFlags, args []string) error {
	if err := d.camera.check(d.sigma.given); err != nil {
		return err
	}
	if d.kernelFile == "" && d.sigma.value == 0 && !d.camera.on && len(d.camera.jpeg) == 0 {
		return usagef("degrade needs --kernel FILE, or a --sigma above 0, or both; or --camera, or --jpeg Q")
	}
	switch {
	case d.cells.given() && d.kernelFile == "":
		return usagef("--kernel-grid %s: name the sheet of kernels with --kernel FILE", d.cells.String())
	case d.cells.given() && d.boundary.value != deblur.Unknown.String():
		return usagef("--kernel-grid goes with --boundary unknown only")
	}
	if plan.IsRaw(d.Output) && (!d.camera.on || d.camera.clean != "") {
		return usagef("-o %s: a raw photograph is made by --camera, and without --clean (--iso 0 is without noise)", message.OneLine(d.Output))
	}
	if err := d.reading.check(); err != nil {
		return err
	}
	if err := d.writing.check(d.Output); err != nil {
		return err
	}
	tasks, err := d.plan(ctx, args)
	if err != nil {
		return err
	}
	if err := d.protect(tasks, d.kernelFile); err != nil {
		return err
	}
	cleanFiles, err := d.Clean(d.camera.clean, d.kernelFile, tasks)
	if err != nil {
		return usageError{err}
	}
	device, err := a.start(&d.computing, nil)
	if err != nil {
		return err
	}
	defer device.End()
	var kernels deblur.Grid
	switch {
	case d.cells.given():
		kernels, err = a.readKernels(ctx, d.kernelFile, d.cells, d.reading)
	case d.kernelFile != "":
		var k deblur.Kernel
		k, err = a.readKernel(ctx, d.kernelFile, d.reading)
		kernels = deblur.OneKernel(k)
	}
	if err != nil {
		return err
	}
	return a.batch(ctx, "degrade", tasks, func(ctx context.Context, index int, t plan.Task) (*record.Outcome, string, error) {
		return a.degradeOne(ctx, d, device, kernels, cleanFiles[index], index, t)
	})
}

func (a *app) degradeOne(ctx context.Context, d *degradeFlags, device *devices.Failover, kernels deblur.Grid, cleanFile string, index int, t plan.Task) (*record.Outcome, string, error) {
	began := time.Now()
	m, err := a.read(ctx, t.Input, d.reading)
	if err != nil {
		return nil, "", err
	}
	opt := d.writing.options(m, t.Output, d.Force)
	if opt.Depth == 0 {
		// 8 bits would round away most of a noise of small sigma.
		m.Depth = max(m.Depth, 16)
	}
	if err := imagefile.CheckWrite(m, opt); err != nil {
		return nil, "", fileError{message.OutputName(t.Output), err}
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if d.camera.on || len(d.camera.jpeg) > 0 {
		if err := checkUnit(m); err != nil {
			return nil, "", err
		}
	}
	if kernels.Kernels != nil {
		err := device.On(func(dev backend.Device) error { return degradation.Blur(dev, m, kernels, boundaryOf(d.boundary)) })
		if _, large := errors.AsType[degradation.KernelTooLarge](err); large {
			err = fmt.Errorf("%w; use a smaller one, or --boundary circular, zero or reflect", err)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	seed := d.seed + uint64(index)
	if d.sigma.value > 0 {
		if err := device.On(func(dev backend.Device) error { return degradation.AddNoise(dev, m, seed, float32(d.sigma.value)) }); err != nil {
			return nil, "", err
		}
	}
	var camera *cameranoise.Camera
	if d.camera.on {
		c := d.camera.camera(seed)
		camera = &c
		for i, v := range m.Pix {
			m.Pix[i] = min(max(v, 0), 1) // blur rounds
		}
		if plan.IsRaw(t.Output) {
			return a.simulateRaw(ctx, d, m, c, seed, t)
		}
		if opt.DropAlpha {
			m.Alpha = nil
		}
		clean, err := degradation.Photograph(m, c, seed, cleanFile != "")
		if errors.Is(err, degradation.ErrTransparent) {
			err = fmt.Errorf("%w, and --reduction and --resize are for opaque images; --alpha drop takes the transparency out", err)
		}
		if err != nil {
			return nil, "", err
		}
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if clean != nil {
			if err := a.writeClean(ctx, d, cleanFile, clean); err != nil {
				return nil, "", err
			}
		}
	}
	var compressions []cameranoise.JPEG
	if !d.camera.on && len(d.camera.jpeg) > 0 {
		compressions = d.camera.compressions()
		if err := degradation.Compress(m, compressions); err != nil {
			return nil, "", err
		}
	}
	if err := a.write(ctx, t.Output, m, opt); err != nil {
		return nil, "", err
	}
	o := &record.Outcome{
		Width: m.Width, Height: m.Height, Channels: m.Channels,
		Sigma: record.Number(d.sigma.value), Kernel: d.kernelFile,
		Seconds: record.Number(time.Since(began).Seconds()),
	}
	var parts []string
	if kernels.Kernels != nil {
		o.Boundary = d.boundary.value
		parts = append(parts, "blurred, boundary "+o.Boundary)
	}
	if d.sigma.value > 0 {
		o.Seed = &seed
		parts = append(parts, fmt.Sprintf("noise of sigma %.4g, seed %d", o.Sigma, seed))
	}
	if camera != nil {
		o.Seed, o.Camera, o.Clean = &seed, record.CameraOf(*camera), cleanFile
		parts = append(parts, o.Camera.String()+fmt.Sprintf(", seed %d", seed))
	}
	if len(compressions) > 0 {
		o.JPEG = record.JPEGsOf(compressions)
		for _, j := range o.JPEG {
			parts = append(parts, j.String())
		}
	}
	return o, strings.Join(append(parts, fmt.Sprintf("%d×%d", m.Width, m.Height)), ", "), nil
}
