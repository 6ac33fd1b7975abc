package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// shownAt returns where an image of w×h pixels that is stored with an
// orientation shows its stored pixel (x, y), by the definition in EXIF: the
// first row and the first column of the file are shown at the two named sides.
func shownAt(orientation, x, y, w, h int) (int, int) {
	switch orientation {
	case 1: // row 0 top, column 0 left
		return x, y
	case 2: // top, right
		return w - 1 - x, y
	case 3: // bottom, right
		return w - 1 - x, h - 1 - y
	case 4: // bottom, left
		return x, h - 1 - y
	case 5: // left, top
		return y, x
	case 6: // right, top
		return h - 1 - y, x
	case 7: // right, bottom
		return h - 1 - y, w - 1 - x
	}
	return y, w - 1 - x // left, bottom
}

func TestOrientationIsApplied(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	for _, order := range []tiffdir.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, f := range []Format{PNG, TIFF, JPEG} {
			for orientation := 1; orientation <= 8; orientation++ {
				for _, size := range [][2]int{{37, 70}, {5, 3}, {1, 4}, {1, 1}} {
					t.Run(fmt.Sprintf("%v/%v/%d/%v", order, f, orientation, size), func(t *testing.T) {
						w, h := size[0], size[1]
						alpha := f != JPEG
						stored := imagetest.Random(w, h, 3, 8, alpha)
						stored.Metadata.Resolution = metadata.Resolution{X: 300, Y: 150, Unit: metadata.Inch}
						stored.Metadata.EXIF = imagetest.EXIF(order, orientation, w, h)
						data := encode(t, stored, WriteOptions{Format: f})

						asStored, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{KeepOrientation: true})
						require.NoError(t, err)
						require.Equal(t, [2]int{w, h}, [2]int{asStored.Width, asStored.Height})
						require.Equal(t, orientation, orientationOf(t, asStored))

						got := decode(t, data)
						require.Equal(t, 1, orientationOf(t, got))
						if orientation >= 5 {
							require.Equal(t, [2]int{h, w}, [2]int{got.Width, got.Height})
							require.Greater(t, got.Metadata.Resolution.Y, got.Metadata.Resolution.X)
						} else {
							require.Equal(t, [2]int{w, h}, [2]int{got.Width, got.Height})
							require.Less(t, got.Metadata.Resolution.Y, got.Metadata.Resolution.X)
						}
						for y := range h {
							for x := range w {
								gx, gy := shownAt(orientation, x, y, w, h)
								for c := range 3 {
									require.Equal(t, asStored.Plane(c)[y*w+x], got.Plane(c)[gy*got.Width+gx])
								}
								if alpha {
									require.Equal(t, asStored.Alpha[y*w+x], got.Alpha[gy*got.Width+gx])
								}
							}
						}
						// The size in EXIF is the one that is shown, and nothing turns twice.
						require.Equal(t, [2]uint32{uint32(got.Width), uint32(got.Height)}, photoSize(t, got))
						again := decode(t, encode(t, got, WriteOptions{Format: PNG}))
						require.Equal(t, got.Pix, again.Pix)
						require.Equal(t, got.Metadata.EXIF, again.Metadata.EXIF)
					})
				}
			}
		}
	}
}

func orientationOf(t *testing.T, m *Image) int {
	t.Helper()
	e := openEXIF(t, m.Metadata.EXIF)
	orientation, err := e.Uint(e.main, tiffdir.TagOrientation, 1)
	require.NoError(t, err)
	return int(orientation)
}

func TestThumbnailIsRemoved(t *testing.T) {
	for _, order := range []tiffdir.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := imagetest.EXIF(order, 6, 8, 8)
		require.Contains(t, string(data), "small old picture")
		m := imagetest.Smooth(8, 8, 1)
		m.Metadata.EXIF = data
		got := decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.EXIF
		require.NotContains(t, string(got), "small old picture")
		require.Contains(t, string(got), "maker note")
		require.Zero(t, openEXIF(t, got).next)
		// What is left lies where it was.
		require.Equal(t, bytes.Index(data, []byte("maker note")), bytes.Index(got, []byte("maker note")))
		require.Contains(t, string(data), "small old picture", "the source's bytes are not changed")
	}
}

func TestBrokenEXIFIsDropped(t *testing.T) {
	good := imagetest.EXIF(binary.LittleEndian, 6, 8, 4)
	for n := range len(good) {
		m := imagetest.Smooth(8, 4, 1)
		m.Metadata.EXIF = good[:n]
		got := decode(t, encode(t, m, WriteOptions{Format: PNG}))
		if got.Metadata.EXIF == nil {
			continue
		}
		require.Equal(t, 1, orientationOf(t, got), "%d of %d bytes", n, len(good))
	}
	m := imagetest.Smooth(8, 4, 1)
	m.Metadata.EXIF = []byte("nonsense")
	got := decode(t, encode(t, m, WriteOptions{Format: PNG}))
	require.Nil(t, got.Metadata.EXIF)
	require.Len(t, got.Warnings, 1)
}

func TestEXIFThatSaysNothingMore(t *testing.T) {
	tags := tiffdir.Builder{Order: binary.LittleEndian}
	tags.Shorts(tiffdir.TagOrientation, 3)
	m := imagetest.Smooth(8, 4, 1)
	m.Metadata.EXIF = tiffdir.AppendDirectory([]byte("II*\x00\x08\x00\x00\x00"), 0, tags.Order, tags.Nodes)
	got := decode(t, encode(t, m, WriteOptions{Format: TIFF}))
	require.Nil(t, got.Metadata.EXIF)
	require.NotEqual(t, m.Pix, got.Pix)
}
