package imagefile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// repeated is a byte without end.
type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestStreamsAreReadAsFilesAre(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	folder, err := os.ReadDir("testdata")
	require.NoError(t, err)
	compared := 0
	for _, entry := range folder {
		if entry.IsDir() {
			continue
		}
		data := imagetest.File(t, entry.Name())
		want, wantErr := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{})
		for name, r := range map[string]io.Reader{
			"at once":        bytes.NewReader(data),
			"byte by byte":   iotest.OneByteReader(bytes.NewReader(data)),
			"end with data":  iotest.DataErrReader(bytes.NewReader(data)),
			"bytes after it": io.MultiReader(bytes.NewReader(data), strings.NewReader("more")),
			"never-ending":   io.MultiReader(bytes.NewReader(data), zeros{}),
		} {
			got, err := Decode(t.Context(), r, ReadOptions{})
			if wantErr != nil {
				require.Error(t, err, "%s, %s", entry.Name(), name)
				continue
			}
			require.NoError(t, err, "%s, %s", entry.Name(), name)
			require.Equal(t, want, got, "%s, %s", entry.Name(), name)
			compared++
		}
	}
	require.Greater(t, compared, 200)
}

// What is no image is given up before much of it has been read: all that follows
// these beginnings is without end.
func TestEndlessStreams(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	whole := imagetest.File(t, "rgb8.png")
	photo := imagetest.File(t, "s420.jpg")
	const little, header = 1 << 19, metadata.MaxSize + 2<<20
	for name, c := range map[string]struct {
		start []byte
		rest  repeated
		most  int64
		want  error
	}{
		"nothing":               {nil, 0, little, ErrUnknownFormat},
		"text":                  {[]byte("once upon a time"), ' ', little, ErrUnknownFormat},
		"PNG: signature":        {[]byte(png.Signature), 0, little, ErrMalformed},
		"PNG: half":             {whole[:len(whole)/2], 0, little, ErrMalformed},
		"PNG: large":            {imagetest.PNGHeader(7000, 7000, 8, 0), 0, little, ErrMalformed},
		"PNG: chunk of 2 GB":    {join(imagetest.PNGHeader(9, 9, 8, 0), []byte("\x7f\xff\xff\xffIDAT")), 0, little, ErrMalformed},
		"PNG: unknown, of 2 GB": {join(imagetest.PNGHeader(9, 9, 8, 0), []byte("\x7f\xff\xff\xffABCD")), 0, header, ErrMalformed},
		"JPEG: fill bytes":      {[]byte("\xff\xd8"), 0xff, header, ErrMalformed},
		"JPEG: half":            {photo[:len(photo)/2], 0xff, header, ErrMalformed},
		"TIFF: no directory":    {[]byte("II*\x00\x08\x00\x00\x00"), 0, little, ErrMalformed},
		"TIFF: strip at 4 GB":   {imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagStripOffsets: 1<<32 - 1}), 0, header, ErrMalformed},
		"BMP":                   {[]byte("BM"), 0, little, ErrUnsupported},
		"WebP":                  {[]byte("RIFF\xff\xff\xff\x7fWEBPVP8 "), 0, little, ErrMalformed},
		"GIF: endless comment":  {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x21\xfe"), 0x21, header, ErrMalformed},
		"PFM: too large":        {[]byte("PF\n30000 30000\n-1\n"), 0, little, ErrTooManyPixels},
	} {
		r := &counter{r: io.MultiReader(bytes.NewReader(c.start), c.rest)}
		m, err := Decode(t.Context(), r, ReadOptions{})
		require.Nil(t, m, name)
		require.ErrorIs(t, err, c.want, name)
		require.Less(t, r.n, c.most, name)
	}
}

func TestStreamThatBreaksOff(t *testing.T) {
	cut := errors.New("the cable was cut")
	for _, name := range []string{"rgb8.png", "gray.jpg", "rgb8l.tif", "rgb8.bmp", "g16.pfm", "lossy.webp", "pal.gif"} {
		data := imagetest.File(t, name)
		for _, n := range []int{0, 10, len(data) / 2, len(data) - 100} {
			_, err := Decode(t.Context(), io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(cut)), ReadOptions{})
			require.ErrorIs(t, err, cut, "%s after %d bytes", name, n)
		}
	}
	_, err := Decode(t.Context(), idle{}, ReadOptions{})
	require.ErrorIs(t, err, io.ErrNoProgress)
}

// idle never has anything, nor an end.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestInterruptedStream(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent, _ := io.Pipe()
	data := imagetest.File(t, "rgb8.png")
	r := io.MultiReader(bytes.NewReader(data[:300]), callbackReader(cancel), silent)
	_, err := Decode(ctx, r, ReadOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// callbackReader calls its function, and is empty.
type callbackReader func()

func (c callbackReader) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

func TestGivenLimitLetsBombsPass(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	// Runs of one byte pair unpack to 51 megapixels.
	header := patched(imagetest.File(t, "rle8.bmp")[:54+1024], 18, 0, 0, 0, 0x03, 1, 0, 0, 0)
	data := append(header, 0, 1)
	at := len(header)
	data = patched(data, 10, byte(at), byte(at>>8), 0, 0)
	_, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{})
	require.ErrorIs(t, err, ErrTooManyPixels)
	require.ErrorContains(t, err, "50331648×1")
	m, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{MaxPixels: 1 << 26})
	require.NoError(t, err)
	require.Equal(t, 3<<24, m.Width)
}

func TestCheckWrite(t *testing.T) {
	m := imagetest.Random(4, 5, 3, 8, true)
	m.Format = PNG
	require.NoError(t, CheckWrite(m, WriteOptions{}))
	require.ErrorIs(t, CheckWrite(m, WriteOptions{Format: JPEG}), ErrAlpha)
	require.NoError(t, CheckWrite(m, WriteOptions{Format: JPEG, DropAlpha: true}))
	require.ErrorIs(t, CheckWrite(m, WriteOptions{Format: PNG, Depth: 32}), ErrUnsupported)
	require.ErrorIs(t, CheckWrite(m, WriteOptions{Format: WebP}), ErrUnsupported)
	require.ErrorIs(t, CheckWrite(m, WriteOptions{Format: GIF}), ErrUnsupported)
	m.Pix = m.Pix[1:]
	require.ErrorIs(t, CheckWrite(m, WriteOptions{}), ErrInvalidImage)
}
