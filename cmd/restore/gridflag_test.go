package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
)

func TestGridFlag(t *testing.T) {
	var g gridFlag
	require.NoError(t, g.Set("3x4"))
	require.Equal(t, gridFlag{3, 4}, g)
	require.Equal(t, "3x4", g.String())
	for _, bad := range []string{"", "3", "x", "0x2", "2x0", "-1x2", "33x1", "3x4x5", "3×4", "a3x4"} {
		require.Error(t, g.Set(bad), bad)
	}
	require.Equal(t, gridFlag{3, 4}, g)
}

// A sheet of kernels is cut by --kernel-grid, and what it does not go with is said.
func TestKernelGrid(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 40, 48, 8, 0.01))
	for i, angle := range []string{"20", "70"} {
		succeeds(t, "kernel", "motion", "--length", "5", "--angle", angle, "-o", []string{"0.png", "1.png"}[i])
	}
	sheet := picture(1, 7, 14, 16, 0)
	clear(sheet.Pix)
	for i, name := range []string{"0.png", "1.png"} {
		k := load(t, name)
		for y := range k.Height {
			copy(sheet.Pix[(y+(7-k.Height)/2)*14+7*i+(7-k.Width)/2:], k.Pix[y*k.Width:(y+1)*k.Width])
		}
	}
	save(t, "sheet.png", sheet)
	r := succeeds(t, "deblur", "--prior", "tv", "--json", "--kernel", "sheet.png", "--kernel-grid", "1x2", "--iterations", "3", "a.png")
	o := objects(t, r.stdout)[0]
	require.Contains(t, o["certificate"].(map[string]any)["operator_norm_reason"], "varying")
	require.Equal(t, 40, load(t, "a.deblurred.png").Height)

	// A preview has the kernels of its part.
	const left, top, side = 120, 30, 30
	save(t, "b.png", picture(1, 80, 260, 8, 0.01))
	run := []string{"deblur", "--prior", "tv", "--sigma", "0.02", "--kernel", "sheet.png", "--kernel-grid", "1x2", "b.png", "-o"}
	succeeds(t, append(run, "whole.pfm")...)
	succeeds(t, append(run, "part.pfm", "--preview", "120,30,30,30")...)
	whole, part := load(t, "whole.pfm"), load(t, "part.pfm")
	require.Equal(t, 2*side+previewGap, part.Width)
	whole.Crop(side, side, top, left)
	psnr, err := quality.PSNR(whole.Pix, panel(part.Pix, part.Width, side, side, 1), 1)
	require.NoError(t, err)
	require.Greater(t, psnr, 40.)

	for want, args := range map[string][]string{
		"--boundary unknown": {"deblur", "--kernel", "sheet.png", "--kernel-grid", "1x2", "--boundary", "zero", "a.png"},
		"of one size":        {"deblur", "--kernel", "sheet.png", "--kernel-grid", "2x2", "a.png"},
		"ROWSxCOLUMNS":       {"deblur", "--kernel", "sheet.png", "--kernel-grid", "2", "a.png"},
	} {
		r := restoring(t, args...)
		require.NotZero(t, r.code, want)
		require.Contains(t, r.stderr, want)
	}
}

// Without --kernel as many kernels are estimated as --kernel-grid says, and --write-kernel makes a sheet of them that
// --kernel-grid takes.
func TestEstimatedGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long in portable Go; deblur/estimate has short tests, and the run without -short has this one")
	}
	m := fromHere(t, blurredStill)[0]
	m.Crop(120, 160, 100, 100)
	save(t, "a.png", m)
	few := []string{"deblur", "--prior", "tv", "--iterations", "2", "--force", "--json", "a.png"}
	r := succeeds(t, append(few, "--kernel-size", "15", "--kernel-grid", "1x2", "--write-kernel", "sheet.png")...)
	found := objects(t, r.stdout)[0]["kernel_estimate"].(map[string]any)
	require.EqualValues(t, 1, found["rows"])
	require.EqualValues(t, 2, found["columns"])
	require.Contains(t, r.stderr+r.stdout, "removed with 1×2 estimated kernels")
	sheet := load(t, "sheet.png")
	require.Equal(t, 2*sheet.Height, sheet.Width)
	first := load(t, "a.deblurred.png")
	succeeds(t, append(few, "--kernel", "sheet.png", "--kernel-grid", "1x2")...)
	require.InDeltaSlice(t, first.Pix, load(t, "a.deblurred.png").Pix, 2.0/255)

	r = succeeds(t, append(few, "--kernel-size", "15", "--kernel-grid", "1x1")...)
	require.NotContains(t, objects(t, r.stdout)[0]["kernel_estimate"], "rows")
	r = restoring(t, append(few, "--kernel-grid", "1x2", "--boundary", "zero")...)
	require.Contains(t, r.stderr, "--boundary unknown")
}

// Without --kernel it is noticed that the camera turned, and --write-kernel makes a sheet of the kernels of that turn.
func TestDeblurOfATurn(t *testing.T) {
	leaveRuns(t)
	m := fromHere(t, "../../testdata/scene.png")[0]
	const h, w, margin, poses, degrees = 180, 240, 14, 41, 8
	m.Crop(h+2*margin, w+2*margin, (m.Height-h)/2-margin, (m.Width-w)/2-margin)
	turned := &imagefile.Image{Width: w, Height: h, Channels: m.Channels, Depth: 8, Pix: make([]float32, m.Channels*h*w)}
	for i := range poses {
		sin, cos := math.Sincos(degrees * math.Pi / 180 * ((float64(i)+.5)/poses - .5))
		for j := range h * w {
			dy, dx := float64(j/w)-(h-1)/2., float64(j%w)-(w-1)/2.
			y, x := (h-1)/2.+margin+cos*dy-sin*dx, (w-1)/2.+margin+sin*dy+cos*dx
			fy, fx := float32(y-math.Floor(y)), float32(x-math.Floor(x))
			for c := range m.Channels {
				of := m.Plane(c)[int(y)*m.Width+int(x):]
				turned.Pix[c*h*w+j] += ((1-fy)*((1-fx)*of[0]+fx*of[1]) + fy*((1-fx)*of[m.Width]+fx*of[m.Width+1])) / poses
			}
		}
	}
	save(t, "a.png", turned)
	few := []string{"deblur", "--prior", "tv", "--iterations", "2", "--force", "--json", "a.png"}
	o := objects(t, succeeds(t, append(few, "--write-kernel", "sheet.png")...).stdout)[0]
	found := o["kernel_estimate"].(map[string]any)
	require.Equal(t, "turn", found["kind"])
	require.InDelta(t, degrees, found["angle"], 2)
	point := found["point"].([]any)
	require.InDelta(t, w/2, point[0], 8)
	require.InDelta(t, h/2, point[1], 8)
	require.Contains(t, o["notes"].([]any)[0], "the camera turned by")
	require.Contains(t, o["certificate"].(map[string]any)["operator_norm_reason"], "varying")
	first, sheet := load(t, "a.deblurred.png"), load(t, "sheet.png")
	rows, columns := int(found["rows"].(float64)), int(found["columns"].(float64))
	require.Zero(t, sheet.Height%rows+sheet.Width%columns)
	succeeds(t, append(few, "--kernel", "sheet.png", "--kernel-grid", fmt.Sprintf("%dx%d", rows, columns))...)
	require.InDeltaSlice(t, first.Pix, load(t, "a.deblurred.png").Pix, 2.0/255)

	// A preview has the blur of the whole photograph, also where the part shows less of it.
	part := objects(t, succeeds(t, append(few, "--preview", "130,70,40,40")...).stdout)[0]
	require.Equal(t, o["kernel_estimate"].(map[string]any)["point"], part["kernel_estimate"].(map[string]any)["point"])
	require.Equal(t, o["kernel_estimate"].(map[string]any)["angle"], part["kernel_estimate"].(map[string]any)["angle"])
	require.Equal(t, o["notes"].([]any)[:2], part["notes"].([]any)[:2])

	o = objects(t, succeeds(t, "kernel", "estimate", "a.png", "-o", "again.png", "--json").stdout)[0]
	require.EqualValues(t, rows, o["rows"])
	require.EqualValues(t, columns, o["columns"])
	require.Equal(t, sheet.Pix, load(t, "again.png").Pix)
}

// The sheet of a turn is one that --kernel-grid takes with the rows and columns that are printed.
func TestSheetOfATurn(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 40, 60, 8, 0.01))
	r := succeeds(t, fields("kernel turn --angle 9 --width 60 --height 40 --x 10 -o turn.png --json")...)
	o := objects(t, r.stdout)[0]
	sheet := load(t, "turn.png")
	rows, columns := int(o["rows"].(float64)), int(o["columns"].(float64))
	require.EqualValues(t, sheet.Width, o["width"])
	require.Zero(t, sheet.Height%rows+sheet.Width%columns)
	require.Contains(t, succeeds(t, fields("kernel turn --angle 9 --width 60 --height 40 --x 10 -o turn.pfm")...).stdout, fmt.Sprintf("--kernel-grid %dx%d", rows, columns))
	succeeds(t, "deblur", "--prior", "tv", "--json", "--kernel", "turn.png", "--kernel-grid", fmt.Sprintf("%dx%d", rows, columns), "--iterations", "3", "a.png")
	fails(t, exitUsage, []string{"needs --height"}, fields("kernel turn --angle 9 --width 60 -o t.png")...)
	fails(t, exitUsage, []string{"--angle 0: want a number of degrees above 0"}, fields("kernel turn --angle 0 --width 60 --height 40 -o t.png")...)
	fails(t, exitUsage, []string{"want at most"}, fields("kernel turn --angle 170 --width 6000 --height 4000 -o t.png")...)
}

// degrade blurs by a sheet of kernels: equal ones are one kernel.
func TestDegradeByASheet(t *testing.T) {
	inFolder(t)
	save(t, "a.pfm", picture(3, 40, 52, 32, 0))
	succeeds(t, fields("kernel motion --length 5 --angle 20 -o k.pfm")...)
	k := load(t, "k.pfm")
	sheet := &imagefile.Image{Width: 2 * k.Width, Height: k.Height, Channels: 1, Depth: 32, Pix: make([]float32, 2*len(k.Pix))}
	for i, v := range k.Pix {
		y, x := i/k.Width, i%k.Width
		sheet.Pix[y*sheet.Width+x], sheet.Pix[y*sheet.Width+k.Width+x] = v, v
	}
	save(t, "sheet.pfm", sheet)
	succeeds(t, fields("degrade a.pfm --kernel k.pfm -o one.pfm")...)
	succeeds(t, fields("degrade a.pfm --kernel sheet.pfm --kernel-grid 1x2 -o two.pfm")...)
	one, two := load(t, "one.pfm"), load(t, "two.pfm")
	require.Equal(t, []int{one.Width, one.Height}, []int{two.Width, two.Height})
	require.InDeltaSlice(t, one.Pix, two.Pix, 1e-5)
	fails(t, exitUsage, []string{"name the sheet"}, fields("degrade a.pfm --kernel-grid 1x2 --sigma 0.1 -o x.pfm")...)
	fails(t, exitUsage, []string{"--boundary unknown"}, fields("degrade a.pfm --kernel sheet.pfm --kernel-grid 1x2 --boundary zero -o x.pfm")...)
}
