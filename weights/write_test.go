package weights

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOrder: the larger type first, in the order of the reference implementation,
// then by name.
func TestOrder(t *testing.T) {
	var f File
	for d := BOOL; d.Valid(); d++ {
		for _, name := range []string{"z", "a"} {
			f.Tensors = append(f.Tensors, Tensor{Name: d.String() + name, DType: d, Shape: []int{8}, Data: make([]byte, d.Bits())})
		}
	}
	f.Metadata = map[string]string{"b": "2", "a": "1", "": "0"}
	b, err := f.Encode()
	require.NoError(t, err)
	n := strings.LastIndex(string(b), "}")
	require.True(t, strings.HasPrefix(string(b[8:]), `{"__metadata__":{"":"0","a":"1","b":"2"},"U64a":{"dtype":"U64","shape":[8],"data_offsets":[0,64]},"U64z":`))
	at := 0
	for _, name := range strings.Fields("U64 I64 F64 C64 F32 U32 I32 BF16 F16 U16 I16 F8_E5M2FNUZ F8_E4M3FNUZ F8_E8M0 F8_E4M3 F8_E5M2 I8 U8 F6_E3M2 F6_E2M3 F4 BOOL") {
		for _, c := range []string{"a", "z"} {
			next := strings.Index(string(b[:n]), `"`+name+c+`":`)
			require.Greater(t, next, at, name+c)
			at = next
		}
	}
}

// TestHeaderText: escapes are the fewest and shortest, and the header is padded.
func TestHeaderText(t *testing.T) {
	for extra := range 8 {
		f := File{Metadata: map[string]string{"\"\\/\b\f\n\r\t\x00\x1f\x7f<é\U0001d11e": strings.Repeat("x", extra)}}
		b, err := f.Encode()
		require.NoError(t, err)
		require.Zero(t, len(b)%8)
		require.Equal(t, byte(len(b)-8), b[0])
		want := `{"__metadata__":{"\"\\/\b\f\n\r\t\u0000\u001f` + "\x7f<é\U0001d11e" + `":"` + strings.Repeat("x", extra) + `"}}`
		require.Equal(t, want, strings.TrimRight(string(b[8:]), " "))
		require.Less(t, len(b)-8-len(want), 8)
	}
	b, err := new(File).Encode()
	require.NoError(t, err)
	require.Equal(t, "\x08\x00\x00\x00\x00\x00\x00\x00{}      ", string(b))
}

// files draws files of every type, with names of any text.
func files() *rapid.Generator[*File] {
	return rapid.Custom(func(t *rapid.T) *File {
		f := &File{Metadata: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "metadata")}
		names := rapid.SliceOfNDistinct(rapid.String().Filter(func(s string) bool { return s != metadataKey }), 0, 5, rapid.ID).Draw(t, "names")
		for _, name := range names {
			x := Tensor{Name: name, DType: DType(rapid.IntRange(int(BOOL), int(U64)).Draw(t, "dtype"))}
			x.Shape = rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(t, "shape")
			if x.DType.Bits() < 8 {
				x.Shape = append(x.Shape, 4) // so that bytes are full
			}
			size, err := bytesOf(x.DType, x.Shape)
			require.NoError(t, err)
			x.Data = rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")
			f.Tensors = append(f.Tensors, x)
		}
		return f
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := files().Draw(t, "file")
		b, err := f.Encode()
		require.NoError(t, err)
		back, err := Decode(b)
		require.NoError(t, err)
		require.True(t, f.Equal(back))
		require.Equal(t, f.Checksum(), back.Checksum())

		// The order of the tensors makes no difference.
		g := &File{Metadata: f.Metadata, Tensors: rapid.Permutation(f.Tensors).Draw(t, "order")}
		again, err := g.Encode()
		require.NoError(t, err)
		require.Equal(t, b, again)
		require.Equal(t, f.Checksum(), g.Checksum())

		// Aligned, except for the types that share bytes.
		base := 8 + int(b[0]) + int(b[1])<<8
		at := base
		for _, x := range back.Tensors {
			if x.DType.Bits() >= 8 {
				require.Zero(t, at%(x.DType.Bits()/8), x.Name)
			}
			at += len(x.Data)
		}
		require.Len(t, b, at)
	})
}

// TestEveryByteMatters changes each byte of a small file to another: either it is
// refused, or it says something else. Only a space for a space is no change.
func TestEveryByteMatters(t *testing.T) {
	original, err := Decode([]byte(tiny))
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range tiny {
		for range 8 {
			b := []byte(tiny)
			b[i] ^= byte(1 + random.IntN(255))
			changed, err := Decode(b)
			if err == nil {
				require.False(t, original.Equal(changed), "byte %d, %q", i, b[i])
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	x := func(name string) Tensor { return Tensor{Name: name, DType: U8, Shape: []int{1}, Data: []byte{1}} }
	for want, f := range map[string]*File{
		`two tensors have the name "a"`: {Tensors: []Tensor{x("a"), x("b"), x("a")}},
		`a tensor cannot have the name "__metadata__", which the format keeps for itself`:     {Tensors: []Tensor{x("__metadata__")}},
		`the tensor name "\xff" is not valid UTF-8`:                                           {Tensors: []Tensor{x("\xff")}},
		`the metadata key "\xff" is not valid UTF-8`:                                          {Metadata: map[string]string{"\xff": ""}},
		`the metadata value of "k" is not valid UTF-8`:                                        {Metadata: map[string]string{"k": "\xff"}},
		`tensor "a": 0 is not a DType`:                                                        {Tensors: []Tensor{{Name: "a"}}},
		`tensor "a": the shape has the negative size -2`:                                      {Tensors: []Tensor{{Name: "a", DType: U8, Shape: []int{0, -2}}}},
		`tensor "a": the shape is too large: its size does not fit an int`:                    {Tensors: []Tensor{{Name: "a", DType: U8, Shape: []int{math.MaxInt, 2}}}},
		`tensor "a" has 3 bytes of data, want 4 for F32 of shape [1]`:                         {Tensors: []Tensor{{Name: "a", DType: F32, Shape: []int{1}, Data: make([]byte, 3)}}},
		`tensor "a": 1 elements of F6_E2M3 do not fill whole bytes`:                           {Tensors: []Tensor{{Name: "a", DType: F6E2M3}}},
		fmt.Sprintf(`the header has %d bytes, more than the limit of 4194304`, 4<<20+8+2*8+8): {Metadata: map[string]string{"k": strings.Repeat("x", 4<<20)}},
	} {
		var w countingWriter
		require.EqualError(t, f.Write(&w), "weights: "+want)
		require.Zero(t, w.bytes, "nothing is written")
		_, err := f.Encode()
		require.EqualError(t, err, "weights: "+want)
	}
}

func TestLargestHeader(t *testing.T) {
	f := &File{Metadata: map[string]string{"k": strings.Repeat("x", MaxHeaderSize-len(`{"__metadata__":{"k":""}}`))}}
	b, err := f.Encode()
	require.NoError(t, err)
	require.Len(t, b, 8+MaxHeaderSize)
	back, err := Decode(b)
	require.NoError(t, err)
	require.True(t, f.Equal(back))
}

// countingWriter takes as many bytes as limit says, and fails then.
type countingWriter struct{ bytes, limit int }

var errFull = errors.New("the disk is full")

func (w *countingWriter) Write(b []byte) (int, error) {
	if w.bytes+len(b) > w.limit {
		return 0, errFull
	}
	w.bytes += len(b)
	return len(b), nil
}

func TestWritePassesErrorsOn(t *testing.T) {
	for limit := range len(tiny) {
		require.ErrorIs(t, tinyFile().Write(&countingWriter{limit: limit}), errFull)
	}
	require.NoError(t, tinyFile().Write(&countingWriter{limit: len(tiny)}))
}

func TestEqual(t *testing.T) {
	for name, change := range map[string]func(f *File){
		"metadata":         func(f *File) { f.Metadata["format"] = "np" },
		"metadata's keys":  func(f *File) { f.Metadata = map[string]string{"Format": "pt"} },
		"no metadata":      func(f *File) { f.Metadata = nil },
		"a tensor less":    func(f *File) { f.Tensors = f.Tensors[1:] },
		"a tensor's name":  func(f *File) { f.Tensors[0].Name = "v" },
		"a tensor's shape": func(f *File) { f.Tensors[0].Shape = []int{1, 2} },
		"a tensor's type":  func(f *File) { f.Tensors[0].DType = I32 },
		"a tensor's data":  func(f *File) { f.Tensors[0].Data[7]++ },
	} {
		f := tinyFile()
		require.True(t, f.Equal(tinyFile()))
		change(f)
		require.False(t, f.Equal(tinyFile()), name)
		require.Equal(t, strings.Contains(name, "tensor"), f.Checksum() != tinyFile().Checksum(), name)
	}
}
