package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var lossless = []Format{PNG, TIFF, BMP, PFM}

func TestLosslessFormatsKeepEverySample(t *testing.T) {
	sizes := [][2]int{{1, 1}, {1, 9}, {9, 1}, {13, 7}, {64, 33}}
	for _, f := range lossless {
		for _, depth := range f.Depths() {
			for _, channels := range []int{1, 3} {
				for _, alpha := range []bool{false, true} {
					for _, size := range sizes {
						if f == PFM && alpha {
							continue // TestAlphaThatCannotBeStored
						}
						t.Run(fmt.Sprintf("%v/%d/%d/%v/%v", f, depth, channels, alpha, size), func(t *testing.T) {
							m := imagetest.Random(size[0], size[1], channels, depth, alpha)
							got := decode(t, encode(t, m, WriteOptions{Format: f}))
							require.Equal(t, f, got.Format)
							require.Equal(t, depth, got.Depth)
							require.Equal(t, depth, got.SourceDepth)
							require.Equal(t, m.Alpha, got.Alpha)
							if f == BMP && alpha && channels == 1 {
								require.Equal(t, 3, got.Channels)
								for c := range 3 {
									require.Equal(t, m.Pix, got.Plane(c))
								}
								return
							}
							require.Equal(t, channels, got.Channels)
							require.Equal(t, m.Pix, got.Pix)
						})
					}
				}
			}
		}
	}
}

func TestRoundTripOfRandomSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(lossless).Draw(t, "format")
		depth := rapid.SampledFrom(f.Depths()).Draw(t, "depth")
		m := imagetest.Random(rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height"),
			rapid.SampledFrom([]int{1, 3}).Draw(t, "channels"), depth, false)
		var b bytes.Buffer
		require.NoError(t, Encode(t.Context(), &b, m, WriteOptions{Format: f}))
		got, err := Decode(t.Context(), &b, ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, m.Pix, got.Pix)
		require.Equal(t, [3]int{m.Width, m.Height, m.Channels}, [3]int{got.Width, got.Height, got.Channels})
	})
}

func TestStripsOfLargeTIFF(t *testing.T) {
	m := imagetest.Random(700, 301, 3, 16, true) // several strips, and a shorter last one
	data := encode(t, m, WriteOptions{Format: TIFF})
	got := decode(t, data)
	require.Equal(t, m.Pix, got.Pix)
	require.Equal(t, m.Alpha, got.Alpha)
}

func TestJPEGIsClose(t *testing.T) {
	for _, channels := range []int{1, 3} {
		for _, size := range [][2]int{{1, 1}, {1, 20}, {20, 1}, {8, 8}, {67, 45}} {
			for quality, least := range map[int]float64{0: 44, 100: 49, 50: 34, 1: 18} {
				m := imagetest.Smooth(size[0], size[1], channels)
				got := decode(t, encode(t, m, WriteOptions{Format: JPEG, Quality: quality}))
				require.Equal(t, channels, got.Channels)
				require.Equal(t, size, [2]int{got.Width, got.Height})
				require.Greater(t, imagetest.PSNR(m.Pix, got.Pix), least, "%v, quality %d, %d channels", size, quality, channels)
			}
		}
	}
}

func TestJPEGKeepsChromaAtFullResolution(t *testing.T) {
	m := picture.New(32, 32, 3, 8, false)
	for i := range 32 * 32 {
		m.Plane(i % 2 * 2)[i] = 1 // columns of red and blue
	}
	got := decode(t, encode(t, m, WriteOptions{Format: JPEG}))
	require.Greater(t, imagetest.PSNR(m.Pix, got.Pix), 35.0)
}

func TestExtremesSurviveJPEG(t *testing.T) {
	m := picture.New(16, 16, 1, 8, false)
	for i := range m.Pix {
		m.Pix[i] = float32(i / 8 % 2) // black and white blocks
	}
	got := decode(t, encode(t, m, WriteOptions{Format: JPEG, Quality: 100}))
	require.Equal(t, m.Pix, got.Pix)
}

func TestMetadataSurvives(t *testing.T) {
	for _, order := range []tiffdir.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, channels := range []int{1, 3} {
			m := imagetest.Smooth(24, 16, channels)
			space := map[int]string{1: "GRAY", 3: "RGB "}[channels]
			m.Metadata = metadata.Metadata{
				ICC:        imagetest.Profile(space, 3001),
				EXIF:       imagetest.EXIF(order, 1, 24, 16),
				XMP:        []byte(imagetest.XMP),
				Resolution: metadata.Resolution{X: 300, Y: 150, Unit: metadata.Inch},
			}
			// A first round trip takes the thumbnail out.
			m = decode(t, encode(t, m, WriteOptions{Format: PNG}))
			for _, f := range []Format{PNG, JPEG, TIFF} {
				m.Metadata.Resolution = metadata.Resolution{X: 300, Y: 150, Unit: metadata.Inch}
				opt := WriteOptions{Format: f}
				require.Empty(t, Losses(m, opt))
				got := decode(t, encode(t, m, opt))
				require.Empty(t, got.Warnings)
				require.Equal(t, m.Metadata.ICC, got.Metadata.ICC, f)
				require.Equal(t, m.Metadata.XMP, got.Metadata.XMP, f)
				inch, ok := got.Metadata.Resolution.In(metadata.Inch)
				require.True(t, ok)
				require.InDelta(t, 300, inch.X, 0.02)
				require.InDelta(t, 150, inch.Y, 0.02)
				requireSameEXIF(t, m.Metadata.EXIF, got.Metadata.EXIF)
				if f != TIFF {
					require.Equal(t, m.Metadata.EXIF, got.Metadata.EXIF, f)
				}

				bare := decode(t, encode(t, m, WriteOptions{Format: f, DropMetadata: true}))
				require.Equal(t, m.Metadata.ICC, bare.Metadata.ICC)
				require.Nil(t, bare.Metadata.EXIF)
				require.Nil(t, bare.Metadata.XMP)
				require.LessOrEqual(t, bare.Metadata.Resolution.Unit, metadata.Aspect)
			}
		}
	}
}

// requireSameEXIF compares the fields that describe a picture.
func requireSameEXIF(t *testing.T, want, got []byte) {
	t.Helper()
	a, orderA, err := metadata.DescriptiveNodes(want)
	require.NoError(t, err)
	b, orderB, err := metadata.DescriptiveNodes(got)
	require.NoError(t, err)
	require.Equal(t, orderA, orderB)
	require.NotEmpty(t, a)
	require.Equal(t, a, b)
}

func TestMetadataSurvivesTwoTIFFs(t *testing.T) {
	m := imagetest.Smooth(8, 8, 3)
	m.Metadata.EXIF = imagetest.EXIF(binary.BigEndian, 1, 8, 8)
	one := decode(t, encode(t, m, WriteOptions{Format: TIFF}))
	two := decode(t, encode(t, one, WriteOptions{Format: TIFF}))
	require.Equal(t, one.Metadata, two.Metadata)
	require.Contains(t, string(two.Metadata.EXIF), "maker note")
}

func TestBMPKeepsProfileAndResolution(t *testing.T) {
	for _, alpha := range []bool{false, true} {
		m := imagetest.Random(5, 4, 3, 8, alpha)
		m.Metadata.ICC = imagetest.Profile("RGB ", 500)
		m.Metadata.Resolution = metadata.Resolution{X: 2835, Y: 2000, Unit: metadata.Metre}
		got := decode(t, encode(t, m, WriteOptions{Format: BMP}))
		require.Equal(t, m.Metadata, got.Metadata)
		require.Equal(t, m.Pix, got.Pix)
	}
}

func TestResolutionUnitsAreKept(t *testing.T) {
	for f, resolutions := range map[Format][]metadata.Resolution{
		PNG:  {{X: 2835, Y: 2000, Unit: metadata.Metre}, {X: 4, Y: 3, Unit: metadata.Aspect}},
		JPEG: {{X: 72, Y: 96, Unit: metadata.Inch}, {X: 30, Y: 31, Unit: metadata.Centimetre}, {X: 4, Y: 3, Unit: metadata.Aspect}},
		TIFF: {{X: 72.5, Y: 96, Unit: metadata.Inch}, {X: 30, Y: 31.25, Unit: metadata.Centimetre}, {X: 4, Y: 3, Unit: metadata.Aspect}},
	} {
		for _, r := range resolutions {
			m := imagetest.Smooth(8, 8, 1)
			m.Metadata.Resolution = r
			require.Equal(t, r, decode(t, encode(t, m, WriteOptions{Format: f})).Metadata.Resolution, f)
		}
	}
}

func TestProfileInManyJPEGSegments(t *testing.T) {
	m := imagetest.Smooth(8, 8, 3)
	m.Metadata.ICC = imagetest.Profile("RGB ", 3*jpeg.MaxProfile/255+1)
	got := decode(t, encode(t, m, WriteOptions{Format: JPEG}))
	require.Equal(t, m.Metadata.ICC, got.Metadata.ICC)
}

func TestJPEGMetadataThatDoesNotFit(t *testing.T) {
	m := imagetest.Smooth(8, 8, 3)
	m.Metadata.XMP = bytes.Repeat([]byte("x"), jpeg.MaxXMP+1)
	m.Metadata.EXIF = append(imagetest.EXIF(binary.LittleEndian, 1, 8, 8), make([]byte, metadata.MaxJPEGEXIF)...)
	require.Equal(t, []string{"EXIF", "XMP"}, Losses(m, WriteOptions{Format: JPEG}))
	got := decode(t, encode(t, m, WriteOptions{Format: JPEG}))
	require.Nil(t, got.Metadata.XMP)
	require.Nil(t, got.Metadata.EXIF)
}

func TestPNGChunksAreKept(t *testing.T) {
	m := imagetest.Random(3, 3, 3, 8, false)
	m.Metadata.Chunks = []metadata.Chunk{
		{Name: "gAMA", Data: binary.BigEndian.AppendUint32(nil, 100000)},
		{Name: "cHRM", Data: make([]byte, 32)},
		{Name: "tEXt", Data: []byte("Title\x00A test")},
		{Name: "prVt", Data: []byte("private, safe to copy")},
	}
	m.Metadata.Segments = []metadata.Segment{{Marker: segment.COM, Data: []byte("a comment")}}
	require.Equal(t, []string{"texts and other parts that only the source's format can hold"}, Losses(m, WriteOptions{Format: PNG}))
	require.Contains(t, fmt.Sprint(Losses(m, WriteOptions{Format: TIFF})), "gamma")
	got := decode(t, encode(t, m, WriteOptions{Format: PNG}))
	require.Equal(t, m.Metadata.Chunks, got.Metadata.Chunks)
	require.Empty(t, got.Metadata.Segments)
	bare := decode(t, encode(t, m, WriteOptions{Format: PNG, DropMetadata: true}))
	require.Equal(t, m.Metadata.Chunks[:2], bare.Metadata.Chunks)
}

func TestJPEGSegmentsAreKept(t *testing.T) {
	m := imagetest.Smooth(8, 8, 1)
	m.Metadata.Segments = []metadata.Segment{{Marker: metadata.MarkerAPP13, Data: []byte("Photoshop 3.0\x00IPTC")}, {Marker: segment.COM, Data: []byte("a comment")}}
	require.Equal(t, m.Metadata.Segments, decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.Segments)
}

func TestProfilesOfOtherColourSpaces(t *testing.T) {
	for _, f := range []Format{PNG, JPEG, TIFF, BMP} {
		m := imagetest.Smooth(8, 8, 3)
		m.Metadata.ICC = imagetest.Profile("CMYK", 300)
		got := decode(t, encode(t, m, WriteOptions{Format: f}))
		require.Nil(t, got.Metadata.ICC)
		require.Len(t, got.Warnings, 1)

		m.Metadata.ICC = imagetest.Profile("GRAY", 300)
		require.Equal(t, []string{"the colour profile"}, Losses(m, WriteOptions{Format: f}))
		require.Empty(t, decode(t, encode(t, m, WriteOptions{Format: f})).Warnings)
	}
}

func TestDepthConversion(t *testing.T) {
	m := picture.New(5, 1, 1, 32, false)
	copy(m.Pix, []float32{-1, 0.25, 0.5, 1, 7})
	require.Len(t, Losses(m, WriteOptions{Format: PNG}), 1)
	got := decode(t, encode(t, m, WriteOptions{Format: PNG}))
	require.Equal(t, 16, got.Depth)
	require.Equal(t, []float32{0, samples.Unit16(16384), samples.Unit16(32768), 1, 1}, got.Pix)
	got = decode(t, encode(t, m, WriteOptions{Format: TIFF, Depth: 8}))
	require.Equal(t, []float32{0, samples.Unit8[64], samples.Unit8[128], 1, 1}, got.Pix)
	got = decode(t, encode(t, m, WriteOptions{Format: TIFF}))
	require.Equal(t, m.Pix, got.Pix)

	m16 := imagetest.Random(9, 9, 3, 16, false)
	require.Len(t, Losses(m16, WriteOptions{Format: JPEG}), 1)
	require.Empty(t, Losses(m16, WriteOptions{Format: PFM}))
	got = decode(t, encode(t, m16, WriteOptions{Format: PFM}))
	require.Equal(t, m16.Pix, got.Pix)

	_, err := (WriteOptions{Format: JPEG, Depth: 16}).plan(m16)
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "JPEG has samples of 8 bits, not 16")
	_, err = (WriteOptions{Format: TIFF, Depth: 12}).plan(m16)
	require.ErrorContains(t, err, "8, 16 or 32 bits, not 12")
}

func TestEverySampleValueSurvivesFloat(t *testing.T) {
	for v := range 256 {
		require.Equal(t, uint32(v), samples.Quantise(samples.Unit8[v], 255))
	}
	for v := range 65536 {
		if samples.Quantise(samples.Unit16(uint16(v)), 65535) != uint32(v) {
			t.Fatalf("%d becomes %d", v, samples.Quantise(samples.Unit16(uint16(v)), 65535))
		}
	}
	require.Zero(t, samples.Quantise(float32(math.NaN()), 255))
	require.Equal(t, uint32(255), samples.Quantise(float32(math.Inf(1)), 255))
	require.Zero(t, samples.Quantise(float32(math.Inf(-1)), 255))
}

func TestAlphaThatCannotBeStored(t *testing.T) {
	for _, f := range []Format{JPEG, PFM, PPM, PNM} {
		m := imagetest.Random(4, 4, 3, 8, true)
		err := Encode(t.Context(), &bytes.Buffer{}, m, WriteOptions{Format: f})
		require.ErrorIs(t, err, ErrAlpha)
		require.Nil(t, decode(t, encode(t, m, WriteOptions{Format: f, DropAlpha: true})).Alpha)
		for i := range m.Alpha {
			m.Alpha[i] = samples.Opaque
		}
		require.Nil(t, decode(t, encode(t, m, WriteOptions{Format: f})).Alpha)
	}
	m := imagetest.Random(4, 4, 3, 8, true)
	require.Nil(t, decode(t, encode(t, m, WriteOptions{Format: PNG, DropAlpha: true})).Alpha)
}

func TestSamplesThatAreNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for f := PNG; f <= PNM; f++ {
			if !f.CanWrite() || f == PGM { // which has no colours
				continue
			}
			m := imagetest.Random(4, 3, 3, 32, false)
			m.Plane(1)[6] = float32(v)
			err := Encode(t.Context(), &bytes.Buffer{}, m, WriteOptions{Format: f})
			require.ErrorIs(t, err, ErrNotFinite)
			require.ErrorContains(t, err, "row 1, column 2, channel 1")
		}
	}
}

func TestInvalidImagesAndOptions(t *testing.T) {
	good := func() *Image { return imagetest.Random(2, 2, 3, 8, true) }
	for name, spoil := range map[string]func(*Image){
		"width":    func(m *Image) { m.Width = 0 },
		"height":   func(m *Image) { m.Height = -1 },
		"channels": func(m *Image) { m.Channels = 2 },
		"pix":      func(m *Image) { m.Pix = m.Pix[1:] },
		"alpha":    func(m *Image) { m.Alpha = m.Alpha[1:] },
		"overflow": func(m *Image) { m.Width, m.Height = 1<<(bits.UintSize/2+1), 1<<(bits.UintSize/2+1) },
	} {
		m := good()
		spoil(m)
		require.ErrorIs(t, Encode(t.Context(), &bytes.Buffer{}, m, WriteOptions{Format: PNG}), ErrInvalidImage, name)
		require.Nil(t, Losses(m, WriteOptions{Format: PNG}))
	}
	require.ErrorIs(t, Encode(t.Context(), &bytes.Buffer{}, nil, WriteOptions{Format: PNG}), ErrInvalidImage)
	require.ErrorIs(t, Encode(t.Context(), &bytes.Buffer{}, good(), WriteOptions{}), ErrUnknownFormat)
	require.ErrorIs(t, Encode(t.Context(), &bytes.Buffer{}, good(), WriteOptions{Format: 77}), ErrUnknownFormat)
	require.ErrorContains(t, Encode(t.Context(), &bytes.Buffer{}, good(), WriteOptions{Format: WebP}), "not written")
	require.ErrorContains(t, Encode(t.Context(), &bytes.Buffer{}, good(), WriteOptions{Format: PNG, Quality: 101}), "1 to 100")
	wide := picture.New(65536, 1, 1, 8, false)
	require.ErrorContains(t, Encode(t.Context(), &bytes.Buffer{}, wide, WriteOptions{Format: JPEG}), "65535")
}

func TestEncodingIsDeterministic(t *testing.T) {
	m := imagetest.Smooth(40, 30, 3)
	m.Metadata = metadata.Metadata{ICC: imagetest.Profile("RGB ", 400), EXIF: imagetest.EXIF(binary.LittleEndian, 1, 40, 30), XMP: []byte(imagetest.XMP)}
	before := slices.Clone(m.Metadata.EXIF)
	for f := PNG; f <= PNM; f++ {
		if f.CanWrite() && f != PGM { // which has no colours
			require.Equal(t, encode(t, m, WriteOptions{Format: f}), encode(t, m, WriteOptions{Format: f}))
		}
	}
	require.Equal(t, before, m.Metadata.EXIF, "writing must not change the image")
}
