package imagefile

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

const cameraSpace = "http://ns.google.com/photos/1.0/camera/"

const onlyPicture = " dropped: only the picture itself is read"

func xmpSegment(packet string) []byte { return []byte(metadata.XMPMark + packet) }

// announcing is XMP that describes an image with properties of a namespace.
func announcing(space, properties string) string {
	return `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:p="` + space + `" ` + properties + `/></rdf:RDF>`
}

var film = []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00isommp42 and the film")

// samsung is what a camera writes behind the picture: parts, and a directory of their kinds.
func samsung(kinds ...uint16) []byte {
	le := binary.LittleEndian
	var parts []byte
	directory := le.AppendUint32(le.AppendUint32([]byte("SEFH"), 106), uint32(len(kinds)))
	for _, k := range kinds {
		part := append(le.AppendUint16([]byte{0, 0}, k), "\x03\x00\x00\x00abc and its data"...)
		parts = append(parts, part...)
		directory = le.AppendUint32(le.AppendUint32(le.AppendUint16(append(directory, 0, 0), k), 0), uint32(len(part)))
	}
	return append(le.AppendUint32(append(parts, directory...), uint32(len(directory))), "SEFT"...)
}

func TestOtherPartsAreNamedAndNoLongerAnnounced(t *testing.T) {
	plain := imagetest.GoJPEG(t, imagetest.Smooth(9, 7, 3), 90)
	motion := imagetest.WithSegment(plain, segment.APP1, xmpSegment(announcing(cameraSpace, `p:MotionPhoto="1" p:MotionPhotoVersion="1"`)))
	still := imagetest.WithSegment(plain, segment.APP1, xmpSegment(announcing(cameraSpace, `p:MotionPhoto="0"`)))
	apple := imagetest.WithSegment(plain, segment.APP1, xmpSegment(announcing("http://ns.apple.com/pixeldatainfo/1.0/", `p:AuxiliaryImageType="urn:com:apple:photo:2020:aux:hdrgainmap"`)))
	adobe := imagetest.WithSegment(plain, segment.APP1, xmpSegment(announcing("http://ns.adobe.com/hdr-gain-map/1.0/", `p:Version="1.0"`)))
	depth := announcing("http://ns.google.com/photos/1.0/depthmap/", `p:Format="RangeInverse"`)
	extended := imagetest.WithSegment(imagetest.WithSegment(plain, segment.APP1, []byte("http://ns.adobe.com/xmp/extension/\x00"+"more")), segment.APP1, xmpSegment(depth))
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"Ultra HDR":          {imagetest.File(t, "gain_map.jpg"), []string{metadata.PartGainMap + " is"}},
		"gain map of Apple":  {join(plain, apple), []string{metadata.PartGainMap + " is"}},
		"gain map of ISO":    {imagetest.WithSegment(plain, segment.APP2, []byte("urn:iso:std:iso:ts:21496:-1\x00"+"\x00\x00\x00\x00")), []string{metadata.PartGainMap + " is"}},
		"announced and gone": {adobe, nil},
		"motion photo":       {join(motion, film), []string{metadata.PartFilm + " is"}},
		"film without XMP":   {join(plain, film), []string{metadata.PartFilm + " is"}},
		"gain map and film":  {join(adobe, plain, film), []string{metadata.PartFilm + " and " + metadata.PartGainMap + " are"}},
		"no film":            {still, nil},
		"Samsung's film":     {join(plain, samsung(0x0a01, 0x0a30)), []string{metadata.PartFilm + " is"}},
		"Samsung's time":     {join(plain, samsung(0x0a01)), []string{"what a Samsung camera has written behind the picture" + " is"}},
		"extended XMP":       {extended, []string{"XMP that did not fit into one segment" + " and " + metadata.PartDepth + " are"}},
		"thermal":            {imagetest.WithSegment(plain, segment.APP1, []byte("FLIR\x00"+"data")), []string{"the thermal picture (FLIR)" + " is"}},
		"CIFF of Canon":      {imagetest.WithSegment(plain, segment.APP0, []byte("II\x1a\x00\x00\x00HEAPJPGM")), []string{"the segment APP0 (II) is"}},
		"a camera's":         {imagetest.WithSegment(plain, 0xe6, []byte("GoPro\x00DEVC")), []string{"the segment APP6 (GoPro) is"}},
		"no name":            {imagetest.WithSegment(plain, 0xe3, []byte{0, 1, 2}), []string{"the segment APP3 is"}},
		"unknown in APP1":    {imagetest.WithSegment(plain, segment.APP1, []byte("QVCI\x00data")), []string{"the segment APP1 (QVCI) is"}},
		"of the coding":      {imagetest.WithSegment(imagetest.WithSegment(plain, 0xec, []byte("Ducky\x00\x01")), segment.APP14, []byte("Adobe\x00d\x00\x00\x00\x00\x01")), nil},
		"C2PA":               {imagetest.WithSegment(plain, segment.JUMBF, []byte("JP\x00\x01jumb c2pa")), []string{metadata.PartClaims + " is"}},
		"zeros":              {join(plain, make([]byte, 100)), nil},
		"something else":     {join(plain, []byte("something of another program")), []string{"what another program has written behind the picture is"}},
		"nothing":            {plain, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := decode(t, c.file)
			var want []string
			for _, w := range c.want {
				want = append(want, w+onlyPicture)
			}
			require.Equal(t, want, m.Warnings)
			xmp := string(decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.XMP)
			for _, word := range []string{"Version", "GainMap", "MotionPhoto", "Directory", "RangeInverse"} {
				require.NotContains(t, xmp, word)
			}
			// A stream has the same picture, and is told of what stands right behind it.
			s, err := Decode(t.Context(), bytes.NewReader(c.file), ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, m.Pix, s.Pix)
			require.Equal(t, len(m.Warnings) > 0, len(s.Warnings) > 0)
		})
	}
	unnamed := decode(t, join(plain, plain, plain))
	require.Equal(t, []string{"only the first of 3 pictures in the file (MPO) is read, the rest is dropped"}, unnamed.Warnings)
}
