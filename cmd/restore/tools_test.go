package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
)

func fields(s string) []string { return strings.Fields(s) }

func TestKernel(t *testing.T) {
	inFolder(t)
	motion, err := deblur.Motion(9, 30)
	require.NoError(t, err)
	gaussian, err := deblur.Gaussian(1.6)
	require.NoError(t, err)
	disk, err := deblur.Disk(3.5)
	require.NoError(t, err)
	box, err := deblur.Box(4)
	require.NoError(t, err)
	shake, err := deblur.Shake(15, 7)
	require.NoError(t, err)
	for args, k := range map[string]deblur.Kernel{
		"motion --length 9 --angle 30": motion,
		"gaussian --std 1.6":           gaussian,
		"disk --radius 3.5":            disk,
		"box --size 4":                 box,
		"shake --size 15 --seed 7":     shake,
	} {
		shape := strings.Fields(args)[0]
		for _, ext := range []string{".pfm", ".png", ".tif"} {
			r := succeeds(t, append([]string{"kernel"}, append(fields(args), "-o", shape+ext)...)...)
			require.Contains(t, r.stdout, shape+ext+": "+shape+" kernel, ")
			m := load(t, shape+ext)
			require.Equal(t, [3]int{k.W, k.H, 1}, [3]int{m.Width, m.Height, m.Channels})
			back, err := deblur.KernelFromPlanes(m.Pix, 1, m.Height, m.Width)
			require.NoError(t, err)
			for i, w := range k.Weights {
				if ext == ".pfm" {
					require.Equal(t, w, m.Pix[i])
				}
				require.InDelta(t, w, back.Weights[i], 1e-5)
			}
		}
	}
	for _, args := range []string{"kernel box --size 3 -o box.png", "kernel estimate box.png -o box.png", "deblur box.png --write-kernel box.png"} {
		fails(t, exitFailed, []string{"box.png: exists already; --force overwrites it\n"}, fields(args)...)
	}
	succeeds(t, fields("kernel box --size 3 -o box.png --force")...)
	require.Equal(t, 3, load(t, "box.png").Width)
	o := objects(t, succeeds(t, fields("kernel box --size 3 -o box2.png --json")...).stdout)
	require.Equal(t, map[string]any{"schema": 1.0, "command": "kernel", "shape": "box", "output": "box2.png", "width": 3.0, "height": 3.0}, o[0])
	require.Empty(t, succeeds(t, fields("kernel box --size 3 -o box3.png -q")...).stdout)
}

func TestDegradeNoise(t *testing.T) {
	inFolder(t)
	m := picture(3, 30, 40, 8, 0)
	for i := range m.Pix {
		m.Pix[i] = float32(i%2) * 51 / 255 // near black, so that clipping would show
	}
	save(t, "a.png", m)
	r := succeeds(t, fields("degrade a.png --sigma 0.2 --seed 11 -o noisy.pfm")...)
	require.Contains(t, r.stdout, "noise of sigma 0.2, seed 11")
	clean, noisy := load(t, "a.png"), load(t, "noisy.pfm")
	below := 0
	for i, v := range noisy.Pix {
		require.InDelta(t, clean.Pix[i]+0.2*backend.GaussianAt(11, uint64(i)), v, 1e-6)
		if v < 0 {
			below++
		}
	}
	require.Positive(t, below, "a PFM is not clipped")

	succeeds(t, fields("degrade a.png --sigma 0.2 --seed 11 -o noisy.png")...)
	clipped := load(t, "noisy.png")
	require.Equal(t, 16, clipped.Depth)
	for i, v := range noisy.Pix {
		require.InDelta(t, min(max(v, 0), 1), clipped.Pix[i], 1e-5)
	}
	succeeds(t, fields("degrade a.png --sigma 0.2 -o noisy.tif")...)
	require.Equal(t, 16, load(t, "noisy.tif").Depth)
	succeeds(t, fields("degrade a.png --sigma 0.2 -o eight.png --depth 8")...)
	require.Equal(t, 8, load(t, "eight.png").Depth)
	succeeds(t, fields("degrade a.png --sigma 0.2 -o eight.jpg")...)
	succeeds(t, fields("degrade a.png --sigma 0.2 -o eight.bmp")...)

	// Another seed is other noise; of several inputs each has its own.
	save(t, "b.png", m)
	succeeds(t, fields("degrade a.png b.png --sigma 0.2 --seed 10 -o many/ --depth 16")...)
	require.Equal(t, clipped.Pix, load(t, "many/b.png").Pix)
	require.NotEqual(t, clipped.Pix, load(t, "many/a.png").Pix)
}

func TestDegradeBlur(t *testing.T) {
	inFolder(t)
	m := picture(3, 30, 40, 16, 0)
	m.Alpha = make([]uint16, 30*40)
	for i := range m.Alpha {
		m.Alpha[i] = uint16(i * 53)
	}
	save(t, "a.tif", m)
	succeeds(t, fields("kernel shake --size 7 --seed 2 -o k.pfm")...)
	k := load(t, "k.pfm")
	clean := load(t, "a.tif")
	at := func(c, y, x int) float64 {
		if y < 0 || y >= 30 || x < 0 || x >= 40 {
			return 0
		}
		return float64(clean.Pix[(c*30+y)*40+x])
	}
	cy, cx := k.Height/2, k.Width/2
	blurred := func(c, y, x int) float64 {
		sum := 0.0
		for i := range k.Height {
			for j := range k.Width {
				sum += float64(k.Pix[i*k.Width+j]) * at(c, y+cy-i, x+cx-j)
			}
		}
		return sum
	}
	for boundary, margin := range map[string][2]int{"zero": {0, 0}, "unknown": {k.Height - 1 - cy, k.Width - 1 - cx}} {
		succeeds(t, append(fields("degrade a.tif --kernel k.pfm --depth 32 --force -o out.tif --boundary"), boundary)...)
		out := load(t, "out.tif")
		top, left := margin[0], margin[1]
		if boundary == "unknown" {
			require.Equal(t, [2]int{30 - k.Height + 1, 40 - k.Width + 1}, [2]int{out.Height, out.Width})
		} else {
			require.Equal(t, [2]int{30, 40}, [2]int{out.Height, out.Width})
		}
		for c := range 3 {
			for y := range out.Height {
				for x := range out.Width {
					require.InDelta(t, blurred(c, y+top, x+left), out.Plane(c)[y*out.Width+x], 1e-5, "%s %d %d %d", boundary, c, y, x)
				}
			}
		}
		for y := range out.Height {
			for x := range out.Width {
				require.InDelta(t, m.Alpha[(y+top)*40+x+left], out.Alpha[y*out.Width+x], 1)
			}
		}
	}
	for _, boundary := range []string{"circular", "reflect"} {
		succeeds(t, append(fields("degrade a.tif --kernel k.pfm --force -o out.tif --boundary"), boundary)...)
		out := load(t, "out.tif")
		require.Equal(t, [2]int{30, 40}, [2]int{out.Height, out.Width})
	}
	save(t, "tiny.png", picture(1, 3, 3, 8, 0))
	fails(t, exitFailed, []string{"tiny.png: the kernel of", "does not fit", "--boundary circular"}, fields("degrade tiny.png --kernel k.pfm")...)
	succeeds(t, fields("degrade tiny.png --kernel k.pfm --boundary circular")...)
}

func TestCompare(t *testing.T) {
	inFolder(t)
	a, b := picture(1, 20, 30, 32, 0), picture(1, 20, 30, 32, 0)
	for i := range a.Pix {
		a.Pix[i] = 0.5
		b.Pix[i] = 0.25
	}
	save(t, "a.pfm", a)
	save(t, "b.pfm", b)
	r := succeeds(t, "compare", "a.pfm", "b.pfm")
	require.Equal(t, "PSNR  12.04 dB, peak 1\nPSNR  6.02 dB, peak 0.5, the largest value of A\nSSIM  0.8001\n", r.stdout)
	o := objects(t, succeeds(t, "compare", "a.pfm", "b.pfm", "--json").stdout)[0]
	require.Equal(t, "{channels:number command:string height:number image:string mse:number psnr:number psnr_paper:number psnr_paper_peak:number "+
		"reference:string schema:number ssim:number width:number}", shape(o))
	require.InDelta(t, 0.0625, o["mse"], 1e-12)
	require.InDelta(t, 10*math.Log10(16), o["psnr"], 1e-9)
	require.InDelta(t, 10*math.Log10(4), o["psnr_paper"], 1e-9)
	require.InDelta(t, (0.25+1e-4)/(0.3125+1e-4), o["ssim"], 1e-9)
	// A is the reference: its largest value is the paper's peak.
	require.InDelta(t, 0, objects(t, succeeds(t, "compare", "b.pfm", "a.pfm", "--json").stdout)[0]["psnr_paper"], 1e-9)

	r = succeeds(t, "compare", "a.pfm", "a.pfm")
	require.Contains(t, r.stdout, "infinite (the images are equal), peak 1\n")
	require.Contains(t, r.stdout, "SSIM  1.0000\n")
	o = objects(t, succeeds(t, "compare", "a.pfm", "a.pfm", "--json").stdout)[0]
	require.Nil(t, o["psnr"])
	require.Equal(t, 0.0, o["mse"])

	save(t, "smaller.pfm", picture(1, 18, 27, 32, 0))
	save(t, "colour.pfm", picture(3, 20, 30, 32, 0))
	save(t, "tiny.png", picture(1, 1, 1, 8, 0))
	fails(t, exitFailed, []string{"smaller.pfm: has 27×18 pixels and the reference 30×20; --center"}, "compare", "a.pfm", "smaller.pfm")
	fails(t, exitFailed, []string{"colour.pfm: is colour and the reference grey"}, "compare", "a.pfm", "colour.pfm")
	fails(t, exitFailed, []string{"missing.png: no such file"}, "compare", "a.pfm", "missing.png")
	require.Contains(t, succeeds(t, "compare", "tiny.png", "tiny.png").stdout, "SSIM  undefined below 11×11 pixels")
	require.Nil(t, objects(t, succeeds(t, "compare", "tiny.png", "tiny.png", "--json").stdout)[0]["ssim"])

	for i := range a.Pix {
		a.Pix[i] = -1
	}
	save(t, "negative.pfm", a)
	require.Contains(t, succeeds(t, "compare", "negative.pfm", "b.pfm").stdout, "undefined with the largest value of A")
}

func TestCompareCropsToTheMiddle(t *testing.T) {
	inFolder(t)
	large := picture(3, 25, 31, 32, 0)
	small := picture(3, 20, 26, 32, 0)
	for c := range 3 {
		for y := range 20 {
			for x := range 26 {
				small.Plane(c)[y*26+x] = large.Plane(c)[(y+2)*31+x+2]
			}
		}
	}
	large.Alpha = nil
	save(t, "large.pfm", large)
	save(t, "small.pfm", small)
	for _, pair := range [][]string{{"large.pfm", "small.pfm"}, {"small.pfm", "large.pfm"}} {
		require.Contains(t, succeeds(t, "compare", pair[0], pair[1], "--center").stdout, "infinite")
	}
	// The larger in one direction, the smaller in the other.
	save(t, "wide.png", picture(1, 15, 40, 8, 0))
	save(t, "high.png", picture(1, 40, 15, 8, 0))
	o := objects(t, succeeds(t, "compare", "wide.png", "high.png", "--center", "--json").stdout)[0]
	require.Equal(t, [2]any{15.0, 15.0}, [2]any{o["width"], o["height"]})
}

func TestCheck(t *testing.T) {
	inFolder(t)
	r := succeeds(t, "check", "--prior", "tv")
	require.Contains(t, r.stdout, "prior tv\n")
	require.Contains(t, r.stdout, "‖K‖ ≤ 1")
	require.True(t, strings.HasSuffix(r.stdout, "holds: yes\n"))
	require.NotContains(t, r.stdout, "distance")

	save(t, "a.png", picture(3, 16, 20, 8, 0.05))
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	r = succeeds(t, fields("check --prior tv a.png --kernel k.png --sigma 0.05 --iterations 12")...)
	require.Contains(t, r.stdout, "residual a")
	require.Contains(t, r.stdout, "\n          1  ")
	require.Contains(t, r.stdout, "\n         10  ")
	require.NotContains(t, r.stdout, "\n         11  ")
	require.Contains(t, r.stdout, "\n         12  ", "the last row is always there")
	require.True(t, strings.HasSuffix(r.stdout, "holds: yes\n"))
	require.Contains(t, succeeds(t, fields("check --prior tv a.png --sigma 0.05 --iterations 12 -v")...).stdout, "\n         11  ")
	require.Empty(t, succeeds(t, fields("check --prior tv a.png --sigma 0.05 --iterations 3 -q")...).stdout)

	o := objects(t, succeeds(t, fields("check --prior tv a.png --sigma 0.05 --iterations 12 --boundary circular --json")...).stdout)
	require.Len(t, o, 1)
	require.Equal(t, "{certificate:{averagedness:number constraint:string converges:bool data_step:string data_step_averagedness:number denoiser_averagedness:number "+
		"fixed_point_exists:bool map:string operator_norm_bound:number operator_norm_reason:string proven:bool proven_residual:number rounding:number rounding_covered:bool step:number} "+
		"command:string denoiser:[string] exact_arithmetic_only:bool expansion:number holds:bool input:string method:string "+
		"rows:[{bound:number distance:number iteration:number residuals:[number]}] schema:number violations:[]}", shape(o[0]))
	require.Len(t, o[0]["rows"], 12)
	require.Equal(t, true, o[0]["holds"])
	fails(t, exitFailed, []string{"missing.png: no such file"}, "check", "--prior", "tv", "missing.png")
	fails(t, exitFailed, []string{"missing.png: no such file"}, "check", "--prior", "tv", "--kernel", "missing.png")
}

func TestKernelFilesThatAreNone(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 20, 30, 8, 0))
	black := picture(1, 5, 5, 8, 0)
	clear(black.Pix)
	save(t, "black.png", black)
	negative := picture(1, 5, 5, 32, 0)
	negative.Pix[3] = -1
	save(t, "negative.pfm", negative)
	save(t, "huge.png", picture(1, 1, 2048, 8, 0))
	for kernel, part := range map[string]string{
		"black.png":    "black.png: kernel of 5×5 is all black or transparent, want at least one weight above 0",
		"negative.pfm": "negative.pfm: kernel sample in row 0, column 3 is -1",
		"huge.png":     "huge.png: kernel of 1×2048 samples is too large",
		"missing.png":  "missing.png: no such file",
	} {
		fails(t, exitFailed, []string{part}, "deblur", "--kernel", kernel, "a.png")
		fails(t, exitFailed, []string{part}, "degrade", "--kernel", kernel, "a.png")
		fails(t, exitFailed, []string{part}, "check", "--prior", "tv", "--kernel", kernel)
	}
}
