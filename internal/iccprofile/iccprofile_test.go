package iccprofile

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tags reads the table of a profile. It requires that all data are inside, behind the table, and at multiples of four.
func tags(t require.TestingT, profile []byte) map[string][]byte {
	require.Equal(t, uint32(len(profile)), binary.BigEndian.Uint32(profile))
	n := int(binary.BigEndian.Uint32(profile[128:]))
	all := map[string][]byte{}
	for i := range n {
		entry := profile[132+12*i:]
		at, size := int(binary.BigEndian.Uint32(entry[4:])), int(binary.BigEndian.Uint32(entry[8:]))
		require.Zero(t, at%4)
		require.GreaterOrEqual(t, at, 132+12*n)
		all[string(entry[:4])] = profile[at : at+size]
	}
	return all
}

// fixed reads the numbers of a tag, s15Fixed16, behind its first bytes.
func fixed(tag []byte, begin int) (v []float64) {
	for b := tag[begin:]; len(b) >= 4; b = b[4:] {
		v = append(v, float64(int32(binary.BigEndian.Uint32(b)))/65536)
	}
	return v
}

// The fields of sRGB's profile are the published ones: colours for a white of D50 by the Bradford transform, and the curve of
// IEC 61966-2-1.
func TestFieldsOfSRGB(t *testing.T) {
	p, ok := SRGB.Profile(3)
	require.True(t, ok)
	require.Equal(t, "RGB ", Space(p))
	require.Equal(t, []byte{4, 0x40, 0, 0}, p[8:12])
	require.Equal(t, "mntrRGB XYZ ", string(p[12:24]))
	require.Equal(t, "acsp", string(p[36:40]))
	all := tags(t, p)
	for name, want := range map[string][]float64{
		"rXYZ": {0.4360, 0.2225, 0.0139}, "gXYZ": {0.3851, 0.7169, 0.0971}, "bXYZ": {0.1431, 0.0606, 0.7141}, "wtpt": {0.9642, 1, 0.8249},
		"chad": {1.0478, 0.0229, -0.0501, 0.0296, 0.9905, -0.0171, -0.0092, 0.0151, 0.7517},
	} {
		require.InDeltaSlice(t, want, fixed(all[name], 8), 4e-4, name)
	}
	require.Equal(t, []byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), all["rTRC"][:12])
	require.InDeltaSlice(t, []float64{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045}, fixed(all["rTRC"], 12), 1e-5)
	require.Same(t, &all["rTRC"][0], &all["bTRC"][0], "equal curves are stored once")
}

// Every coded colour space becomes a profile that names its code, whose colours add up to its white, and whose curve is in order.
func TestCodedProfiles(t *testing.T) {
	for primaries := range codedPrimaries {
		for transfer := range codedTransfers {
			code := []byte{primaries, transfer, 0, 1}
			s, known := Coded(code)
			require.True(t, known)
			p, ok := s.Profile(3)
			require.True(t, ok)
			all := tags(t, p)
			require.Equal(t, append([]byte("cicp\x00\x00\x00\x00"), code...), all["cicp"])
			var sum [3]float64
			for _, name := range []string{"rXYZ", "gXYZ", "bXYZ"} {
				for i, v := range fixed(all[name], 8) {
					sum[i] += v
				}
			}
			require.InDeltaSlice(t, d50[:], sum[:], 1e-4)
			if s.HighRange() {
				curve := all["gTRC"][12:]
				require.Len(t, curve, 2*4096)
				for i := 2; i < len(curve); i += 2 {
					require.LessOrEqual(t, binary.BigEndian.Uint16(curve[i-2:]), binary.BigEndian.Uint16(curve[i:]))
				}
			}
			grey, ok := s.Profile(1)
			require.True(t, ok)
			require.Equal(t, "GRAY", Space(grey))
			require.Contains(t, tags(t, grey), "kTRC")
		}
	}
}

// The curves are those of their standards at points that those give.
func TestCurves(t *testing.T) {
	require.InDelta(t, 92.2457/10000, perceptualQuantiser(0.5), 1e-6)
	require.InDelta(t, 1, perceptualQuantiser(1), 1e-12)
	require.Zero(t, perceptualQuantiser(0))
	require.InDelta(t, 1./12, hybridLogGamma(0.5), 1e-12)
	require.InDelta(t, 1, hybridLogGamma(1), 1e-6)
	for code, s := range codedTransfers { // both branches of a curve meet
		if s.c != 0 {
			require.InDelta(t, s.c*s.d, math.Pow(s.a*s.d+s.b, s.g), 2e-4, code)
		}
	}
}

func TestLikeSRGB(t *testing.T) {
	require.True(t, SRGB.LikeSRGB())
	for code, want := range map[[2]byte]bool{{1, 13}: true, {1, 4}: true, {1, 1}: false, {9, 13}: false, {1, 16}: false} {
		s, known := Coded([]byte{code[0], code[1], 0, 1})
		require.True(t, known)
		require.Equal(t, want, s.LikeSRGB(), code)
	}
}

// Whatever numbers a file has, there is a profile of sound bytes or none.
func TestHostileNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1)}))
		colour := func(name string) Chromaticity {
			return Chromaticity{number.Draw(t, name+" x"), number.Draw(t, name+" y")}
		}
		s := ColourSpace{
			Primaries: Primaries{colour("red"), colour("green"), colour("blue"), colour("white")},
			Transfer:  Gamma(number.Draw(t, "gamma")),
		}
		s.LikeSRGB()
		if p, ok := s.Profile(rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")); ok {
			require.Less(t, len(p), 1000)
			tags(t, p)
		}
	})
}

// A profile is known by its name, in ASCII or UTF-16; what this package makes is named by its numbers.
func TestIsSRGB(t *testing.T) {
	require.True(t, IsSRGB([]byte("desc\x00sRGB IEC61966-2.1")))
	require.True(t, IsSRGB([]byte("mluc\x00s\x00R\x00G\x00B\x00 ")))
	require.False(t, IsSRGB([]byte("Adobe RGB (1998)")))
	require.False(t, IsSRGB(nil))
	for _, code := range [][]byte{{1, 13, 0, 1}, {9, 16, 0, 1}} {
		s, _ := Coded(code)
		p, ok := s.Profile(3)
		require.True(t, ok)
		require.False(t, IsSRGB(p))
	}
}

// What no profile can say is known to be so, and has none: other matrices and ranges, codes that are not listed, and primaries
// on one line.
func TestWhatNoProfileSays(t *testing.T) {
	for _, code := range [][]byte{nil, {1, 13, 0}, {1, 13, 0, 1, 0}, {1, 13, 1, 1}, {1, 13, 0, 0}, {2, 13, 0, 1}, {10, 13, 0, 1}, {1, 2, 0, 1}, {1, 9, 0, 1}, {1, 17, 0, 1}} {
		_, known := Coded(code)
		require.False(t, known, code)
	}
	for name, p := range map[string]Primaries{
		"none":        {},
		"no white":    {sRGBPrimaries.Red, sRGBPrimaries.Green, sRGBPrimaries.Blue, Chromaticity{}},
		"on one line": {Chromaticity{0.2, 0.2}, Chromaticity{0.3, 0.3}, Chromaticity{0.4, 0.4}, whiteD65},
	} {
		_, ok := ColourSpace{Primaries: p, Transfer: sRGBTransfer}.Profile(3)
		require.False(t, ok, name)
	}
}

func FuzzSpace(f *testing.F) {
	p, _ := SRGB.Profile(3)
	f.Add(p)
	f.Add(p[:127])
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := Space(data); s != "" {
			require.Equal(t, string(data[16:20]), s)
		}
		IsSRGB(data)
		if s, known := Coded(data); known {
			_, ok := s.Profile(3)
			require.True(t, ok)
		}
	})
}
