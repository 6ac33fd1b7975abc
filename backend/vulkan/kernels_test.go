package vulkan

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/selftest"
)

// Every kernel of 3×3 and 1×1 convolutions, at the shapes that change how it works: beside the tiles of workgroups,
// with fewer channels than it takes at a time, with outputs that fill no group, in regions that begin
// anywhere, with and without balls.
func TestKernelsAgreeWithThePlainLoop(t *testing.T) {
	need(t)
	d := open(t)
	defer shut(t, d)
	for _, c := range []struct{ size, height, width, known, inputs, outputs, group int }{
		{3, 16, 16, 64, 64, 64, 8}, // whole workgroups
		{3, 17, 33, 12, 64, 64, 8}, // the first step of a network
		{3, 1, 1, 9, 9, 9, 0},
		{3, 2, 35, 13, 13, 24, 4},
		{3, 19, 5, 32, 32, 32, 8},
		{3, 9, 18, 16, 16, 12, 2},
		{3, 21, 20, 9, 10, 40, 0},
		{1, 11, 37, 20, 20, 40, 8},
		{1, 34, 6, 5, 7, 9, 3},
		{1, 4, 4, 1, 2, 3, 0},
	} {
		what := fmt.Sprintf("%+v", c)
		p := &selftest.Arrays{Device: d}
		s := backend.Shape{N: 2, C: c.known, H: c.height, W: c.width}
		to := s
		to.C = c.outputs
		src, dst, w := p.Numbers(s), p.Numbers(s), p.Numbers(backend.Shape{N: c.outputs, C: c.inputs, H: c.size, W: c.size})
		step := backend.FlowStep{Size: 0.5}
		if c.group > 0 {
			step.Radius = p.Clipped(p.Numbers(backend.Shape{N: 2, C: c.outputs / c.group, H: c.height, W: c.width}))
		} else {
			step.Bias, step.Activation = p.Numbers(backend.Vector(c.outputs)), backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}
		}
		require.NoError(t, p.Err, what)
		f, err := d.NewFilter(w)
		require.NoError(t, err, what)
		step.Filter = f
		region := backend.Region{Y0: c.height / 5, Y1: c.height - c.height/7, X0: c.width / 7, X1: c.width - c.width/6}
		require.NoError(t, d.GradientFlow(context.Background(), dst, src, region, []backend.FlowStep{step}), what)
		down := func(b backend.Buffer) []float32 {
			if b == nil {
				return nil
			}
			v := make([]float32, b.Shape().Len())
			require.NoError(t, d.Download(v, b), what)
			return v
		}
		want := plainStep(s, c.size, c.inputs, c.outputs, c.group, down(src), down(w), down(step.Bias), down(step.Radius), step.Size)
		got := down(dst)
		var a, b []float32
		for i := range got {
			if y, x := i/s.W%s.H, i%s.W; y >= region.Y0 && y < region.Y1 && x >= region.X0 && x < region.X1 {
				a, b = append(a, got[i]), append(b, want[i])
			}
		}
		require.NotEmpty(t, a, what)
		require.InDeltaSlice(t, b, a, 2e-4, what)
		require.NoError(t, selftest.Differs(what, a, b))
		f.Free()
		p.Free()
	}
}

// plainStep is z − size·Aᵀσ(Az + b), or with the projection of Az in place of σ, in float64 and by the
// definition, of z padded with zero channels.
func plainStep(s backend.Shape, size, inputs, outputs, group int, z, w, bias, radius []float32, step float32) []float32 {
	out := make([]float32, len(z))
	hidden := make([]float64, outputs*s.Plane())
	// taps calls f for the pixels around one, with the number of the tap.
	taps := func(y, x int, f func(pixel, tap int)) {
		for r := range size {
			for q := range size {
				if v, u := y+r-size/2, x+q-size/2; v >= 0 && v < s.H && u >= 0 && u < s.W {
					f(v*s.W+u, size*r+q)
				}
			}
		}
	}
	for n := range s.N {
		image := z[n*s.C*s.Plane():]
		for i := range s.Plane() {
			for o := range outputs {
				sum := 0.0
				for c := range s.C {
					taps(i/s.W, i%s.W, func(pixel, tap int) {
						sum += float64(w[(o*inputs+c)*size*size+tap]) * float64(image[c*s.Plane()+pixel])
					})
				}
				if bias != nil {
					if sum += float64(bias[o]); sum < 0 {
						sum *= 0.1
					}
				}
				hidden[o*s.Plane()+i] = sum
			}
			for first := 0; group > 0 && first < outputs; first += group {
				v := make([]float64, group)
				for k := range v {
					v[k] = hidden[(first+k)*s.Plane()+i]
				}
				project(v, float64(radius[(n*outputs/group+first/group)*s.Plane()+i]))
				for k := range v {
					hidden[(first+k)*s.Plane()+i] = v[k]
				}
			}
		}
		for i := range s.Plane() {
			for c := range s.C {
				sum := 0.0
				for o := range outputs {
					taps(i/s.W, i%s.W, func(pixel, tap int) { // the adjoint goes through the taps backwards
						sum += float64(w[(o*inputs+c)*size*size+size*size-1-tap]) * hidden[o*s.Plane()+pixel]
					})
				}
				out[(n*s.C+c)*s.Plane()+i] = float32(float64(image[c*s.Plane()+i]) - float64(step)*sum)
			}
		}
	}
	return out
}

// project projects a vector onto the ball.
func project(v []float64, radius float64) {
	norm := 0.0
	for _, x := range v {
		norm = math.Hypot(norm, x)
	}
	if norm > radius {
		for k := range v {
			v[k] *= radius / norm
		}
	}
}
