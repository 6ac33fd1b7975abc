package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// xmpValues returns the values of simple properties, as attributes and as elements, by their names with prefixes.
func xmpValues(packet []byte) map[string]string {
	values := map[string]string{}
	for _, m := range regexp.MustCompile(`([\w-]+:[\w-]+)=['"]([^'"]*)['"]|<([\w-]+:[\w-]+)>([^<]*)</`).FindAllSubmatch(packet, -1) {
		values[string(m[1])+string(m[3])] = string(m[2]) + string(m[4])
	}
	return values
}

// enlarged is an image of a multiple of the size that a command has put in place of its input.
func enlarged(m *Image, factor int) *Image {
	big := *m
	big.Width, big.Height = factor*m.Width, factor*m.Height
	big.Pix = make([]float32, big.Channels*big.Width*big.Height)
	return &big
}

// photoSize returns the size that EXIF gives in the directory of the photograph.
func photoSize(t *testing.T, m *Image) [2]uint32 {
	t.Helper()
	e := openEXIF(t, m.Metadata.EXIF)
	x, err := e.Uint(e.photo, tiffdir.TagPixelXDimension, 0)
	require.NoError(t, err)
	y, err := e.Uint(e.photo, tiffdir.TagPixelYDimension, 0)
	require.NoError(t, err)
	return [2]uint32{x, y}
}

// TestMetadataFollowsTurningAndEnlarging reads a photograph of exiftool's, stored with orientation 6 and 150×200 pixels.
func TestMetadataFollowsTurningAndEnlarging(t *testing.T) {
	m := decode(t, imagetest.File(t, "o6.jpg"))
	require.Equal(t, [2]int{200, 150}, [2]int{m.Width, m.Height})
	for _, f := range []Format{JPEG, PNG, TIFF} {
		for factor := 1; factor <= 3; factor++ {
			got := decode(t, encode(t, enlarged(m, factor), WriteOptions{Format: f}))
			v := xmpValues(got.Metadata.XMP)
			w, h := fmt.Sprint(200*factor), fmt.Sprint(150*factor)
			require.Equal(t, []string{"1", w, h, w, h},
				[]string{v["tiff:Orientation"], v["tiff:ImageWidth"], v["tiff:ImageLength"], v["exif:PixelXDimension"], v["exif:PixelYDimension"]})
			require.Contains(t, string(got.Metadata.XMP), "<rdf:li xml:lang='x-default'>t</rdf:li>", "the rest stays as it is")
			require.Equal(t, 1, orientationOf(t, got))
			require.Equal(t, [2]uint32{uint32(200 * factor), uint32(150 * factor)}, photoSize(t, got))
		}
	}
}

// TestXMPInAttributes has XMP as Lightroom writes it, with regions of the Metadata Working Group and a panorama of Google's.
func TestXMPInAttributes(t *testing.T) {
	attributes, err := os.ReadFile("../metadata/testdata/lightroom.xmp")
	require.NoError(t, err)
	m := imagetest.Smooth(40, 30, 3)
	m.Metadata.XMP = attributes
	m.Metadata.EXIF = imagetest.EXIF(binary.BigEndian, 1, 40, 30)
	got := decode(t, encode(t, m, WriteOptions{Format: PNG}))
	require.Empty(t, got.Warnings)
	require.NotContains(t, string(got.Metadata.XMP), "Thumbnails")
	big := decode(t, encode(t, enlarged(got, 2), WriteOptions{Format: PNG}))
	v := xmpValues(big.Metadata.XMP)
	require.Equal(t, []string{"1", "80", "60", "A &amp; B", "160", "4", "pixel"},
		[]string{v["t:Orientation"], v["t:ImageWidth"], v["t:ImageLength"], v["t:Make"], v["GPano:FullPanoWidthPixels"], v["xap:Rating"],
			regexp.MustCompile(`AppliedToDimensions stDim:w="80" stDim:h="60" stDim:unit="(pixel)"`).FindStringSubmatch(string(big.Metadata.XMP))[1]})
	require.Contains(t, string(big.Metadata.XMP), `<xmpTPg:MaxPageSize stDim:w="4" stDim:h="3" stDim:unit="inch"/>`)

	// Turned, places in it are others, and what marks them goes.
	m.Metadata.EXIF = imagetest.EXIF(binary.BigEndian, 8, 40, 30)
	turned := decode(t, encode(t, m, WriteOptions{Format: PNG}))
	require.Equal(t, []string{"not kept in the metadata, because the picture has been turned: the regions marked in it, such as faces"}, turned.Warnings)
	v = xmpValues(turned.Metadata.XMP)
	require.Equal(t, []string{"1", "30", "40", "", "4"}, []string{v["t:Orientation"], v["t:ImageWidth"], v["t:ImageLength"], v["GPano:FullPanoWidthPixels"], v["xap:Rating"]})
	require.NotContains(t, string(turned.Metadata.XMP), "Regions")

	// An orientation in XMP alone has not been applied, and stays.
	m.Metadata.EXIF = nil
	v = xmpValues(decode(t, encode(t, m, WriteOptions{Format: PNG})).Metadata.XMP)
	require.Equal(t, "8", v["t:Orientation"])
}

func TestBrokenXMP(t *testing.T) {
	for _, broken := range []string{"<a>", "<a></b>", "no XML &x;", "<a " + string(bytes.Repeat([]byte("<b>"), 200))} {
		m := imagetest.Smooth(40, 30, 3)
		m.Metadata.XMP = []byte(broken)
		m.Metadata.EXIF = imagetest.EXIF(binary.LittleEndian, 1, 40, 30)
		same := decode(t, encode(t, m, WriteOptions{Format: PNG}))
		require.Equal(t, broken, string(same.Metadata.XMP), "nothing in it has to change")
		require.Contains(t, fmt.Sprint(Losses(enlarged(same, 2), WriteOptions{Format: PNG})), "XMP")
		require.Nil(t, decode(t, encode(t, enlarged(same, 2), WriteOptions{Format: PNG})).Metadata.XMP)
		m.Metadata.EXIF = imagetest.EXIF(binary.LittleEndian, 6, 40, 30)
		turned := decode(t, encode(t, m, WriteOptions{Format: PNG}))
		require.Nil(t, turned.Metadata.XMP)
		require.Contains(t, fmt.Sprint(turned.Warnings), "XMP is dropped")
	}
}

// TestPlaceIsWherePixelsGo compares with the definition of orientations that the test of pixels uses.
func TestPlaceIsWherePixelsGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 50).Draw(t, "width"), rapid.IntRange(1, 50).Draw(t, "height")
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		c := metadata.Change{Orientation: rapid.IntRange(1, 8).Draw(t, "orientation"), From: [2]int{w, h}}
		factor := rapid.IntRange(1, 4).Draw(t, "factor")
		c.To = [2]int{factor * c.Shown()[0], factor * c.Shown()[1]}
		wantX, wantY := shownAt(c.Orientation, x, y, w, h)
		gotX, gotY := c.Place(x, y)
		if gotX != factor*wantX || gotY != factor*wantY {
			t.Fatalf("(%d, %d), want %d times (%d, %d)", gotX, gotY, factor, wantX, wantY)
		}
	})
}

// TestEXIFOfPlacesAndScales has a subject's area, the sensor's density, and a place on the map.
func TestEXIFOfPlacesAndScales(t *testing.T) {
	order := binary.LittleEndian
	doubles := func(v ...float64) (b []byte) {
		for _, x := range v {
			b = order.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	made := func(orientation int) *Image {
		tags := tiffdir.Builder{Order: order}
		tags.Shorts(tiffdir.TagOrientation, orientation)
		photo := tiffdir.Builder{Order: order}
		photo.Shorts(0x9214, 10, 5, 4, 2)
		photo.Rationals(tiffdir.TagFocalPlaneX, 100)
		photo.Rationals(tiffdir.TagFocalPlaneY, 50)
		nodes := append(tags.Nodes,
			tiffdir.Node{Tag: 0x830e, Kind: tiffdir.Double, Count: 3, Value: doubles(8, 6, 0)},
			tiffdir.Node{Tag: 0x8482, Kind: tiffdir.Double, Count: 6, Value: doubles(1, 2, 0, 100, 200, 0)},
			tiffdir.Node{Tag: tiffdir.TagEXIF, Kind: tiffdir.Long, Count: 1, Sub: photo.Nodes})
		m := imagetest.Smooth(40, 30, 1)
		m.Metadata.EXIF = tiffdir.AppendDirectory([]byte("II*\x00\x08\x00\x00\x00"), 0, order, nodes)
		return decode(t, encode(t, m, WriteOptions{Format: PNG}))
	}
	values := func(m *Image) (area []int, density [2]float64, scale, tie []float64) {
		e := openEXIF(t, m.Metadata.EXIF)
		if f, ok := tiffdir.Find(e.photo, 0x9214); ok {
			v, err := e.Uints(f)
			require.NoError(t, err)
			for _, x := range v {
				area = append(area, int(x))
			}
		}
		numbers := func(tag uint16) (v []float64) {
			if f, ok := tiffdir.Find(e.main, tag); ok {
				for i := range int64(f.Count) {
					v = append(v, math.Float64frombits(order.Uint64(m.Metadata.EXIF[f.Value+8*i:])))
				}
			}
			return v
		}
		return area, [2]float64{e.Rational(e.photo, tiffdir.TagFocalPlaneX), e.Rational(e.photo, tiffdir.TagFocalPlaneY)}, numbers(0x830e), numbers(0x8482)
	}
	m := made(1)
	area, density, scale, tie := values(decode(t, encode(t, enlarged(m, 2), WriteOptions{Format: TIFF})))
	require.Equal(t, []int{20, 10, 8, 4}, area)
	require.Equal(t, [2]float64{200, 100}, density)
	require.Equal(t, []float64{4, 3, 0}, scale)
	require.Equal(t, []float64{2, 4, 0, 100, 200, 0}, tie)

	turned := made(6)
	area, density, scale, tie = values(turned)
	require.Equal(t, []int{24, 10, 2, 4}, area)
	require.Equal(t, [2]float64{50, 100}, density)
	require.Empty(t, scale)
	require.Empty(t, tie)
	require.Contains(t, fmt.Sprint(turned.Warnings), "its place on the map")

	// Of a part of the image nothing is known.
	part := *m
	part.Width, part.Pix = 39, part.Pix[:39*30]
	require.Contains(t, fmt.Sprint(Losses(&part, WriteOptions{Format: PNG})), "where its subject is")
	area, _, scale, _ = values(decode(t, encode(t, &part, WriteOptions{Format: PNG})))
	require.Empty(t, area)
	require.Empty(t, scale)
}

// TestOrientationInTextsOfPNG has EXIF as ImageMagick writes it.
func TestOrientationInTextsOfPNG(t *testing.T) {
	exif := imagetest.EXIF(binary.BigEndian, 6, 9, 5)
	hexadecimal := regexp.MustCompile(`.{72}`).ReplaceAllString(fmt.Sprintf("%x", exif), "$0\n")
	text := fmt.Sprintf("\nexif\n%8d\n%s\n", len(exif), hexadecimal)
	inAPP1 := fmt.Sprintf("\ngeneric profile\n%8d\n%x%s\n", len(exif)+len(metadata.EXIFMark), metadata.EXIFMark, hexadecimal)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for name, c := range map[string][]byte{
		"tEXt": imagetest.Chunk("tEXt", []byte("Raw profile type exif\x00"+text)),
		"zTXt": imagetest.Chunk("zTXt", append([]byte("Raw profile type exif\x00\x00"), packed.Bytes()...)),
		"APP1": imagetest.Chunk("tEXt", []byte("Raw profile type APP1\x00"+inAPP1)),
		"eXIf": imagetest.Chunk("eXIf", exif),
	} {
		t.Run(name, func(t *testing.T) {
			m := imagetest.Smooth(9, 5, 3)
			m.Metadata.Chunks = []metadata.Chunk{{Name: "tEXt", Data: []byte("exif:Orientation\x006")}, {Name: "tEXt", Data: []byte("Title\x00A test")}}
			file := encode(t, m, WriteOptions{Format: PNG})
			after := len(png.Signature) + 8 + 13 + 4
			got := decode(t, join(file[:after], c, file[after:]))
			require.Equal(t, [2]int{5, 9}, [2]int{got.Width, got.Height})
			require.Equal(t, []metadata.Chunk{{Name: "tEXt", Data: []byte("Title\x00A test")}}, got.Metadata.Chunks)
			for _, f := range []Format{PNG, JPEG, TIFF} {
				written := decode(t, encode(t, got, WriteOptions{Format: f}))
				require.Equal(t, [2]int{5, 9}, [2]int{written.Width, written.Height})
				require.Equal(t, 1, orientationOf(t, written))
				require.Equal(t, [2]uint32{5, 9}, photoSize(t, written))
			}
		})
	}
}

// resource is an image resource of Photoshop without a name.
func resource(number uint16, data string) []byte {
	b := binary.BigEndian.AppendUint16([]byte("8BIM"), number)
	b = binary.BigEndian.AppendUint32(append(b, 0, 0), uint32(len(data)))
	return append(append(b, data...), make([]byte, len(data)%2)...)
}

func TestPhotoshopThumbnailsGo(t *testing.T) {
	m := imagetest.Smooth(9, 5, 3)
	iptc, path := resource(1028, "caption"), resource(2000, "path")
	with := func(resources ...[]byte) []metadata.Segment {
		return []metadata.Segment{{Marker: metadata.MarkerAPP13, Data: append([]byte("Photoshop 3.0\x00"), bytes.Join(resources, nil)...)}}
	}
	m.Metadata.Segments = with(iptc, resource(1036, "old"), path)
	require.Equal(t, with(iptc, path), decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.Segments)
	m.Metadata.EXIF = imagetest.EXIF(binary.BigEndian, 3, 9, 5)
	require.Equal(t, with(iptc), decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.Segments)
}
