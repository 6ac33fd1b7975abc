package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/imagefile"
)

// cameraFlags are the flags of degrade about a simulated camera.
type cameraFlags struct {
	on, random                            bool
	iso, reduction                        float64
	demosaicking, resampling, subsampling choice
	lumaSmoothing, chromaSmoothing, sharp float64
	resize                                float64
	jpeg                                  []int
	clean                                 string

	flags *pflag.FlagSet
}

// drawn is the word for what the seed decides.
const drawn = "drawn"

// names of the flags that only --camera gives a meaning.
var cameraFlagNames = []string{
	"random", "iso", "reduction", "demosaic", "luma-smoothing", "chroma-smoothing", "sharpening",
	"resize", "resampling", "clean",
}

func (f *cameraFlags) bind(c *cobra.Command) {
	typical := cameranoise.Typical()
	f.flags = c.Flags()
	f.flags.BoolVar(&f.on, "camera", false, "photograph the image with a simulated camera, in place of --sigma")
	f.flags.BoolVar(&f.random, "random", false, "draw everything about the camera by the seed, except what flags say")
	f.flags.Float64Var(&f.iso, "iso", typical.ISO, "sensitivity of the camera, a `NUMBER`; 0 is a sensor without noise")
	f.flags.Float64Var(&f.reduction, "reduction", 1, "make the image smaller by `FACTOR` first, so that it is sharper and without noise")
	f.demosaicking = newChoice(append([]string{drawn}, cameranoise.Demosaickings()...)...)
	f.flags.Var(&f.demosaicking, "demosaic", "how the camera finds the colours that its pixels lack")
	f.flags.Float64Var(&f.lumaSmoothing, "luma-smoothing", 0, "standard deviation in `PIXELS` of smoothing of brightness; default: drawn")
	f.flags.Float64Var(&f.chromaSmoothing, "chroma-smoothing", 0, "the same in `PIXELS` for colour differences; default: drawn")
	f.flags.Float64Var(&f.sharp, "sharpening", 0, "`AMOUNT` of the camera's unsharp mask; default: drawn")
	f.flags.Float64Var(&f.resize, "resize", 1, "make the photograph smaller by `FACTOR`")
	f.resampling = newChoice(cameranoise.Resamplings()...)
	f.flags.Var(&f.resampling, "resampling", "how --resize does it; nearest leaves pixels out")
	f.flags.IntSliceVar(&f.jpeg, "jpeg", nil, "compress the result with JPEG of quality `Q`, several times with Q,Q, whatever its format")
	f.subsampling = newChoice("4:2:0", "4:2:2", "4:4:4")
	f.flags.Var(&f.subsampling, "subsampling", "of colour, in --jpeg")
	f.flags.StringVar(&f.clean, "clean", "", "write the photograph without noise, rounding and JPEG to `FILE` or folder (DIR/)")
	manual.Expert(c, "random", "reduction", "demosaic", "luma-smoothing", "chroma-smoothing", "sharpening", "resampling")
	completeChoice(c, "demosaic", &f.demosaicking)
	completeChoice(c, "resampling", &f.resampling)
	completeChoice(c, "subsampling", &f.subsampling)
}

// check finds combinations without a meaning, and values out of range.
func (f *cameraFlags) check(sigma bool) error {
	for _, name := range cameraFlagNames {
		if !f.on && f.flags.Changed(name) {
			return usagef("--%s needs --camera", name)
		}
	}
	switch {
	case f.on && sigma:
		return usagef("--camera makes noise of its own; leave out --sigma, and say with --iso how much")
	case f.flags.Changed("subsampling") && !f.flags.Changed("jpeg"):
		return usagef("--subsampling needs --jpeg Q")
	case f.flags.Changed("resampling") && !f.flags.Changed("resize"):
		return usagef("--resampling needs --resize FACTOR")
	}
	for name, v := range map[string]float64{"iso": f.iso, "reduction": f.reduction, "resize": f.resize} {
		if low := map[string]float64{"reduction": 1, "resize": 1}[name]; !(v >= low && v <= 1e6) {
			return usagef("--%s %v: want a number from %v to 1000000", name, v, low)
		}
	}
	if err := f.camera(0).Check(); err != nil {
		return usageError{err}
	}
	return nil
}

// camera is the camera for a seed: drawn, except for what flags say, and without --random a
// sensor of average size whose pictures stay as they are.
func (f *cameraFlags) camera(seed uint64) cameranoise.Camera {
	c := cameranoise.Random(seed)
	if !f.random {
		t := cameranoise.Typical()
		c.Reduction, c.Exposure = t.Reduction, t.Exposure
		c.ISO, c.FullWell, c.ReadNoise, c.RowNoise, c.BlackLevel, c.Bits = t.ISO, t.FullWell, t.ReadNoise, t.RowNoise, t.BlackLevel, t.Bits
		c.Resize, c.Resampling, c.JPEG = t.Resize, t.Resampling, t.JPEG
	}
	for name, field := range map[string]struct {
		to   *float64
		from float64
	}{
		"iso": {&c.ISO, f.iso}, "reduction": {&c.Reduction, f.reduction}, "resize": {&c.Resize, f.resize},
		"luma-smoothing": {&c.LumaSmoothing, f.lumaSmoothing}, "chroma-smoothing": {&c.ChromaSmoothing, f.chromaSmoothing},
		"sharpening": {&c.Sharpening, f.sharp},
	} {
		if f.flags.Changed(name) {
			*field.to = field.from
		}
	}
	// Set has taken no other word than those of the package.
	if d, err := cameranoise.ParseDemosaicking(f.demosaicking.value); err == nil {
		c.Demosaicking = d
	}
	if r, err := cameranoise.ParseResampling(f.resampling.value); err == nil && f.flags.Changed("resize") {
		c.Resampling = r
	}
	if f.flags.Changed("jpeg") {
		c.JPEG = f.compressions()
	}
	return c
}

// compressions are those of --jpeg, one after the other.
func (f *cameraFlags) compressions() []cameranoise.JPEG {
	s, err := cameranoise.ParseSubsampling(f.subsampling.value)
	if err != nil {
		return nil // Set has taken no other word
	}
	var list []cameranoise.JPEG
	for _, q := range f.jpeg {
		list = append(list, cameranoise.JPEG{Quality: q, Subsampling: s})
	}
	return list
}

// checkUnit refuses what a camera's scene, and what is saved as JPEG, cannot be.
func checkUnit(m *imagefile.Image) error {
	for _, v := range m.Pix {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("has a sample of %.3g; --camera and --jpeg take images from 0 (black) to 1 (white)", v)
		}
	}
	return nil
}

// writeClean writes the picture without noise, of the depth of the result where its format has that.
func (a *app) writeClean(ctx context.Context, d *degradeFlags, file string, clean *imagefile.Image) error {
	opt := d.writing.options(clean, file, d.Force)
	if !slices.Contains(opt.Format.Depths(), opt.Depth) {
		opt.Depth = 0 // --depth is about the result
	}
	return a.write(ctx, file, clean, opt)
}
