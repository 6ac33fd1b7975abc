package deblur

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
)

// scene is a picture of h×w samples with the statistics of a photograph: disks of
// random grey, one in front of the other, the small ones more frequent (dead leaves).
func scene(h, w int) []float32 {
	x := make([]float32, h*w)
	random := rand.New(rand.NewPCG(1, 2))
	for range h * w / 20 {
		cy, cx, grey := random.Float64()*float64(h), random.Float64()*float64(w), random.Float32()
		r := 3 / math.Sqrt(random.Float64()+.01)
		for y := max(0, int(cy-r)); y < min(h, int(cy+r)); y++ {
			for j := max(0, int(cx-r)); j < min(w, int(cx+r)); j++ {
				if math.Hypot(float64(y)-cy, float64(j)-cx) < r {
					x[y*w+j] = grey
				}
			}
		}
	}
	return x
}

func meanSquare(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]-b[i]) * float64(a[i]-b[i])
	}
	return sum / float64(len(a))
}

// The estimate is nearer to the scene than the blurred photograph, at every boundary
// and at sizes with large prime factors, and its error where the frame ends is of the same order.
func TestWienerSharpens(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	const sigma = .01
	for name, k := range map[string]Kernel{
		"motion": made(t)(Motion(9, 20)), "shake": made(t)(Shake(11, 5)), "even": made(t)(NewKernel([]float32{1, 1, 1, 1, 1, 1, 1, 1}, 2, 4)),
	} {
		for b := Unknown; b <= Reflect; b++ {
			for i, size := range [][2]int{{90, 96}, {97, 113}, {64, 211}} {
				if testing.Short() && i != 1 {
					continue // long under emulation; go test ./... has all sizes
				}
				o, err := New(dev, k, b, size[0], size[1])
				require.NoError(t, err)
				dh, dw := o.Domain()
				truth := scene(dh, dw)
				x, err := dev.Alloc(backend.Image(1, dh, dw))
				require.NoError(t, err)
				y, err := dev.Alloc(backend.Image(1, size[0], size[1]))
				require.NoError(t, err)
				n, _ := devicetest.Noise(t, dev, 1, size[0], size[1], 9)
				require.NoError(t, dev.Upload(x, truth))
				require.NoError(t, o.Apply(y, x))
				require.NoError(t, dev.LinearCombination(y, backend.Term{A: 1, X: y}, backend.Term{A: sigma, X: n}))
				photograph := devicetest.Download(t, dev, y)

				nsr := NoiseToSignal(photograph, len(photograph), sigma)
				require.NoError(t, o.Wiener(x, y, nsr))
				estimate := devicetest.Download(t, dev, x)
				cropped, inFrame := make([]float32, len(photograph)), make([]float32, len(photograph))
				require.NoError(t, o.Crop(cropped, estimate))
				require.NoError(t, o.Crop(inFrame, truth))
				blurred, sharpened := meanSquare(photograph, inFrame), meanSquare(cropped, inFrame)
				require.Less(t, sharpened, .5*blurred, "%s, %v, %v", name, b, size)
				var near, samples float64
				for i := range cropped {
					y, x := i/size[1], i%size[1]
					if min(y, x, size[0]-1-y, size[1]-1-x) < 6 {
						near += math.Pow(float64(cropped[i]-inFrame[i]), 2)
						samples++
					}
				}
				require.Less(t, near/samples, 3*sharpened, "%s, %v, %v: ringing at the frame", name, b, size)
				o.Free()
			}
		}
	}
}

// Without blur and with little noise the estimate is the photograph.
func TestWienerOfNoBlur(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	for b := Unknown; b <= Reflect; b++ {
		for _, size := range [][2]int{{1, 1}, {1, 30}, {17, 1}, {24, 31}} {
			o, err := New(dev, made(t)(Box(1)), b, size[0], size[1])
			require.NoError(t, err)
			x, err := dev.Alloc(backend.Image(3, size[0], size[1]))
			require.NoError(t, err)
			y, want := devicetest.Noise(t, dev, 3, size[0], size[1], 1)
			require.NoError(t, o.Wiener(x, y, 1e-9))
			for i, v := range devicetest.Download(t, dev, x) {
				require.InDelta(t, want[i], v, 1e-4, "%v %v", b, size)
			}
			o.Free()
		}
	}
}

func TestNoiseToSignal(t *testing.T) {
	require.Equal(t, 1e6, NoiseToSignal([]float32{.5, .5, .5}, 3, .1), "no signal at all")
	require.Equal(t, 1e-6, NoiseToSignal([]float32{0, 1}, 2, 0))
	require.InDelta(t, .01/.24, NoiseToSignal([]float32{0, 1, 5, 6}, 2, .1), 1e-9, "planes have means of their own")
	require.Equal(t, 1e6, NoiseToSignal(nil, 0, 0))
}
