package jpeg

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

func TestPictureEnd(t *testing.T) {
	for _, name := range []string{"prog.jpg", "gray.jpg", "s420.jpg", "cmyk.jpg", "o6.jpg"} {
		file := imagetest.File(t, name)
		end, ok := pictureEnd(source.File(context.Background(), bytes.NewReader(append(bytes.Clone(file), "\xff\xd9 more"...)), int64(len(file))+7, 0), 2)
		require.True(t, ok, name)
		require.Equal(t, int64(len(file)), end, name)
		for n := range min(len(file)-1, 700) {
			_, ok := pictureEnd(source.File(context.Background(), bytes.NewReader(file[:n]), int64(n), 0), 2)
			require.False(t, ok, fmt.Sprint(name, n))
		}
	}
}

// image/jpeg leaves out what is between two segments: the metadata behind it count all the same.
func TestMetadataBehindBytesBetweenSegments(t *testing.T) {
	file := imagetest.WithSegment(imagetest.GoJPEG(t, imagetest.Smooth(9, 7, 3), 90), segment.APP1, []byte(metadata.XMPMark+"<x/>"))
	m := pictureOf(t, imagetest.WithSegment(slices.Concat(file[:2], []byte{0, 1, 2}, file[2:]), segment.COM, []byte("before")))
	require.NotNil(t, m.Metadata.XMP)
	require.NotNil(t, m.JPEG)
}
