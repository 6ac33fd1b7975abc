package raw

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/dng"
)

func fileOf(t require.TestingT, m dng.Mosaic) (*File, []byte) {
	var b bytes.Buffer
	require.NoError(t, dng.Create(&b, m))
	data := b.Bytes()
	require.True(t, Is(bytes.NewReader(data), int64(len(data))))
	f, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
	require.NoError(t, err)
	return f, data
}

func mosaic(h, w int) dng.Mosaic {
	return dng.Mosaic{
		Width: w, Height: h, Pix: make([]uint16, h*w), Pattern: [2][2]dng.Colour{{1, 0}, {2, 1}}, Black: 64, White: 1023,
		Neutral: [3]float64{.5, 1, .8}, Matrix: cameranoise.Typical().XYZToSensor(), Noise: [2]float64{1e-3, 1e-5}, Model: "test",
	}
}

// The image of a file, written, is the file; and any other light that the file can hold is read again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h, w := rapid.IntRange(1, 9).Draw(rt, "rows"), rapid.IntRange(2, 9).Draw(rt, "columns")
		m := mosaic(h, w)
		for i := range m.Pix {
			m.Pix[i] = uint16(rapid.IntRange(0, 1023).Draw(rt, "number"))
		}
		f, data := fileOf(rt, m)
		img := f.Image()
		require.Equal(rt, "GRBG", img.Pattern.String())
		require.Equal(rt, []Noise{{1e-3, 1e-5}}, img.Noise)
		for i, v := range img.Pix {
			require.InDelta(rt, (float64(m.Pix[i])-64)/959, v, 1e-6)
		}
		var out bytes.Buffer
		require.NoError(rt, f.Write(&out, img))
		require.Equal(rt, data, out.Bytes())

		at := rapid.IntRange(0, len(img.Pix)-1).Draw(rt, "at")
		number := rapid.IntRange(0, 900).Draw(rt, "other")
		img.Pix[at] = (float32(number) - 64 + .3) / 959
		out.Reset()
		require.NoError(rt, f.Write(&out, img))
		again, err := Read(bytes.NewReader(out.Bytes()), int64(out.Len()), Options{})
		require.NoError(rt, err)
		require.Equal(rt, uint16(number), again.raw.Pix[at])

		planes, channels, err := f.Develop(img)
		require.NoError(rt, err)
		require.Len(rt, planes, channels*h*w)
		for _, v := range planes {
			require.True(rt, v >= 0 && v <= 1)
		}
	})
}

// A development undoes what a simulated camera did to a flat grey.
func TestDevelopGrey(t *testing.T) {
	const h, w = 8, 10
	c := cameranoise.Typical()
	c.Tone, c.Exposure = 0, 1
	pix := make([]float32, 3*h*w)
	for i := range pix {
		pix[i] = .5
	}
	light, err := c.Mosaic(pix, h, w, 0, false)
	require.NoError(t, err)
	m := mosaic(h, w)
	m.Pattern, m.White = [2][2]dng.Colour{{0, 1}, {1, 2}}, 60000
	m.Neutral = [3]float64{1 / c.WhiteBalance[0], 1, 1 / c.WhiteBalance[1]}
	for i, v := range light {
		m.Pix[i] = uint16(math.Round(64 + float64(v)*(60000-64)))
	}
	f, _ := fileOf(t, m)
	planes, channels, err := f.Develop(f.Image())
	require.NoError(t, err)
	require.Equal(t, 3, channels)
	for _, v := range planes {
		require.InDelta(t, .5, v, .002)
	}
}

func TestCheck(t *testing.T) {
	good := func() *Image {
		return &Image{Width: 2, Height: 2, Samples: 1, Mosaic: true, Pattern: Pattern{{0, 1}, {1, 2}}, Pix: make([]float32, 4)}
	}
	require.NoError(t, good().Check())
	for text, spoil := range map[string]func(*Image){
		"0×2":       func(m *Image) { m.Width = 0 },
		"samples":   func(m *Image) { m.Samples = 5 },
		"2 samples": func(m *Image) { m.Samples = 2 },
		"RRGB":      func(m *Image) { m.Pattern = Pattern{{0, 0}, {1, 2}} },
		"3 samples": func(m *Image) { m.Pix = m.Pix[:3] },
		"NaN":       func(m *Image) { m.Pix[3] = float32(math.NaN()) },
	} {
		m := good()
		spoil(m)
		require.ErrorContains(t, m.Check(), text)
	}
	f, _ := fileOf(t, mosaic(2, 4))
	require.ErrorContains(t, f.Write(&bytes.Buffer{}, good()), "for a file of 4×2")
}

// A saturated sample has light of 1 or more, also in a row whose black is higher than that of others.
func TestSaturationOfUnequalBlack(t *testing.T) {
	m := mosaic(2, 8)
	for i := range m.Pix {
		m.Pix[i] = m.White
	}
	m.Noise = [2]float64{0, 8}
	_, data := fileOf(t, m)
	const noiseProfile, deltaV = 51041, 50716
	tag := binary.LittleEndian.AppendUint16(nil, noiseProfile)
	data = bytes.Replace(data, tag, binary.LittleEndian.AppendUint16(nil, deltaV), 1)
	f, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
	require.NoError(t, err)
	require.Equal(t, 8., f.raw.Black(0, 1, 0)-f.raw.Black(0, 0, 0))
	for _, v := range f.Image().Pix {
		require.GreaterOrEqual(t, v, float32(1))
	}
}

// What was not read is an error, and no panic.
func TestNothingToRead(t *testing.T) {
	require.False(t, Is(nil, 8))
	_, err := Read(nil, 8, Options{})
	require.ErrorContains(t, err, "the reader is nil")
	var f File
	require.Nil(t, f.Image())
	require.ErrorContains(t, f.Write(&bytes.Buffer{}, mosaicOf(t)), "was not read")
}

func mosaicOf(t *testing.T) *Image {
	f, _ := fileOf(t, mosaic(2, 4))
	return f.Image()
}
