package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/imagefile"
)

// encoded is an image as the bytes of a file.
func encoded(t *testing.T, f imagefile.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, imagefile.Encode(t.Context(), &b, picture(3, 20, 24, 8, 0.05), imagefile.WriteOptions{Format: f}))
	return b.Bytes()
}

// pngBomb is a PNG whose header announces w×h pixels.
func pngBomb(w, h uint32) []byte {
	header := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(header[4:], w)
	binary.BigEndian.PutUint32(header[8:], h)
	copy(header[12:], []byte{8, 2, 0, 0, 0})
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	b = append(b, header...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(header))
}

// TestHostileFiles gives every command that reads images what is none: one line,
// status 1, nothing written.
func TestHostileFiles(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	saveMask(t, "mask.png", 3, 3)
	hostile := map[string][]byte{
		"empty.png":     nil,
		"text.png":      []byte("this is a text, renamed\n"),
		"binary.jpg":    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		"signature.png": []byte("\x89PNG\r\n\x1a\n"),
		"wide.png":      pngBomb(1<<31-1, 1),
		"bomb.png":      pngBomb(200000, 200000),
		"nothing.png":   pngBomb(0, 5),
		"huge.pfm":      []byte("PF\n1000000 1000000\n-1.0\n"),
		"negative.pfm":  []byte("PF\n-3 5\n-1.0\n"),
		"words.pfm":     []byte("PF\nthree five\n-1.0\n"),
		"nan.pfm":       append([]byte("Pf\n1 1\n-1.0\n"), 0, 0, 0xc0, 0x7f),
		"short.pfm":     []byte("PF\n4 4\n-1.0\nabc"),
		"tiny.bmp":      []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00"),
		"loop.tif":      []byte("II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00"),
		"riff.webp":     []byte("RIFF\x00\x00\x00\x00WEBPVP8 "),
		"picture.gif":   []byte("GIF89a\x01\x00\x01\x00"),
		"new\nline.png": []byte("a name that breaks lines"),
		"\x1b[31m.png":  []byte("a name that colours the terminal"),
	}
	for f, ext := range map[imagefile.Format]string{imagefile.PNG: "png", imagefile.JPEG: "jpg", imagefile.TIFF: "tif", imagefile.BMP: "bmp", imagefile.PFM: "pfm"} {
		whole := encoded(t, f)
		hostile["half."+ext] = whole[:len(whole)/2]
		hostile["head."+ext] = whole[:20]
		flipped := bytes.Clone(whole)
		for i := 8; i < min(40, len(flipped)); i++ {
			flipped[i] ^= 0xff
		}
		hostile["flipped."+ext] = flipped
	}
	for name, content := range hostile {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "\n\x1b") {
			continue // no such names there
		}
		require.NoError(t, os.WriteFile(name, content, 0o666))
		for _, args := range [][]string{
			{"denoise", "--method", "small", name, "-o", "out.png"},
			{"deblur", "--prior", "tv", "--iterations", "2", "--kernel", "k.png", name, "-o", "out.png"},
			{"deblur", "--prior", "tv", "--iterations", "2", "--kernel", name, "k.png", "-o", "out.png"},
			{"inpaint", "--prior", "tv", "--iterations", "2", "--mask", "mask.png", name, "-o", "out.png"},
			{"inpaint", "--prior", "tv", "--iterations", "2", "--mask", name, "k.png", "-o", "out.png"},
			{"upscale", "--prior", "tv", "--iterations", "2", name, "-o", "out.png"},
			{"upscale", "--prior", "tv", "--iterations", "2", "--kernel", name, "k.png", "-o", "out.png"},
			{"degrade", "--sigma", "0.1", name, "-o", "out.png"},
			{"compare", "k.png", name},
			{"compare", name, "k.png"},
			{"check", "--prior", "tv", name},
			{"denoise", "--method", "tv", "k.png", "--reference", name, "-o", "out.png", "--sigma", "0.1"},
		} {
			fails(t, exitFailed, []string{message.OneLine(name) + ": "}, args...)
			require.NoFileExists(t, "out.png", "%v", args)
		}
		// The same bytes from standard input.
		r := restoringFrom(t, bytes.NewReader(content), "denoise", "--method", "small", "-", "-o", "out.png")
		require.Equal(t, exitFailed, r.code, name)
		requireOneLine(t, r.stderr, "standard input: ")
		require.NoError(t, os.Remove(name))
	}
	require.Equal(t, []string{"k.png", "mask.png"}, files(t))
}

func TestFailureDoesNotStopTheOthers(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.WriteFile("a.png", []byte("no image"), 0o666))
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	r := restoring(t, denoising("missing.png", "a.png", "b.png")...)
	require.Equal(t, exitFailed, r.code)
	require.FileExists(t, "b.denoised.png")
	require.NoFileExists(t, "a.denoised.png")
	require.Equal(t, 3, strings.Count(r.stderr, "\n"))
	require.Contains(t, r.stderr, "restore: missing.png: no such file\n")
	require.Contains(t, r.stderr, "restore: a.png: unknown image format")
	require.Contains(t, r.stderr, "restore: 1 done, 2 failed, 0 skipped\n")
}

func TestFolderIsNoImage(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	require.NoError(t, os.Mkdir("folder.png", 0o777))
	for _, args := range [][]string{
		{"denoise", "folder.png", "-o", "out.png"},
		{"deblur", "--prior", "tv", "--kernel", "k.png", "folder.png", "-o", "out.png"},
		{"deblur", "--prior", "tv", "--kernel", "folder.png", "k.png", "-o", "out.png"},
		{"degrade", "--sigma", "0.1", "folder.png", "-o", "out.png"},
		{"compare", "k.png", "folder.png"},
		{"check", "--prior", "tv", "folder.png"},
	} {
		fails(t, exitFailed, []string{"folder.png: ", "is a folder"}, args...)
	}
	require.Equal(t, []string{"k.png"}, files(t))
}

func TestMaxPixels(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	fails(t, exitFailed, []string{"a.png: too many pixels", "14×12", "limit of 167 pixels", "--max-pixels raises the limit"}, denoising("a.png", "--max-pixels", "167")...)
	succeeds(t, denoising("a.png", "--max-pixels", "168")...)
}

func TestUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("root, and every user of Windows, may read a file without permissions: there is nothing to test")
	}
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	require.NoError(t, os.Chmod("a.png", 0))
	fails(t, exitFailed, []string{"a.png: permission denied"}, denoising("a.png")...)
}

func TestUnwritable(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	// A file where the output folder would have to be.
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	fails(t, exitFailed, []string{"b.png: "}, denoising("a.png", "-o", "file/b.png")...)
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		require.NoError(t, os.Mkdir("locked", 0o500))
		fails(t, exitFailed, []string{"b.png: permission denied"}, denoising("a.png", "-o", "locked/b.png")...)
	}
}

func TestMessagesNameNoPackage(t *testing.T) {
	require.Equal(t, "blur: shapes do not fit", plain("deblur: blur: backend: shapes do not fit"))
}

func TestEmptyNames(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	fails(t, exitFailed, []string{`restore: "": no such file`}, "denoise", "")
	fails(t, exitUsage, []string{"--output is empty"}, denoising("a.png", "-o", "")...)
	fails(t, exitUsage, []string{"--reference is empty"}, denoising("a.png", "--reference", "")...)
	fails(t, exitUsage, []string{"--kernel is empty"}, "degrade", "a.png", "--sigma", "0.1", "--kernel", "")
	require.Equal(t, []string{"a.png"}, files(t))
}

func TestEnormousSamples(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	m := picture(1, 12, 14, 32, 0.05)
	m.Pix[7] = -2e30
	save(t, "a.pfm", m)
	fails(t, exitFailed, []string{"a.pfm: has a sample of -2e+30", "white is about 1"}, denoising("a.pfm")...)
	m.Pix[7] = 1e9 // an exposure of long ago, but a number to compute with
	save(t, "b.pfm", m)
	succeeds(t, denoising("b.pfm")...)
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestEndlessInput(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	for _, start := range []string{"", "\x89PNG\r\n\x1a\n", "PF\n90000 90000\n-1\n"} {
		r := restoringFrom(t, io.MultiReader(strings.NewReader(start), endless{}), denoising("-", "-o", "x.png")...)
		require.Equal(t, exitFailed, r.code)
		requireOneLine(t, r.stderr, "standard input: ")
	}
	// What follows an image does no harm.
	r := restoringFrom(t, io.MultiReader(bytes.NewReader(encoded(t, imagefile.PNG)), endless{}), denoising("-", "-o", "x.png")...)
	require.Equal(t, exitDone, r.code, r.stderr)
}

func TestBombNeedsALimit(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.WriteFile("bomb.png", pngBomb(10000, 10000), 0o666))
	fails(t, exitFailed, []string{"bomb.png: too many pixels", "10000×10000", "bomb?); --max-pixels raises"}, denoising("bomb.png")...)
	fails(t, exitFailed, []string{"bomb.png: malformed", "ends early"}, denoising("bomb.png", "--max-pixels", "200000000")...)
}
