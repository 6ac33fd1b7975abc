package cifar

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// binary is a file of n pictures; picture i has the label (i + first) mod 10 and levels that
// follow from its number.
func binary(n, first int) []byte {
	var b []byte
	for i := range n {
		b = append(b, byte((i+first)%10))
		for k := range Samples {
			b = append(b, byte(k+7*(i+first)))
		}
	}
	return b
}

// zipped is an archive with the pictures of binary under train, and one under test.
func zipped(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name string, levels []byte) {
		img := image.NewNRGBA(image.Rect(0, 0, Side, Side))
		for p := range Side * Side {
			img.SetNRGBA(p%Side, p/Side, color.NRGBA{levels[p], levels[Side*Side+p], levels[2*Side*Side+p], 255})
		}
		w, err := z.Create(name)
		require.NoError(t, err)
		require.NoError(t, png.Encode(w, img))
	}
	for i := 0; i < len(data); i += record {
		add(fmt.Sprintf("train/%s/%04d.png", Classes[data[i]], i/record), data[i+1:i+record])
	}
	add("test/frog/0000.png", data[1:record])
	_, err := z.Create("readme")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

func TestBinaryFiles(t *testing.T) {
	for _, nested := range []string{"", binaryFolder} {
		root := t.TempDir()
		folder := filepath.Join(root, nested)
		require.NoError(t, os.MkdirAll(folder, 0o777))
		for i := range 5 {
			require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("data_batch_%d.bin", i+1)), binary(3, 3*i), 0o666))
		}
		_, err := Read(root, 4, 1)
		require.ErrorContains(t, err, "test_batch.bin")
		require.NoError(t, os.WriteFile(filepath.Join(folder, "test_batch.bin"), binary(2, 100), 0o666))
		d, err := Read(root, 4, 1)
		require.NoError(t, err)
		require.Equal(t, [3]int{11, 4, 2}, [3]int{d.Training.Len(), d.HeldOut.Len(), d.Test.Len()})
		require.Equal(t, byte((1+7*101)%256), d.Test.Picture(1)[1])
		// Each of the 15 is in one of the two sets.
		seen := map[byte]int{}
		for _, s := range []*Set{&d.Training, &d.HeldOut} {
			for i := range s.Len() {
				n := s.Picture(i)[0]
				require.Equal(t, s.Labels[i], uint8(int(n/7)%10))
				seen[n]++
			}
		}
		require.Len(t, seen, 15)
		again, err := Read(root, 4, 1)
		require.NoError(t, err)
		require.Equal(t, d, again)
		other, err := Read(root, 4, 2)
		require.NoError(t, err)
		require.NotEqual(t, d.HeldOut.Digest(), other.HeldOut.Digest())
		for _, n := range []int{0, 15} {
			_, err = Read(root, n, 1)
			require.ErrorContains(t, err, "held out")
		}
	}
}

func TestZip(t *testing.T) {
	data := binary(3, 2)
	path := filepath.Join(t.TempDir(), archive)
	require.NoError(t, os.WriteFile(path, zipped(t, data), 0o666))
	for _, p := range []string{path, filepath.Dir(path)} {
		training, test, err := read(p)
		require.NoError(t, err)
		var want Set
		require.NoError(t, want.parseBinary(data))
		require.Equal(t, 3, training.Len())
		// In the order of the classes' names: bird, cat, deer.
		require.Equal(t, want, training)
		require.Equal(t, []uint8{6}, test.Labels)
		require.Equal(t, want.Picture(0), test.Picture(0))
	}
}

func TestWhatIsNoSetIsRefused(t *testing.T) {
	_, err := Read(filepath.Join(t.TempDir(), "missing"), 1, 1)
	require.Error(t, err)
	var s Set
	require.ErrorContains(t, s.parseBinary(nil), "no binary file")
	require.ErrorContains(t, s.parseBinary(make([]byte, record+1)), "no binary file")
	wrong := binary(2, 0)
	wrong[record] = 10
	require.ErrorContains(t, s.parseBinary(wrong), "label 10")
	require.Zero(t, s.Len(), "nothing is added")

	for name, content := range map[string][]byte{
		"train/horse/a.png": []byte("no picture"), "train/unicorn/a.png": {}, "test/cat/a.png": tooLarge(t),
		"test/dog/a.png": make([]byte, largestPicture+1),
	} {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write(content)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		r, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.NoError(t, err)
		_, _, err = parseZip(r)
		require.ErrorContains(t, err, name)
	}
}

func tooLarge(t *testing.T) []byte {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 33, 32))))
	return b.Bytes()
}

// consistent fails unless all labels are classes and every picture is whole.
func consistent(t *testing.T, s *Set) {
	require.Len(t, s.Levels, s.Len()*Samples)
	for _, l := range s.Labels {
		require.Less(t, int(l), len(Classes))
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(binary(1, 3))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Set
		if s.parseBinary(data) == nil {
			require.Equal(t, len(data), s.Len()*record)
		}
		consistent(t, &s)
	})
}

func FuzzZip(f *testing.F) {
	f.Add(zipped(f, binary(2, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		training, test, _ := parseZip(r)
		consistent(t, &training)
		consistent(t, &test)
	})
}
