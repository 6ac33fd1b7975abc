package vulkan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// Products have the bits of IEEE 754, of every kind of number, also on devices that know no subnormal
// ones.
func TestProductsOfAllKindsOfNumbers(t *testing.T) {
	need(t)
	d := open(t)
	defer shut(t, d)
	random := rand.New(rand.NewPCG(1, 2))
	var x, y []float32
	number := func() float32 {
		bits := random.Uint32()
		switch random.IntN(4) {
		case 0:
			bits &= 0x807fffff // subnormal, or zero
		case 1:
			bits = bits&0x807fffff | uint32(random.IntN(60))<<23
		case 2:
			bits &= 0xff800000 >> random.IntN(24) // few bits: ties
		}
		return math.Float32frombits(bits)
	}
	for range 200_000 {
		x, y = append(x, number()), append(y, number())
	}
	for _, a := range []float64{0, math.Copysign(0, -1), 1, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, 0.5} {
		for _, b := range []float64{0, 1, -0.5, math.SmallestNonzeroFloat32, 3 * math.SmallestNonzeroFloat32, 0x1p-126, math.Inf(1), math.NaN(), 0x1p127} {
			x, y = append(x, float32(a)), append(y, float32(b))
		}
	}
	s := backend.Vector(len(x))
	var b [3]backend.Buffer
	for i := range b {
		var err error
		b[i], err = d.Alloc(s)
		require.NoError(t, err)
	}
	require.NoError(t, d.Upload(b[0], x))
	require.NoError(t, d.Upload(b[1], y))
	require.NoError(t, d.Multiply(b[2], b[0], b[1]))
	got := make([]float32, len(x))
	require.NoError(t, d.Download(got, b[2]))
	for i := range x {
		want := x[i] * y[i]
		if math.Float32bits(got[i]) != math.Float32bits(want) && (got[i] == got[i] || want == want) {
			t.Fatalf("%x·%x is %x, want %x", math.Float32bits(x[i]), math.Float32bits(y[i]), math.Float32bits(got[i]), math.Float32bits(want))
		}
	}
}
