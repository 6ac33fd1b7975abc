package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// tiny is a file written out by hand, from the specification.
const tiny = "\xc8\x00\x00\x00\x00\x00\x00\x00" +
	`{"__metadata__":{"format":"pt"},` +
	`"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},` +
	`"empty":{"dtype":"F16","shape":[0,3],"data_offsets":[8,8]},` +
	`"h":{"dtype":"F16","shape":[],"data_offsets":[8,10]}} ` +
	"\x00\x00\xc0\x3f\x00\x00\x00\xc0" + // 1.5, −2
	"\x66\x2e" // the binary16 next to 0.1

// tinyFile is what it says.
func tinyFile() *File {
	return &File{
		Metadata: map[string]string{"format": "pt"},
		Tensors: []Tensor{
			{Name: "w", DType: F32, Shape: []int{2, 1}, Data: []byte("\x00\x00\xc0\x3f\x00\x00\x00\xc0")},
			{Name: "empty", DType: F16, Shape: []int{0, 3}, Data: []byte{}},
			{Name: "h", DType: F16, Shape: []int{}, Data: []byte("\x66\x2e")},
		},
	}
}

// assemble puts a header of any text before data.
func assemble(header, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestGolden(t *testing.T) {
	f, err := Decode([]byte(tiny))
	require.NoError(t, err)
	require.Equal(t, tinyFile(), f)
	b, err := f.Encode()
	require.NoError(t, err)
	require.Equal(t, tiny, string(b))

	w, err := f.Tensor("w")
	require.NoError(t, err)
	values, err := w.Float32s()
	require.NoError(t, err)
	require.Equal(t, []float32{1.5, -2}, values)
	_, err = f.Tensor("v")
	require.EqualError(t, err, `weights: the file has no tensor "v"`)

	onDisk, err := os.ReadFile("testdata/tiny.safetensors")
	require.NoError(t, err)
	require.Equal(t, tiny, string(onDisk))
}

// TestReads has headers that are valid JSON, though ours look different.
func TestReads(t *testing.T) {
	one := func(name string) *File {
		return &File{Tensors: []Tensor{{Name: name, DType: U8, Shape: []int{1}, Data: []byte("!")}}}
	}
	for name, c := range map[string]struct {
		header, data string
		want         *File
	}{
		"nothing":        {`{}`, "", &File{}},
		"padded":         {`{}      `, "", &File{}},
		"no metadata":    {`{"__metadata__":{}}`, "", &File{}},
		"any order":      {`{"a":{"data_offsets":[0,1],"dtype":"U8","shape":[1]}}`, "!", one("a")},
		"white space":    {"{\n\t\"a\" : {\"dtype\" :\r\"U8\", \"shape\": [ 1 ], \"data_offsets\": [0 , 1 ] } }  ", "!", one("a")},
		"escaped keys":   {`{"\u0061":{"\u0064type":"\u00558","shape":[1],"data_offsets":[0,1]}}`, "!", one("a")},
		"a name without": {`{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "!", one("")},
		"all escapes":    {`{"\"\\\/\b\f\n\r\t\u00e9\uD834\udd1eß":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "!", one("\"\\/\b\f\n\r\té\U0001d11eß")},
		"metadata last": {`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"__metadata__":{"k":"v","":"\u0000"}}`, "!",
			&File{Metadata: map[string]string{"k": "v", "": "\x00"}, Tensors: one("a").Tensors}},
		"ranges in any order": {`{"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "!?",
			&File{Tensors: []Tensor{one("a").Tensors[0], {Name: "b", DType: U8, Shape: []int{1}, Data: []byte("?")}}}},
		"an empty range named last": {`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"e":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, "!",
			&File{Tensors: []Tensor{one("a").Tensors[0], {Name: "e", DType: U8, Shape: []int{0}}}}},
		"half bytes": {`{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}`, "!",
			&File{Tensors: []Tensor{{Name: "a", DType: F4, Shape: []int{2}, Data: []byte("!")}}}},
		"no elements of many": {`{"a":{"dtype":"U8","shape":[` + strconv.Itoa(math.MaxInt) + `,0],"data_offsets":[0,0]}}`, "",
			&File{Tensors: []Tensor{{Name: "a", DType: U8, Shape: []int{math.MaxInt, 0}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := assemble(c.header, c.data)
			f, err := Decode(b)
			require.NoError(t, err)
			require.True(t, c.want.Equal(f), "%v", f)
			f, err = Read(iotest.OneByteReader(bytes.NewReader(b)))
			require.NoError(t, err)
			require.True(t, c.want.Equal(f), "%v", f)
		})
	}
}

func TestMalformed(t *testing.T) {
	half, most, tooLarge := fmt.Sprint(uint64(1)<<(strconv.IntSize/2)), strconv.Itoa(math.MaxInt/8), fmt.Sprint(uint64(math.MaxInt)+1)
	a := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"a":{"dtype":"%s","shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	two := func(first, second string) string {
		return fmt.Sprintf(`{"a":{"dtype":"U8","shape":[2],"data_offsets":%s},"b":{"dtype":"U8","shape":[2],"data_offsets":%s}}`, first, second)
	}
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", `it has 0 bytes, want at least the 8 of the header's length`},
		{"short length", "\x02\x00\x00", `it has 3 bytes, want at least the 8 of the header's length`},
		{"short header", "\x03\x00\x00\x00\x00\x00\x00\x00{}", `the header has 2 bytes, want the 3 that its length says`},
		{"long header", "\x01\x00\x40\x00\x00\x00\x00\x00{}", `the length of the header is 4194305 bytes, more than the limit of 4194304`},
		{"huge header", "\xff\xff\xff\xff\xff\xff\xff\xff{}", `the length of the header is 18446744073709551615 bytes, more than the limit of 4194304`},
		{"no header", string(assemble("", "")), `the header does not begin with {`},
		{"space first", string(assemble(" {}", "")), `the header does not begin with {`},
		{"byte order mark", string(assemble("\ufeff{}", "")), `the header does not begin with {`},
		{"an array", string(assemble("[]", "")), `the header does not begin with {`},
		{"not UTF-8", string(assemble("{\"\xff\":", "")), `the header is not valid UTF-8`},
		{"a surrogate in UTF-8", string(assemble("{\"\xed\xa0\x80\":", "")), `the header is not valid UTF-8`},
		{"end of object", string(assemble(`{`, "")), `the header ends after 1 bytes, want a string`},
		{"end of string", string(assemble(`{"a`, "")), `the header ends after 3 bytes, want '"' at the end of a string`},
		{"end of escape", string(assemble(`{"\`, "")), `the header ends after 3 bytes, want an escape after '\'`},
		{"end of digits", string(assemble(`{"\u00`, "")), `the header ends after 6 bytes, want four hexadecimal digits after \u`},
		{"newline behind", string(assemble("{}\n", "")), `byte 2 of the header is '\n', want only spaces to follow the header's object`},
		{"zero behind", string(assemble("{} \x00", "")), `byte 3 of the header is '\x00', want only spaces to follow the header's object`},
		{"two objects", string(assemble("{}{}", "")), `byte 2 of the header is '{', want only spaces to follow the header's object`},
		{"comma last", string(assemble(`{"__metadata__":{},}`, "")), `byte 19 of the header is '}', want a string`},
		{"no colon", string(assemble(`{"a","b"}`, "")), `byte 4 of the header is ',', want ':' after a key`},
		{"no comma", string(assemble(`{"__metadata__":{} "a":{}}`, "")), `byte 19 of the header is '"', want ',' or '}' in an object`},
		{"key without quotes", string(assemble(`{a:{}}`, "")), `byte 1 of the header is 'a', want a string`},
		{"control character", string(assemble("{\"\x1f\":{}}", "")), `byte 2 of the header is '\x1f', want control characters in strings to be escaped`},
		{"unknown escape", string(assemble(`{"\x":{}}`, "")), `byte 3 of the header is 'x', want an escape of JSON after '\'`},
		{"not hexadecimal in a pair", string(assemble(`{"\ud834\udd1x":{}}`, "")), `byte 13 of the header is 'x', want four hexadecimal digits after \u`},
		{"not hexadecimal", string(assemble(`{"\u00g0":{}}`, "")), `byte 6 of the header is 'g', want four hexadecimal digits after \u`},
		{"high surrogate alone", string(assemble(`{"\ud834x":{}}`, "")), `byte 8 of the header is 'x', want surrogates in pairs only`},
		{"low surrogate alone", string(assemble(`{"\udd1e":{}}`, "")), `byte 8 of the header is '"', want surrogates in pairs only`},
		{"two high surrogates", string(assemble(`{"\ud834\ud834":{}}`, "")), `byte 14 of the header is '"', want surrogates in pairs only`},

		{"tensor twice", string(assemble(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "!")), `the header has the key "a" twice in one object`},
		{"tensor twice, escaped", string(assemble(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{}}`, "!")), `the header has the key "a" twice in one object`},
		{"metadata twice", string(assemble(`{"__metadata__":{},"__metadata__":{}}`, "")), `the header has the key "__metadata__" twice in one object`},
		{"key of metadata twice", string(assemble(`{"__metadata__":{"k":"1","k":"1"}}`, "")), `the header has the key "k" twice in one object`},
		{"dtype twice", string(assemble(`{"a":{"dtype":"U8","dtype":"U8"}}`, "")), `the header has the key "dtype" twice in one object`},
		{"metadata null", string(assemble(`{"__metadata__":null}`, "")), `byte 16 of the header is 'n', want an object`},
		{"metadata a number", string(assemble(`{"__metadata__":{"k":1}}`, "")), `byte 21 of the header is '1', want a string`},
		{"metadata an object", string(assemble(`{"__metadata__":{"k":{}}}`, "")), `byte 21 of the header is '{', want a string`},

		{"tensor an array", string(assemble(`{"a":[]}`, "")), `byte 5 of the header is '[', want an object`},
		{"no dtype", string(assemble(`{"a":{"shape":[],"data_offsets":[0,1]}}`, "!")), `tensor "a" has no dtype`},
		{"no shape", string(assemble(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, "!")), `tensor "a" has no shape`},
		{"no offsets", string(assemble(`{"a":{"dtype":"U8","shape":[]}}`, "!")), `tensor "a" has no data_offsets`},
		{"unknown key", string(assemble(`{"a":{"dtype":"U8","shape":[],"offsets":[0,1]}}`, "!")), `tensor "a" has the unknown key "offsets", want only dtype, shape and data_offsets`},
		{"key in capitals", string(assemble(`{"a":{"DType":"U8"}}`, "")), `tensor "a" has the unknown key "DType", want only dtype, shape and data_offsets`},
		{"unknown dtype", string(assemble(a("F128", "[1]", "[0,16]"), "")), `tensor "a" has the unknown dtype "F128"`},
		{"dtype in small letters", string(assemble(a("f32", "[1]", "[0,4]"), "")), `tensor "a" has the unknown dtype "f32"`},
		{"dtype a number", string(assemble(`{"a":{"dtype":32}}`, "")), `byte 14 of the header is '3', want a string`},
		{"shape null", string(assemble(a("U8", "null", "[0,1]"), "!")), `byte 27 of the header is 'n', want an array of whole numbers`},
		{"negative", string(assemble(a("U8", "[-1]", "[0,1]"), "!")), `byte 28 of the header is '-', want a whole number, not negative`},
		{"point", string(assemble(a("U8", "[1.0]", "[0,1]"), "!")), `byte 29 of the header is '.', want ',' or ']' in an array of whole numbers`},
		{"exponent", string(assemble(a("U8", "[1e0]", "[0,1]"), "!")), `byte 29 of the header is 'e', want ',' or ']' in an array of whole numbers`},
		{"leading zero", string(assemble(a("U8", "[01]", "[0,1]"), "!")), `byte 29 of the header is '1', want a number without leading zeros`},
		{"2^63", string(assemble(a("U8", "["+tooLarge+"]", "[0,1]"), "!")), fmt.Sprintf(`byte %d of the header is '8', want a number below 2^%d`, 27+len(tooLarge), strconv.IntSize-1)},
		{"array ends in a comma", string(assemble(a("U8", "[1,]", "[0,1]"), "!")), `byte 30 of the header is ']', want a whole number, not negative`},
		{"one offset", string(assemble(a("U8", "[]", "[1]"), "!")), `tensor "a" has 1 data_offsets, want 2`},
		{"three offsets", string(assemble(a("U8", "[]", "[0,1,1]"), "!")), `tensor "a" has 3 data_offsets, want 2`},

		{"overflow of the shape", string(assemble(a("U8", "["+half+","+half+"]", "[0,0]"), "")), `tensor "a": the shape is too large: its size does not fit an int`},
		{"overflow beside zero", string(assemble(a("U8", "[0,"+half+","+half+"]", "[0,0]"), "")), `tensor "a": the shape is too large: its size does not fit an int`},
		{"overflow of the bits", string(assemble(a("F64", "["+strconv.Itoa(math.MaxInt/64+1)+"]", "[0,0]"), "")), `tensor "a": the shape is too large: its size does not fit an int`},
		{"half a byte", string(assemble(a("F4", "[3]", "[0,1]"), "!")), `tensor "a": 3 elements of F4 do not fill whole bytes`},
		{"range too short", string(assemble(a("F32", "[2]", "[0,4]"), "1234")), `tensor "a" has a range of 4 bytes, want 8 for F32 of shape [2]`},
		{"range of a scalar", string(assemble(a("F32", "[]", "[0,0]"), "")), `tensor "a" has a range of 0 bytes, want 4 for F32 of shape []`},
		{"end before begin", string(assemble(a("U8", "[1]", "[1,0]"), "!")), `tensor "a" ends at byte 0, before it begins at 1`},
		{"overlap", string(assemble(two("[0,2]", "[1,3]"), "123")), `tensor "b" begins at byte 1, inside the one before, which ends at 2`},
		{"same range", string(assemble(two("[0,2]", "[0,2]"), "12")), `tensor "b" begins at byte 0, inside the one before, which ends at 2`},
		{"gap", string(assemble(two("[0,2]", "[3,5]"), "12345")), `no tensor has the bytes from 2 to 3 of the data, before "b"`},
		{"gap at the beginning", string(assemble(two("[3,5]", "[1,3]"), "12345")), `no tensor has the bytes from 0 to 1 of the data, before "b"`},
		{"nothing beyond a gap", string(assemble(a("U8", "[0]", "[7,7]"), "")), `no tensor has the bytes from 0 to 7 of the data, before "a"`},
		{"data too short", string(assemble(two("[0,2]", "[2,4]"), "123")), `the data has 3 bytes, want the 4 that the header says`},
		{"data huge", string(assemble(a("U8", "["+most+"]", "[0,"+most+"]"), "123")), `the data has 3 bytes, want the ` + most + ` that the header says`},
		{"bytes behind", string(assemble(two("[0,2]", "[2,4]"), "12345")), `bytes follow the 4 of the data`},
		{"bytes without tensors", string(assemble(`{}`, "1")), `bytes follow the 0 of the data`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "weights: not a valid safetensors file: " + c.want
			_, err := Decode([]byte(c.file))
			require.EqualError(t, err, want)
			require.ErrorIs(t, err, ErrMalformed)
			for name, r := range map[string]io.Reader{
				"all at once":    strings.NewReader(c.file),
				"byte by byte":   iotest.OneByteReader(strings.NewReader(c.file)),
				"data and error": iotest.DataErrReader(strings.NewReader(c.file)),
			} {
				_, err = Read(r)
				require.EqualError(t, err, want, name)
				require.ErrorIs(t, err, ErrMalformed, name)
			}
		})
	}
}

// TestReadPassesErrorsOn cuts a file off everywhere with an error of the reader,
// which is no fault of the file.
func TestReadPassesErrorsOn(t *testing.T) {
	broken := errors.New("the cable is broken")
	for n := range len(tiny) + 1 {
		_, err := Read(io.MultiReader(strings.NewReader(tiny[:n]), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, n)
		require.NotErrorIs(t, err, ErrMalformed, n)
	}
}

// TestTensorsDoNotRunIntoEachOther: appending to the data of one leaves the next.
func TestTensorsDoNotRunIntoEachOther(t *testing.T) {
	f, err := Decode([]byte(tiny))
	require.NoError(t, err)
	f.Tensors[0].Data = append(f.Tensors[0].Data, 1)
	require.Equal(t, "\x66\x2e", string(f.Tensors[2].Data))
}

// FuzzDecode: whatever is read can be written, is then read as the same, and
// neither way of reading takes what the other refuses.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(tiny[:100]))
	f.Add(assemble(`{}`, ""))
	f.Add(assemble(`{"\"\\\/\b\f\n\r\t\u00e9\uD834\udd1e":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}} `, "1234"))
	f.Add(assemble(`{"b":{"dtype":"F4","shape":[2],"data_offsets":[1,2]},"a":{"dtype":"F6_E2M3","shape":[0],"data_offsets":[1,1]},"c":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}`, "12"))
	f.Add(assemble(`{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,18446744073709551615]}}`, ""))
	f.Add(assemble(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "1"))
	card, err := cardFile().Encode()
	require.NoError(f, err)
	f.Add(card)
	levels := cardFile()
	levels.Metadata["averaged.shuffle"], levels.Metadata["averaged.sigmas"] = "2", "[0.01,5e-2,0.3]"
	card, err = levels.Encode()
	require.NoError(f, err)
	f.Add(card)
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Decode(b)
		again, errRead := Read(bytes.NewReader(b))
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			require.EqualError(t, errRead, err.Error())
			return
		}
		require.NoError(t, errRead)
		require.Equal(t, file, again)
		encoded, err := file.Encode()
		if err != nil {
			// Some bytes need an escape that was shorter, or none, as it was read.
			require.ErrorContains(t, err, "more than the limit")
			return
		}
		back, err := Decode(encoded)
		require.NoError(t, err)
		require.True(t, file.Equal(back))
		require.Equal(t, file.Checksum(), back.Checksum())
		encodedAgain, err := back.Encode()
		require.NoError(t, err)
		require.Equal(t, encoded, encodedAgain)
		for _, x := range file.Tensors {
			if values, err := x.Float32s(); err == nil {
				require.Len(t, values, len(x.Data)*8/x.DType.Bits())
			}
		}
		if c, err := file.Card(); err == nil {
			metadata, err := c.MarshalMetadata()
			require.NoError(t, err)
			var same Card
			require.NoError(t, same.UnmarshalMetadata(metadata))
			require.Equal(t, c, same)
		}
	})
}

// FuzzHeader: what the parser takes is JSON, and encoding/json sees the same in
// it.
func FuzzHeader(f *testing.F) {
	f.Add(`{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}} `)
	f.Add("{\n\t\"a\" : {\"shape\": [ 1 , 0 ],\r\"data_offsets\": [10 , 10 ] , \"dtype\" :\"U8\"} }  ")
	f.Add(`{"\"\\\/\b\f\n\r\t\u00e9\uD834\udd1eß":{"dtype":"F8_E4M3","shape":[],"data_offsets":[0,1]}}`)
	f.Add(`{"a":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775808]}}`)
	f.Add(`{"a":{"dtype":"U8","dtype":"I8"},"\ud834":{},"b":[01,-1,1.0,1e3]}`)
	f.Fuzz(func(t *testing.T, header string) {
		metadata, entries, err := parseHeader([]byte(header))
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			require.False(t, strings.ContainsAny(err.Error(), "\n\r"), "one line")
			return
		}
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(header), &all))
		if text, ok := all[metadataKey]; ok {
			var other map[string]string
			require.NoError(t, json.Unmarshal(text, &other))
			require.Len(t, metadata, len(other))
			for key, value := range other {
				require.Equal(t, value, metadata[key])
			}
			delete(all, metadataKey)
		}
		require.Len(t, entries, len(all))
		for _, e := range entries {
			var other struct {
				DType   string `json:"dtype"`
				Shape   []int  `json:"shape"`
				Offsets [2]int `json:"data_offsets"`
			}
			require.NoError(t, json.Unmarshal(all[e.name], &other))
			require.Equal(t, other.DType, e.dtype.String())
			require.Equal(t, other.Shape, e.shape)
			require.Equal(t, other.Offsets, [2]int{e.begin, e.end})
		}
	})
}
