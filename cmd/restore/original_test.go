package main

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// TestUnchangedIsTheSameFile: where nothing is to be removed, the result has the bytes of the input.
func TestUnchangedIsTheSameFile(t *testing.T) {
	tone, err := os.ReadFile("testdata/tone.jpg")
	require.NoError(t, err)
	inFolder(t)
	palette := image.NewPaletted(image.Rect(0, 0, 200, 160), color.Palette{color.Gray{255}, color.NRGBA{R: 200, A: 255}, color.NRGBA{B: 90, A: 255}})
	for i := range palette.Pix {
		if y, x := i/200, i%200; y%17 == 0 || y%17 > 4 && y%17 < 12 && (x*7+y*3+x*y)%5 < 2 {
			palette.Pix[i] = uint8(1 + y/17%2)
		}
	}
	write := func(name string, data []byte) []byte {
		require.NoError(t, os.WriteFile(name, data, 0o666))
		return data
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		return b
	}
	write("tone.jpg", tone)
	savePNG(t, "palette.png", palette)
	// What stands behind the picture is in the result, so nothing is dropped.
	film := write("film.jpg", append(bytes.Clone(tone), "\x00\x00\x00\x18ftypmp42 and the film"...))
	for name, want := range map[string][]byte{"tone.jpg": tone, "palette.png": read("palette.png"), "film.jpg": film} {
		ran := succeedsNoted(t, "denoise", name, "-o", "out/"+name)
		require.Contains(t, ran.stdout, "no noise found, nothing changed, ")
		require.NotContains(t, ran.stderr, "dropped")
		require.True(t, bytes.Equal(want, read("out/"+name)), name)
		piped := restoringFrom(t, iotest.HalfReader(bytes.NewReader(want)), "denoise", "-")
		require.Equal(t, exitDone, piped.code)
		require.True(t, string(want) == piped.stdout, name)
		require.NotContains(t, piped.stderr, "dropped")
	}
	require.Equal(t, true, objects(t, succeedsNoted(t, "denoise", "tone.jpg", "-o", "j.jpg", "--json").stdout)[0]["copied"])

	if testing.Short() {
		return // goroutines change nothing of what follows; go test ./... has it
	}
	// What was asked for besides is done, and said.
	for said, args := range map[string][]string{
		"with quality 60":  {"film.jpg", "-o", "a.jpg", "--quality", "60"},
		"as PNG":           {"film.jpg", "-o", "b.png"},
		"with 16 bits":     {"palette.png", "-o", "c.png", "--depth", "16"},
		"without metadata": {"film.jpg", "-o", "d.jpg", "--metadata", "none"},
	} {
		ran := succeedsNoted(t, append([]string{"denoise"}, args...)...)
		require.Contains(t, ran.stdout, "no noise found, only written anew, "+said+", ")
		require.Equal(t, strings.HasPrefix(args[0], "film"), strings.Contains(ran.stderr, "the motion photo's film is dropped"))
		require.False(t, bytes.Equal(read(args[0]), read(args[2])))
		o := objects(t, succeedsNoted(t, append([]string{"denoise", "--json", "--force"}, args...)...).stdout)[0]
		require.Equal(t, true, o["unchanged"])
		require.NotContains(t, o, "copied")
	}
	fails(t, exitFailed, []string{"exists already"}, "denoise", "tone.jpg", "-o", "a.jpg")

	// A palette stays one without its metadata.
	ran := succeedsNoted(t, "denoise", "palette.png", "-o", "e.png", "--metadata", "none")
	require.Contains(t, ran.stdout, "no noise found, only written anew, without metadata, ")
	require.Equal(t, read("palette.png"), read("e.png"))
}

// TestOriginalThatIsOther: bytes that are not those that were read are not taken.
func TestOriginalThatIsOther(t *testing.T) {
	inFolder(t)
	require.NoError(t, os.WriteFile("a", []byte("as it was"), 0o666))
	info, err := os.Stat("a")
	require.NoError(t, err)
	o := &original{path: "a", state: info}
	from := o.open()
	require.NotNil(t, from)
	require.NoError(t, from.Close())
	require.NoError(t, os.WriteFile("a", []byte("something else"), 0o666))
	require.Nil(t, o.open())
	require.NoError(t, os.Remove("a"))
	require.Nil(t, o.open())
	require.Nil(t, (&original{path: "-"}).open())

	k := &keeper{r: strings.NewReader("all of it")}
	_, err = k.Read(make([]byte, 100))
	require.NoError(t, err)
	require.False(t, k.ended)
	require.Error(t, iotest.TestReader(k, []byte("something else")))
	require.True(t, k.ended)
	require.Equal(t, "all of it", string(k.bytes))
}
