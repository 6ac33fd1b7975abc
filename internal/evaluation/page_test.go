package evaluation

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/imagefile"
)

// A large photograph is shown reduced, and where the error is largest as it is.
func TestPageOfALargeImage(t *testing.T) {
	m := &imagefile.Image{Width: 1200, Height: 700, Channels: 1, Pix: make([]float32, 1200*700)}
	given := *m
	restored := make([]float32, len(m.Pix))
	for i := range 20 {
		restored[(690-i)*1200+1150+i] = 1
	}
	r := &Results{budget: LargestShown}
	galleries, err := r.pictures(Photograph{Name: "a.png", Clean: m, Given: &given, Restored: restored}, Score{PSNR: 20, Noisy: 10})
	require.NoError(t, err)
	require.Len(t, galleries, 2)
	require.Equal(t, "a.png, 20.00 dB: all of it", galleries[0].Title)
	require.Equal(t, "a.png, 20.00 dB: where the error is largest", galleries[1].Title)
	require.Equal(t, [2]int{400, 233}, [2]int{galleries[0].Pictures[2].Width, galleries[0].Pictures[2].Height})
	pixels := 0
	for _, g := range galleries {
		pixels += g.Pictures[0].Width * g.Pictures[0].Height
	}
	require.LessOrEqual(t, pixels, LargestShown)
	require.NotEqual(t, galleries[1].Pictures[0].Source(), galleries[1].Pictures[2].Source(), "it shows the error")
}

// The part that is found has at least the error of one that lies around all of it.
func TestLargestError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		height, width := rapid.IntRange(1, 60).Draw(t, "height"), rapid.IntRange(1, 60).Draw(t, "width")
		h, w := rapid.IntRange(1, height).Draw(t, "h"), rapid.IntRange(1, width).Draw(t, "w")
		clean, restored := make([]float32, 3*height*width), make([]float32, 3*height*width)
		y, x := rapid.IntRange(0, height-1).Draw(t, "y"), rapid.IntRange(0, width-1).Draw(t, "x")
		restored[(2*height+y)*width+x] = 0.5
		left, top := largestError(clean, restored, height, width, h, w)
		require.True(t, left >= 0 && top >= 0 && left+w <= width && top+h <= height)
		cell := max(1, min(h, w)/8)
		require.True(t, x > left-cell && x < left+w+cell && y > top-cell && y < top+h+cell, "%d,%d of %d,%d", left, top, x, y)
	})
}

// So many methods that their pictures would not fit are shown without any.
func TestPageIsBounded(t *testing.T) {
	for n := 1; n < 200; n++ {
		r := NewResults(make([]string, n), 1)
		require.LessOrEqual(t, r.budget, LargestShown)
		require.LessOrEqual(t, 3*r.worst*n*r.budget, 8<<20)
		require.Equal(t, n > 42, r.worst == 0)
		for i := range 24 {
			r.Fail(fmt.Sprint("image ", i%12))
		}
		about := r.Sections(findings.Section{Paragraphs: []string{"what was measured"}})[0]
		require.Equal(t, "Not measured: image 0; image 1; image 2; image 3; image 4; image 5; image 6; image 7; image 8; image 9; and 2 more.", about.Verdict)
		require.Len(t, about.Paragraphs, map[bool]int{false: 1, true: 2}[n > 42], "it says so")
	}
}
