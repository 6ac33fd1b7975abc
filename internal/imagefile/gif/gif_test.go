package gif

import (
	"bytes"
	"slices"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

func TestFirstPictureOfAnAnimation(t *testing.T) {
	m := decode(t, imagetest.AnimatedGIF(t))
	require.Equal(t, []string{"the GIF is an animation: only its first picture is read"}, m.Warnings)
	require.Equal(t, [3]int{9, 7, 3}, [3]int{m.Width, m.Height, m.Channels})
	for y := range 7 {
		for x := range 9 {
			i := y*9 + x
			if x < 2 || x >= 6 || y < 1 || y >= 4 {
				require.Zero(t, m.Alpha[i])
				continue
			}
			require.Equal(t, uint16(samples.Opaque), m.Alpha[i])
			require.Equal(t, [3]float32{samples.Unit8[200], samples.Unit8[10], 0}, [3]float32{m.Plane(0)[i], m.Plane(1)[i], m.Plane(2)[i]})
		}
	}
}

func TestMetadataOfGIF(t *testing.T) {
	profile := imagetest.Profile("RGB ", 600)
	m := decode(t, imagetest.DescribedGIF(t, profile))
	require.Equal(t, profile, m.Metadata.ICC)
	require.Equal(t, imagetest.XMP, string(m.Metadata.XMP))
	require.Equal(t, []string{"the comment in GIF is dropped"}, m.Warnings)
	require.Equal(t, decode(t, imagetest.File(t, "pal.gif")).Pix, m.Pix)

	bomb := slices.Concat([]byte("\x21\xfe"), bytes.Repeat(append([]byte{255}, make([]byte, 255)...), metadata.MaxSize/255+1), []byte{0})
	_, err := read(imagetest.GIF(t, bomb))
	require.ErrorIs(t, err, format.ErrUnsupported)
	require.ErrorContains(t, err, "metadata in GIF")
}

// read decodes a file, decode one that is whole.
var read, decode = imagetest.Reading(Decode)
