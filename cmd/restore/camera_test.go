package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/imagefile"
)

// rmsOf is the root mean square of the difference of two images, of 255.
func rmsOf(t *testing.T, a, b *imagefile.Image) float64 {
	require.Equal(t, [3]int{a.Width, a.Height, a.Channels}, [3]int{b.Width, b.Height, b.Channels})
	sum := 0.0
	for i, v := range a.Pix {
		d := 255 * float64(v-b.Pix[i])
		sum += d * d / float64(len(a.Pix))
	}
	return math.Sqrt(sum)
}

func TestDegradeCamera(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 50, 60, 8, 0))
	r := succeeds(t, fields("degrade a.png --camera --seed 7 --clean clean.pfm -o noisy.pfm")...)
	require.Contains(t, r.stdout, "photographed at ISO 3200, ")
	require.Contains(t, r.stdout, ", seed 7, 60×50")
	clean, noisy := load(t, "clean.pfm"), load(t, "noisy.pfm")
	strong := rmsOf(t, clean, noisy)
	require.True(t, strong > 2 && strong < 25, "%v", strong)

	// The same seed is the same photograph, another one another; less ISO less noise.
	succeeds(t, fields("degrade a.png --camera --seed 7 -o again.pfm")...)
	require.Equal(t, noisy.Pix, load(t, "again.pfm").Pix)
	succeeds(t, fields("degrade a.png --camera --seed 8 -o other.pfm")...)
	require.NotEqual(t, noisy.Pix, load(t, "other.pfm").Pix)
	succeeds(t, fields("degrade a.png --camera --seed 7 --iso 100 -o low.pfm")...)
	require.Less(t, rmsOf(t, clean, load(t, "low.pfm")), strong/3)

	// It is the camera of package cameranoise, with what the flags say.
	scene := load(t, "a.png")
	succeeds(t, fields("degrade a.png --camera --random --seed 9 --iso 1600 --resize 2 --resampling bicubic --reduction 1.5 --demosaic bilinear "+
		"--luma-smoothing 0.5 --chroma-smoothing 0 --sharpening 0.4 --jpeg 90,80 --subsampling 4:2:2 -o drawn.pfm --clean c/drawn.tif")...)
	c := cameranoise.Random(9)
	c.ISO, c.Resize, c.Resampling, c.Reduction, c.Demosaicking = 1600, 2, cameranoise.Bicubic, 1.5, cameranoise.Bilinear
	c.LumaSmoothing, c.ChromaSmoothing, c.Sharpening = 0.5, 0, 0.4
	c.JPEG = []cameranoise.JPEG{{Quality: 90, Subsampling: cameranoise.HalfWidth}, {Quality: 80, Subsampling: cameranoise.HalfWidth}}
	want, err := c.Apply(scene.Pix, scene.Height, scene.Width, 9)
	require.NoError(t, err)
	require.Equal(t, want, load(t, "drawn.pfm").Pix)
	h, w := c.Size(50, 60)
	require.Equal(t, [3]int{w, h, 16}, [3]int{load(t, "c/drawn.tif").Width, load(t, "c/drawn.tif").Height, load(t, "c/drawn.tif").Depth})
	plain, err := c.Clean(scene.Pix, scene.Height, scene.Width)
	require.NoError(t, err)
	require.InDeltaSlice(t, plain, load(t, "c/drawn.tif").Pix, 1e-5)

	// Grey, and the real encoder.
	save(t, "grey.png", picture(1, 33, 21, 8, 0))
	succeeds(t, fields("degrade grey.png --camera -o grey.jpg --quality 90")...)
	require.Equal(t, [3]int{21, 33, 1}, [3]int{load(t, "grey.jpg").Width, load(t, "grey.jpg").Height, load(t, "grey.jpg").Channels})

	o := objects(t, succeeds(t, fields("degrade a.png --camera --seed 4 --jpeg 85 --json --clean c.png -o n.png")...).stdout)[0]
	require.Equal(t, "{camera:{bits:number black_level:number chroma_smoothing:number demosaicking:string exposure:number full_well:number iso:number "+
		"jpeg:[{quality:number subsampling:string}] luma_smoothing:number matrix:[number] pattern:string read_variance:number reduction:number "+
		"resampling:string resize:number row_noise:number sharpening:number shot_noise:number tone:number white_balance:[number]} "+
		"channels:number clean:string command:string height:number input:string output:string schema:number seconds:number seed:number "+
		"sigma:number sigma_estimated:bool width:number}", shape(o))
	require.Equal(t, "c.png", o["clean"])
	require.Equal(t, map[string]any{"quality": 85.0, "subsampling": "4:2:0"}, o["camera"].(map[string]any)["jpeg"].([]any)[0])
}

// White noise that was saved as JPEG: what the library makes of the noisy picture, clipped, and the object says so.
func TestDegradeJPEG(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 40, 56, 8, 0))
	r := succeeds(t, fields("degrade a.png --sigma 0.2 --seed 3 -o noisy.pfm --json")...)
	require.NotContains(t, r.stdout, "jpeg")
	for name, subsampling := range map[string]cameranoise.Subsampling{"": cameranoise.Quarter, " --subsampling 4:4:4": cameranoise.Full} {
		o := objects(t, succeeds(t, fields("degrade a.png --sigma 0.2 --seed 3 --jpeg 90,75 -o saved.pfm --force --json"+name)...).stdout)[0]
		want := load(t, "noisy.pfm")
		for i, v := range want.Pix {
			want.Pix[i] = min(max(v, 0), 1)
		}
		for i, quality := range []int{90, 75} {
			pix, err := cameranoise.Compressed(want.Pix, 40, 56, cameranoise.JPEG{Quality: quality, Subsampling: subsampling})
			require.NoError(t, err)
			want.Pix = pix
			require.Equal(t, map[string]any{"quality": float64(quality), "subsampling": subsampling.String()}, o["jpeg"].([]any)[i])
		}
		require.Equal(t, want.Pix, load(t, "saved.pfm").Pix)
	}
	require.Contains(t, succeeds(t, fields("degrade a.png --jpeg 50 -o only.png")...).stdout, "JPEG 50 4:2:0, 56×40")
	bright := picture(3, 12, 14, 32, 0)
	bright.Pix[7] = 1.5
	save(t, "bright.pfm", bright)
	fails(t, exitFailed, []string{"has a sample of 1.5; --camera and --jpeg take images from 0"}, fields("degrade bright.pfm --jpeg 50 -o no.png")...)
}

func TestDegradeCameraAfterBlur(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 40, 44, 8, 0))
	succeeds(t, fields("kernel disk --radius 2 -o k.pfm")...)
	r := succeeds(t, fields("degrade a.png --kernel k.pfm --camera --iso 0 --luma-smoothing 0 --chroma-smoothing 0 --sharpening 0 -o both.pfm")...)
	require.Contains(t, r.stdout, "blurred, boundary unknown, photographed at ISO 0")
	succeeds(t, fields("degrade a.png --kernel k.pfm -o blurred.pfm")...)
	blurred, both := load(t, "blurred.pfm"), load(t, "both.pfm")
	require.Equal(t, [2]int{40, 36}, [2]int{both.Width, both.Height})
	require.Less(t, rmsOf(t, blurred, both), 2.0, "of a soft picture a camera without noise changes little")
}

func TestDegradeCameraTransparency(t *testing.T) {
	inFolder(t)
	m := picture(3, 20, 24, 8, 0)
	m.Alpha = make([]uint16, 20*24)
	for i := range m.Alpha {
		m.Alpha[i] = uint16(i * 100)
	}
	save(t, "a.png", m)
	succeeds(t, fields("degrade a.png --camera -o b.png")...)
	require.Equal(t, load(t, "a.png").Alpha, load(t, "b.png").Alpha)
	fails(t, exitFailed, []string{"a.png: is partly transparent", "--alpha drop"}, fields("degrade a.png --camera --resize 2 -o c.png")...)
	succeeds(t, fields("degrade a.png --camera --resize 2 --alpha drop -o c.png")...)
	require.Equal(t, 12, load(t, "c.png").Width)
}

func TestDegradeCameraBatch(t *testing.T) {
	inFolder(t)
	require.NoError(t, os.MkdirAll("in/more", 0o777))
	save(t, "in/a.png", picture(3, 20, 24, 8, 0))
	save(t, "in/more/a.png", picture(3, 20, 24, 8, 0))
	succeeds(t, fields("degrade in --recursive --camera -o out/ --clean clean/")...)
	require.Equal(t, []string{"clean/a.png", "clean/more/a.png", "in/a.png", "in/more/a.png", "out/a.png", "out/more/a.png"}, files(t))
	require.NotEqual(t, load(t, "out/a.png").Pix, load(t, "out/more/a.png").Pix, "the next seed")
	fails(t, exitFailed, []string{"its result clean/a.png exists already"}, fields("degrade in/a.png --camera -o b.png --clean clean/a.png")...)
	succeeds(t, fields("degrade in/a.png --camera -o b.png --clean clean/a.png --skip-existing")...)
	succeeds(t, fields("degrade in/a.png --camera -o b.png --clean clean/a.png --force")...)
	// Beside the inputs, clean ones would meet in one folder.
	fails(t, exitUsage, []string{"would take the place of"}, fields("degrade in --recursive --camera --clean flat/")...)
}

func TestDegradeCameraWrongUse(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 12, 14, 8, 0))
	save(t, "b.png", picture(3, 12, 14, 8, 0))
	bright := picture(3, 12, 14, 32, 0)
	bright.Pix[7] = 1.5
	save(t, "bright.pfm", bright)
	for _, c := range []struct{ args, part string }{
		{"--iso 100", "--iso needs --camera"},
		{"--sigma 0.1 --clean c.png", "--clean needs --camera"},
		{"--sigma 0.1 --subsampling 4:4:4", "--subsampling needs --jpeg"},
		{"--sigma 0.1 --jpeg 0", "a JPEG quality of 0, want 1 to 100"},
		{"--camera --sigma 0.1", "--camera makes noise of its own; leave out --sigma"},
		{"--camera --iso -1", "--iso -1: want a number from 0"},
		{"--camera --iso NaN", "--iso NaN: want a number"},
		{"--camera --resize 0.5", "--resize 0.5: want a number from 1"},
		{"--camera --reduction 0", "--reduction 0: want a number from 1"},
		{"--camera --subsampling 4:2:0", "--subsampling needs --jpeg"},
		{"--camera --resampling nearest", "--resampling needs --resize"},
		{"--camera --jpeg 101", "a JPEG quality of 101, want 1 to 100"},
		{"--camera --jpeg 80 --subsampling 4:1:1", "want 4:2:0, 4:2:2 or 4:4:4"},
		{"--camera --demosaic magic", "want drawn, bilinear, malvar or hamilton-adams"},
		{"--camera --luma-smoothing 20", "smoothing of brightness of 20, want 0 to 8"},
		{"--camera --clean -", "--clean -: standard output is for the result"},
		{"--camera --clean ", "--clean is empty"},
		{"--camera --clean out.png", "--clean out.png: the clean picture of a.png would take the place of out.png"},
		{"--camera --clean a.png", "would take the place of a.png"},
		{"--camera --clean c.webp", "--clean c.webp: WebP is read but not written"},
		{"--camera --clean c.xyz", "--clean c.xyz: unknown image format"},
	} {
		args := append([]string{"degrade", "a.png", "-o", "out.png"}, strings.Split(c.args, " ")...)
		fails(t, exitUsage, []string{c.part}, args...)
	}
	fails(t, exitUsage, []string{"--clean c.png: several inputs need a folder"}, fields("degrade a.png b.png --camera -o out/ --clean c.png")...)
	fails(t, exitFailed, []string{"bright.pfm: has a sample of 1.5; --camera and --jpeg take images from 0 (black) to 1 (white)"},
		fields("degrade bright.pfm --camera -o out.png")...)
	require.Equal(t, []string{"a.png", "b.png", "bright.pfm"}, files(t), "nothing is written")
}
