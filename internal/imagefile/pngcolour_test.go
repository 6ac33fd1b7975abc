package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/averaged/imaging/internal/iccprofile"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// profileTags reads the table of a profile.
func profileTags(t *testing.T, icc []byte) map[string][]byte {
	t.Helper()
	be := binary.BigEndian
	require.Equal(t, uint32(len(icc)), be.Uint32(icc))
	tags := map[string][]byte{}
	for i := range int(be.Uint32(icc[128:])) {
		e := icc[132+12*i:]
		at, size := be.Uint32(e[4:]), be.Uint32(e[8:])
		require.Zero(t, at%4)
		tags[string(e[:4])] = icc[at : at+size]
	}
	return tags
}

func fixed(b []byte) (v []float64) {
	for ; len(b) >= 4; b = b[4:] {
		v = append(v, float64(int32(binary.BigEndian.Uint32(b)))/65536)
	}
	return v
}

// light evaluates a curve of a profile.
func light(t *testing.T, curve []byte, v float64) float64 {
	t.Helper()
	switch string(curve[:4]) {
	case "curv":
		at := v * float64(binary.BigEndian.Uint32(curve[8:])-1)
		return float64(binary.BigEndian.Uint16(curve[12+2*int(math.Round(at)):])) / 65535
	case "para":
		p := fixed(curve[12:])
		if len(p) == 5 && v < p[4] {
			return p[3] * v
		}
		if len(p) == 1 {
			p = append(p, 1, 0)
		}
		return math.Pow(p[1]*v+p[2], p[0])
	}
	t.Fatal("neither sampled nor parametric")
	return 0
}

func coded(v ...byte) metadata.Chunk { return metadata.Chunk{Name: "cICP", Data: v} }

// TestMeaningOfColourBecomesAProfile compares with published numbers: colorants of the profiles of the same names,
// adapted to D50, and values of the curves.
func TestMeaningOfColourBecomesAProfile(t *testing.T) {
	be := binary.BigEndian
	linear := metadata.Chunk{Name: "gAMA", Data: be.AppendUint32(nil, 100000)}
	var wide []byte // Adobe RGB
	for _, v := range []uint32{31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000} {
		wide = be.AppendUint32(wide, v)
	}
	sRGBRed, rec2020Red, p3Red, adobeRed := []float64{0.43607, 0.22249, 0.01392}, []float64{0.67348, 0.27904, -0.00194}, []float64{0.51512, 0.24120, -0.00105}, []float64{0.60974, 0.31111, 0.01947}
	for name, c := range map[string]struct {
		chunks []metadata.Chunk
		red    []float64
		curve  map[float64]float64
		code   []byte
	}{
		// ST 2084: 100 cd/m² is 0.508, 1000 is 0.752.
		"PQ":         {[]metadata.Chunk{coded(9, 16, 0, 1)}, rec2020Red, map[float64]float64{0: 0, 0.5081: 0.01, 0.7518: 0.1, 1: 1}, []byte{9, 16, 0, 1}},
		"HLG":        {[]metadata.Chunk{coded(9, 18, 0, 1)}, rec2020Red, map[float64]float64{0: 0, 0.5: 1. / 12, 1: 1}, []byte{9, 18, 0, 1}},
		"Display P3": {[]metadata.Chunk{coded(12, 13, 0, 1)}, p3Red, map[float64]float64{0.02: 0.02 / 12.92, 0.5: 0.21404, 1: 1}, []byte{12, 13, 0, 1}},
		"BT.2020":    {[]metadata.Chunk{coded(9, 14, 0, 1)}, rec2020Red, map[float64]float64{0.5: 0.25972, 1: 1}, []byte{9, 14, 0, 1}},
		"linear":     {[]metadata.Chunk{linear}, sRGBRed, map[float64]float64{0.25: 0.25, 1: 1}, nil},
		"Adobe RGB":  {[]metadata.Chunk{{Name: "gAMA", Data: be.AppendUint32(nil, 45455)}, {Name: "cHRM", Data: wide}}, adobeRed, map[float64]float64{0.5: 0.21764, 1: 1}, nil},
	} {
		for _, f := range []Format{JPEG, TIFF, BMP} {
			t.Run(fmt.Sprint(name, f), func(t *testing.T) {
				m := imagetest.Smooth(9, 5, 3)
				m.Metadata.Chunks = c.chunks
				got := decode(t, encode(t, m, WriteOptions{Format: f, DropMetadata: name == "linear"}))
				require.Empty(t, got.Warnings)
				tags := profileTags(t, got.Metadata.ICC)
				require.InDeltaSlice(t, c.red, fixed(tags["rXYZ"][8:]), 2e-4)
				white := fixed(tags["wtpt"][8:])
				for i := range 3 { // The colorants add up to the white of profiles.
					require.InDelta(t, white[i], fixed(tags["rXYZ"][8:])[i]+fixed(tags["gXYZ"][8:])[i]+fixed(tags["bXYZ"][8:])[i], 1e-4)
				}
				for v, want := range c.curve {
					for _, tag := range []string{"rTRC", "gTRC", "bTRC"} {
						require.InDelta(t, want, light(t, tags[tag], v), 1e-4+0.002*want, v)
					}
				}
				require.Equal(t, c.code != nil, tags["cicp"] != nil)
				if c.code != nil {
					require.Equal(t, c.code, tags["cicp"][8:])
				}
				require.Len(t, Losses(m, WriteOptions{Format: f}), 1)
				require.Equal(t, name == "PQ" || name == "HLG", len(ColourLosses(m, WriteOptions{Format: f})) == 1)
				// PNG says it as it did.
				png := decode(t, encode(t, m, WriteOptions{Format: PNG}))
				require.Equal(t, c.chunks, png.Metadata.Chunks)
				require.Nil(t, png.Metadata.ICC)
			})
		}
	}
}

func TestMeaningOfGrey(t *testing.T) {
	m := imagetest.Smooth(9, 5, 1)
	m.Metadata.Chunks = []metadata.Chunk{{Name: "gAMA", Data: binary.BigEndian.AppendUint32(nil, 100000)}}
	icc := decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.ICC
	require.Equal(t, "GRAY", iccprofile.Space(icc))
	require.InDelta(t, 0.3, light(t, profileTags(t, icc)["kTRC"], 0.3), 1e-6)
}

func TestMeaningThatNothingCanHold(t *testing.T) {
	m := imagetest.Smooth(9, 5, 3)
	for name, chunks := range map[string][]metadata.Chunk{
		"log":                   {coded(9, 9, 0, 1)},
		"unspecified primaries": {coded(2, 13, 0, 1)},
		"narrow range":          {coded(1, 1, 0, 0)},
		"short":                 {coded(1, 1)},
		"no primaries":          {{Name: "cHRM", Data: make([]byte, 32)}},
		"no gamma":              {{Name: "gAMA", Data: make([]byte, 4)}},
	} {
		m.Metadata.Chunks = chunks
		require.Len(t, ColourLosses(m, WriteOptions{Format: JPEG}), 1, name)
		require.Nil(t, decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.ICC)
	}
	m.Metadata.Chunks = []metadata.Chunk{coded(9, 16, 0, 1)}
	require.Len(t, ColourLosses(m, WriteOptions{Format: PPM}), 1)
	require.Empty(t, ColourLosses(m, WriteOptions{Format: PNG}))

	// What everybody assumes is not lost.
	for _, chunks := range [][]metadata.Chunk{
		{coded(1, 13, 0, 1)},
		{{Name: "sRGB", Data: []byte{0}}, {Name: "gAMA", Data: binary.BigEndian.AppendUint32(nil, 45455)}},
		{{Name: "gAMA", Data: binary.BigEndian.AppendUint32(nil, 45455)}},
	} {
		m.Metadata.Chunks = chunks
		require.Empty(t, Losses(m, WriteOptions{Format: JPEG}))
		require.Nil(t, decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.ICC)
	}
	// A profile says more.
	m.Metadata.Chunks, m.Metadata.ICC = []metadata.Chunk{coded(9, 16, 0, 1)}, imagetest.Profile("RGB ", 300)
	require.Equal(t, m.Metadata.ICC, decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.ICC)
}

func TestFileWithCodePoints(t *testing.T) {
	m := decode(t, imagetest.File(t, "cicp.png"))
	icc := decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.ICC
	require.True(t, bytes.Contains(icc, []byte{'c', 'i', 'c', 'p', 0, 0, 0, 0, 9, 16, 0, 1}))
}

func FuzzMeaning(f *testing.F) {
	f.Add([]byte{9, 16, 0, 1}, []byte{0, 1, 0x86, 0xa0}, make([]byte, 32))
	f.Fuzz(func(t *testing.T, code, gamma, chromaticities []byte) {
		for _, chunks := range [][]metadata.Chunk{{{Name: "cICP", Data: code}}, {{Name: "gAMA", Data: gamma}, {Name: "cHRM", Data: chromaticities}}} {
			d := metadata.Metadata{Chunks: chunks}
			if meant, _, known := png.ColourSpace(&d); known {
				if icc, ok := meant.Profile(3); ok {
					require.Equal(t, "RGB ", iccprofile.Space(icc))
					profileTags(t, icc)
				}
			}
		}
	})
}
