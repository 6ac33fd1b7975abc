package imagefile

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/stretchr/testify/require"
)

var salvaging = ReadOptions{Damaged: true}

func decodeDamaged(t require.TestingT, data []byte) (*Image, error) {
	_, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{})
	require.ErrorIs(t, err, ErrMalformed) // the default
	return DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), salvaging)
}

// requireFound requires that the rows of m up to its lost ones are those of whole, except for up to
// partial rows at the end, and that what is lost is grey.
func requireFound(t require.TestingT, whole, m *Image, partial int) {
	require.Equal(t, [3]int{whole.Width, whole.Height, whole.Channels}, [3]int{m.Width, m.Height, m.Channels})
	end := m.Found().Dy()
	for c := range m.Channels {
		for i, v := range m.Plane(c) {
			y := i / m.Width
			if y < end-partial {
				require.Equal(t, whole.Plane(c)[i], v, "row %d of channel %d", y, c)
			}
			if y >= end {
				require.Equal(t, float32(0.5), v, "row %d of channel %d", y, c)
			}
		}
	}
}

func TestPNGThatEndsEarly(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	for _, name := range []string{"rgb8.png", "rgb16.png", "g1.png", "g16.png", "ga8.png", "pal16.png", "palt.png", "trns16.png"} {
		data := imagetest.File(t, name)
		whole := decode(t, data)
		rows := 0
		for end := len(data) - 13; end > sniffLength; end -= 19 {
			m, err := decodeDamaged(t, data[:end])
			if err != nil {
				require.ErrorIs(t, err, ErrMalformed)
				require.Contains(t, err.Error(), "PNG is damaged")
				continue
			}
			require.Contains(t, m.Warnings[0], "damaged")
			requireFound(t, whole, m, 0)
			rows = max(rows, m.Found().Dy())
		}
		require.Greater(t, rows, 7, name)
	}
}

func TestPNGThatIsBroken(t *testing.T) {
	data := bytes.Clone(imagetest.File(t, "rgb8.png"))
	whole := decode(t, data)
	data[len(data)*3/4] ^= 0x10
	m, err := decodeDamaged(t, data)
	require.NoError(t, err)
	require.Contains(t, m.Warnings[len(m.Warnings)-1], "checksum")
	require.Equal(t, whole.Pix[:23*4], m.Pix[:23*4], "what is before the damage")
}

// testJPEG is a JPEG with chroma at half resolution, of image/jpeg.
func testJPEG(t require.TestingT, w, h int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{uint8(x * 3), uint8(y*2 + x*x/9), uint8(x ^ y), 255})
		}
	}
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func TestJPEGThatEndsEarly(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	// Chroma is interpolated between rows of units, and the last unit is the first that is grey.
	for name, data := range map[string][]byte{
		"4:2:0": testJPEG(t, 150, 133), "grey": imagetest.File(t, "gray.jpg"), "4:2:2": imagetest.File(t, "s422.jpg"), "4:4:4": encode(t, imagetest.Smooth(60, 50, 3), WriteOptions{Format: JPEG}),
	} {
		whole := decode(t, data)
		scan := bytes.LastIndex(data, []byte{0xff, segment.SOS})
		rows := 0
		for end := len(data) - 1; end > scan; end -= 1 + (len(data)-scan)/12 {
			m, err := decodeDamaged(t, data[:end])
			if err != nil {
				require.ErrorIs(t, err, ErrMalformed)
				continue
			}
			require.Contains(t, m.Warnings[0], "damaged", name)
			requireFound(t, whole, m, 17)
			rows = max(rows, m.Found().Dy())
		}
		require.Greater(t, rows, 7, name)

		// Only the end is missing, and broken bytes follow.
		m, err := decodeDamaged(t, data[:len(data)-2])
		require.NoError(t, err)
		require.Equal(t, whole.Pix, m.Pix, name)
		require.Contains(t, m.Warnings[0], "all of its pixels can be read", name)
	}
}

func TestProgressiveJPEGThatEndsEarly(t *testing.T) {
	data := imagetest.File(t, "prog.jpg")
	whole := decode(t, data)
	last := 0.0
	for _, end := range []int{len(data) * 85 / 100, len(data) - 20, len(data) - 2} {
		m, err := decodeDamaged(t, data[:end])
		require.NoError(t, err)
		require.Contains(t, m.Warnings[0], "later scans")
		require.Empty(t, m.Lost)
		similar := imagetest.PSNR(whole.Pix, m.Pix)
		require.GreaterOrEqual(t, similar, max(20, last))
		last = similar
	}
	first := bytes.Index(data, []byte{0xff, segment.SOS})
	_, err := decodeDamaged(t, data[:first+20])
	require.ErrorContains(t, err, "lacks its first scan")
}

// TestRestartsOfJPEG reads a scan with restarts after every second unit.
func TestRestartsOfJPEG(t *testing.T) {
	data := imagetest.File(t, "restart.jpg")
	whole := decode(t, data)
	m, err := decodeDamaged(t, data[:len(data)*2/3])
	require.NoError(t, err)
	requireFound(t, whole, m, 17)
	require.Greater(t, m.Found().Dy(), 17)
}

func TestNothingToSalvage(t *testing.T) {
	for _, c := range brokenFiles(t) {
		if strings.Contains(c.name, "bomb") {
			continue // refused for its size, which takes long to find
		}
		m, err := Decode(t.Context(), bytes.NewReader(c.data), salvaging)
		if err == nil {
			require.NoError(t, m.Validate())
			require.NotEmpty(t, m.Warnings, c.name)
			continue
		}
		require.NotContains(t, err.Error(), "\n")
	}
}

func FuzzDamaged(f *testing.F) {
	addSeeds(f, JPEG)
	addSeeds(f, PNG)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{MaxPixels: 1 << 16, Damaged: true})
		if err != nil {
			require.Nil(t, m)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NoError(t, m.Validate())
		require.NoError(t, m.CheckFinite())
		require.False(t, m.Found().Empty() && len(m.Warnings) == 0)
	})
}
