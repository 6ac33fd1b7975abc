package winograd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	features "golang.org/x/sys/cpu"
)

// guard is what stands around every slice that a kernel writes to.
const guard = float32(-77)

// guarded is a slice of n random numbers with guard bands on both sides.
type guarded struct{ all, data []float32 }

const band = 64

func random(r *rand.Rand, n int) guarded {
	all := make([]float32, n+2*band)
	for i := range all {
		all[i] = guard
	}
	g := guarded{all, all[band : band+n : band+n]}
	for i := range g.data {
		g.data[i] = 2*r.Float32() - 1
	}
	return g
}

func (g guarded) clone() guarded {
	all := append([]float32(nil), g.all...)
	return guarded{all, all[band : len(all)-band : len(all)-band]}
}

// close requires equal guards and gaps, and values that differ by rounding only.
func (g guarded) close(t *testing.T, want guarded, tolerance float64, what string) {
	t.Helper()
	for i, w := range want.all {
		if !(math.Abs(float64(g.all[i]-w)) <= tolerance) {
			require.Failf(t, "kernel", "%s: element %d is %v, want %v", what, i-band, g.all[i], w)
		}
	}
}

func TestMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for tiles := 1; tiles <= 20; tiles++ {
			for _, in := range []int{1, 2, 3, 16, 33, 64} {
				for _, out := range []int{16, 32, 48, 64, 80, 128, 144} {
					vTile, mTile, uRow := Padded(in)+r.IntN(3), out+r.IntN(3), out+r.IntN(3)
					v, u := random(r, (tiles-1)*vTile+in), random(r, (in-1)*uRow+out)
					m := random(r, (tiles-1)*mTile+out)
					want := m.clone()
					Portable.Multiply(want.data, mTile, v.data, vTile, u.data, uRow, tiles, in, out)
					k.Multiply(m.data, mTile, v.data, vTile, u.data, uRow, tiles, in, out)
					m.close(t, want, 1e-5, fmt.Sprintf("%d tiles, %d to %d", tiles, in, out))
				}
			}
		}
	})
}

func TestInput(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, channels := range []int{16, 32, 48, 64, 144} {
			for range 4 {
				pixel, x := channels+16*r.IntN(2), r.IntN(40)
				var rows [Patch][]float32
				for y := range rows {
					rows[y] = random(r, x+7*pixel+channels).data
				}
				point := channels + 16*r.IntN(3)
				v := random(r, (Points-1)*point+channels)
				want := v.clone()
				var scratch Scratch
				Portable.Input(want.data, point, &rows, x, pixel, channels, &scratch)
				k.Input(v.data, point, &rows, x, pixel, channels, &scratch)
				v.close(t, want, 4e-5, fmt.Sprintf("%d channels", channels))
			}
		}
	})
}

func TestOutputs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, channels := range []int{16, 32, 48, 64, 144} {
			for rows := 1; rows <= Tile; rows++ {
				pixel := channels + 16*r.IntN(2)
				row := 6*pixel + r.IntN(20)
				point := channels + r.IntN(40)
				m := random(r, (Points-1)*point+channels)
				bias, slope, scale := random(r, channels), r.Float32(), r.Float32()
				var scratch Scratch

				dst := random(r, (rows-1)*row+5*pixel+channels)
				want := dst.clone()
				Portable.Activate(want.data, row, pixel, m.data, point, bias.data, slope, rows, channels, &scratch)
				k.Activate(dst.data, row, pixel, m.data, point, bias.data, slope, rows, channels, &scratch)
				dst.close(t, want, 3e-3, fmt.Sprintf("activate %d channels, %d rows", channels, rows))

				want = dst.clone()
				Portable.Update(want.data, row, pixel, want.data, row, pixel, m.data, point, scale, rows, channels, &scratch)
				k.Update(dst.data, row, pixel, dst.data, row, pixel, m.data, point, scale, rows, channels, &scratch)
				dst.close(t, want, 3e-3, fmt.Sprintf("update %d channels, %d rows", channels, rows))

				// From elsewhere, and from one pixel for all.
				src := random(r, (rows-1)*(row+3)+5*(pixel+1)+channels)
				for _, stride := range [][2]int{{row + 3, pixel + 1}, {0, 0}} {
					want = dst.clone()
					Portable.Update(want.data, row, pixel, src.data, stride[0], stride[1], m.data, point, scale, rows, channels, &scratch)
					k.Update(dst.data, row, pixel, src.data, stride[0], stride[1], m.data, point, scale, rows, channels, &scratch)
					dst.close(t, want, 3e-3, fmt.Sprintf("update from elsewhere, %d channels, %d rows", channels, rows))
				}
			}
		}
	})
}

// Every instruction set gives the bits of the loops in Go, which add the squares as a tree, and
// leaves the other channels and rows alone. Norms are about √size/√3.
func TestProject(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, size := range []int{4, 8, 16} {
			require.True(t, Projects(size))
			for _, channels := range []int{16, 32, 48, 64, 144} {
				for rows := 1; rows <= Tile; rows++ {
					pixel := channels + 16*r.IntN(2)
					row := 6*pixel + r.IntN(20)
					radius := random(r, channels)
					for c := range radius.data {
						radius.data[c] = []float32{0, 0.5, 1.2, 2.4, math.MaxFloat32}[(c/size+rows)%5]
					}
					before, dst := radius.clone(), random(r, (rows-1)*row+5*pixel+channels)
					// The first group is 0, the next one has a NaN, and one stands on the
					// sphere.
					clear(dst.data[:size])
					dst.data[pixel+3] = float32(math.NaN())
					clear(dst.data[2*pixel:][:size])
					dst.data[2*pixel+size-1] = -radius.data[0]
					want := dst.clone()
					radii, radiusRow := radius, 0
					if ProjectsMaps(size) && r.IntN(2) == 0 { // of every pixel
						radiusRow = channels + 8*r.IntN(2)
						radii = random(r, (rows-1)*radiusRow+channels)
						for y := range rows {
							for c := 0; c < channels; c += size {
								var of [Tile]float32
								for x := range of {
									of[x] = radius.data[r.IntN(channels)]
								}
								SpreadRadii(radii.data[y*radiusRow+c:][:size], &of)
							}
						}
					}
					project(want.data, row, pixel, radii.data, radiusRow, size, rows, channels)
					k.Project(dst.data, row, pixel, radii.data, radiusRow, size, rows, channels)
					for i, w := range want.all {
						got := dst.all[i]
						require.True(t, math.Float32bits(w) == math.Float32bits(got) || w != w && got != got,
							"groups of %d of %d channels, %d rows: element %d is %v, want %v", size, channels, rows, i-band, got, w)
					}
					require.Equal(t, before.all, radius.all)
				}
			}
		}
	})
}

// The loop in Go against the definition in float64: at most 1 + log₂ size roundings of
// the square of the norm, half of which reach the norm, and four more.
func TestProjectLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 17))
	for _, size := range []int{4, 8, 16} {
		for range 300 {
			v := random(r, size).data
			radius := float32(math.Sqrt(float64(size))) * r.Float32()
			square := 0.0
			for _, x := range v {
				square += float64(x) * float64(x)
			}
			scale := min(1, float64(radius)/math.Sqrt(square))
			before := append([]float32(nil), v...)
			projectGroup(v, radius)
			for i, x := range before {
				want := float64(x) * scale
				require.InDelta(t, want, v[i], 8*0x1p-24*math.Abs(want))
				if scale == 1 {
					require.Equal(t, x, v[i])
				}
			}
		}
	}
}

func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, channels := range []int{16, 32, 48, 64, 144} {
			pixel := channels + 16*r.IntN(2)
			row, point := 6*pixel+r.IntN(30), channels+16*r.IntN(3)
			src := random(r, 5*row+5*pixel+channels)
			v := random(r, (Points-1)*point+channels)
			want := v.clone()
			var scratch Scratch
			spread(want.data, point, src.data, row, pixel, channels, &scratch)
			k.Spread(v.data, point, src.data, row, pixel, channels, &scratch)
			v.close(t, want, 2e-3, fmt.Sprintf("%d channels", channels))
		}
	})
}

func TestCorrelate(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, tiles := range []int{1, 2, 7, 33} {
			for in := 1; in < 20; in++ {
				for _, out := range []int{16, 32, 48, 64, 80, 128, 144} {
					vTile, pTile, uRow := in+r.IntN(3), out+r.IntN(3), out+r.IntN(3)
					v, p := random(r, (tiles-1)*vTile+in), random(r, (tiles-1)*pTile+out)
					u := random(r, (in-1)*uRow+out)
					for _, add := range []bool{true, false} {
						want := u.clone()
						correlate(want.data, uRow, v.data, vTile, p.data, pTile, tiles, in, out, add)
						k.Correlate(u.data, uRow, v.data, vTile, p.data, pTile, tiles, in, out, add)
						u.close(t, want, 1e-5, fmt.Sprintf("%d tiles, %d to %d, add %v", tiles, in, out, add))
					}
				}
			}
		}
	})
}

// Filters are transformed as G says, to the last rounding, and the gaps between points
// stay as they were.
func TestExpand(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 14))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, channels := range []int{16, 32, 48, 64, 144} {
			taps := random(r, Taps*Taps*channels)
			point := channels + r.IntN(40)
			u := random(r, (Points-1)*point+channels)
			want := u.clone()
			for o := range channels {
				for p := range Points {
					sum := 0.0
					for t := range Taps * Taps {
						sum += filterTransform[p/Patch][t/Taps] * filterTransform[p%Patch][t%Taps] * float64(taps.data[t*channels+o])
					}
					want.data[p*point+o] = float32(sum)
				}
			}
			var scratch Scratch
			before := taps.clone()
			k.Expand(u.data, point, taps.data, channels, &scratch)
			u.close(t, want, 1.2e-7, fmt.Sprintf("%d channels", channels))
			require.Equal(t, before.all, taps.all)
		}
	})
}

// The sum of the parts is transformed by Gᵀ, to the last rounding.
func TestContract(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, channels := range []int{16, 32, 48, 64, 144} {
			for count := 1; count <= 9; count++ {
				at, point := r.IntN(50), channels+r.IntN(40)
				var parts [][]float32
				for range count {
					parts = append(parts, random(r, at+(Points-1)*point+channels).data)
				}
				taps := random(r, Taps*Taps*channels)
				want := taps.clone()
				for o := range channels {
					for t := range Taps * Taps {
						sum := 0.0
						for p := range Points {
							for _, part := range parts {
								sum += filterTransform[p/Patch][t/Taps] * filterTransform[p%Patch][t%Taps] * float64(part[at+p*point+o])
							}
						}
						want.data[t*channels+o] = float32(sum)
					}
				}
				var scratch Scratch
				k.Contract(taps.data, parts, at, point, channels, &scratch)
				taps.close(t, want, 1e-6, fmt.Sprintf("%d channels, %d parts", channels, count))
			}
		}
	})
}

// The gradient of ⟨dY, filter ∗ D⟩ with respect to the filter, over two tiles, against
// the definition in float64.
func TestFilterGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, c := range []struct{ in, out int }{{1, 1}, {3, 64}, {64, 3}, {20, 33}} {
			const tiles = 2
			in, out := Padded(c.in), Padded(c.out)
			point := tiles * max(in, out)
			v, p := make([]float32, Points*point), make([]float32, Points*point)
			var patches, gradients [tiles][]float32
			var scratch Scratch
			for t := range tiles {
				patches[t], gradients[t] = make([]float32, Points*in), make([]float32, Tile*Tile*out)
				for q := range Points {
					for i := range c.in {
						patches[t][q*in+i] = 2*r.Float32() - 1
					}
				}
				for q := range Tile * Tile {
					for o := range c.out {
						gradients[t][q*out+o] = 2*r.Float32() - 1
					}
				}
				var rows [Patch][]float32
				for y := range rows {
					rows[y] = patches[t][y*Patch*in:]
				}
				k.Input(v[t*in:], point, &rows, 0, in, in, &scratch)
				k.Spread(p[t*out:], point, gradients[t], Tile*out, out, out, &scratch)
			}
			parts := [][]float32{make([]float32, FilterSize(c.in, c.out)), make([]float32, FilterSize(c.in, c.out))}
			for q := range Points {
				for t, part := range parts {
					k.Correlate(part[q*FilterPoint(c.in, c.out):], out, v[q*point+t*in:], in, p[q*point+t*out:], out, 1, c.in, out, t == 0)
				}
			}
			dw := random(r, c.out*c.in*9).data
			const beta, scale = -0.5, 2
			var errors, energy float64
			want := make([]float64, len(dw))
			for o := range c.out {
				for i := range c.in {
					for a := range 3 {
						for b := range 3 {
							at := ((o*c.in+i)*3+a)*3 + b
							sum := 0.0
							for t := range tiles {
								for y := range Tile {
									for x := range Tile {
										sum += float64(gradients[t][(y*Tile+x)*out+o]) * float64(patches[t][((y+a)*Patch+x+b)*in+i])
									}
								}
							}
							want[at] = beta*float64(dw[at]) + scale*sum
						}
					}
				}
			}
			var memory FilterScratch
			for i := range c.in {
				k.FilterGradient(dw, parts, c.out, c.in, i, beta, scale, &memory)
			}
			for at, w := range want {
				errors += (float64(dw[at]) - w) * (float64(dw[at]) - w)
				energy += w * w
			}
			require.Less(t, errors, 1e-10*energy, "%+v", c)
			t.Logf("%+v: normalised mean squared error %.1e", c, errors/energy)
		}
	})
}

func TestLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for pixels := 1; pixels < 52; pixels++ {
			for _, channels := range []int{1, 3, 7, 8, 15, 16, 17, 24, 32, 40, 64} {
				pixel, plane := channels+r.IntN(9), pixels+r.IntN(9)
				src := random(r, (channels-1)*plane+pixels)
				dst := random(r, (pixels-1)*pixel+channels)
				want := dst.clone()
				pack(want.data, pixel, src.data, plane, pixels, channels)
				k.Pack(dst.data, pixel, src.data, plane, pixels, channels)
				require.Equal(t, want.all, dst.all, "%d pixels, %d channels", pixels, channels)
				for _, beta := range []float32{0, 1, -0.3} {
					back := random(r, (channels-1)*plane+pixels)
					want := back.clone()
					unpack(want.data, plane, dst.data, pixel, pixels, channels, beta)
					k.Unpack(back.data, plane, dst.data, pixel, pixels, channels, beta)
					back.close(t, want, 2e-7, fmt.Sprintf("%d pixels, %d channels, beta %v", pixels, channels, beta))
				}
			}
		}
	})
}

// What is not a number stays so, at least at its own pixel.
func TestActivateKeepsNaN(t *testing.T) {
	eachSet(t, func(t *testing.T, k *Kernels) {
		m := make([]float32, Points*Block)
		m[5] = float32(math.NaN())
		dst, bias := make([]float32, Tile*Tile*Block), make([]float32, Block)
		var scratch Scratch
		k.Activate(dst, Tile*Block, Block, m, Block, bias, 0.5, Tile, Block, &scratch)
		for i, v := range dst {
			if i%Block == 5 && i < Block {
				require.True(t, math.IsNaN(float64(v)))
			}
			if i%Block != 5 {
				require.Zero(t, v, "element %d", i)
			}
		}
	})
}

// One tile against the definition of a convolution, in float64.
func TestTileIsConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	eachSet(t, func(t *testing.T, k *Kernels) {
		for _, c := range []struct{ in, out int }{{1, 1}, {3, 64}, {64, 64}, {20, 5}} {
			w := random(r, c.out*c.in*9).data
			in, out := Padded(c.in), Padded(c.out)
			patch := make([]float32, Points*in)
			for p := range Points {
				for i := range c.in {
					patch[p*in+i] = 2*r.Float32() - 1
				}
			}
			var rows [Patch][]float32
			for y := range rows {
				rows[y] = patch[y*Patch*in:]
			}
			var scratch Scratch
			v, m := make([]float32, Points*in), make([]float32, Points*out)
			k.Input(v, in, &rows, 0, in, in, &scratch)
			for _, adjoint := range []bool{false, true} {
				u := make([]float32, FilterSize(c.in, c.out))
				var memory FilterScratch
				for i := range c.in {
					if adjoint {
						k.TransformAdjoint(u, w, c.out, c.in, i, &memory)
					} else {
						k.TransformFilter(u, w, c.out, c.in, i, &memory)
					}
				}
				for p := range Points {
					k.Multiply(m[p*out:], out, v[p*in:], in, u[p*FilterPoint(c.in, c.out):], out, 1, c.in, out)
				}
				dst := make([]float32, Tile*Tile*out)
				k.Activate(dst, Tile*out, out, m, out, make([]float32, out), 1, Tile, out, &scratch)
				var errors, energy float64
				for y := range Tile {
					for x := range Tile {
						for o := range c.out {
							want := 0.0
							for i := range c.in {
								for a := range 3 {
									for b := range 3 {
										tap := w[((o*c.in+i)*3+a)*3+b]
										if adjoint {
											tap = w[((i*c.out+o)*3+2-a)*3+2-b]
										}
										want += float64(tap) * float64(patch[((y+a)*Patch+x+b)*in+i])
									}
								}
							}
							got := float64(dst[(y*Tile+x)*out+o])
							errors += (got - want) * (got - want)
							energy += want * want
						}
					}
				}
				require.Less(t, errors, 1e-10*energy, "%+v, adjoint %v", c, adjoint)
			}
		}
	})
}

// eachSet runs a test with every instruction set that this processor and this build have.
func eachSet(t *testing.T, test func(t *testing.T, k *Kernels)) {
	x86 := &features.X86
	for _, s := range []struct {
		name    string
		has     bool
		kernels *Kernels
	}{
		{"portable", true, Portable},
		{"avx2", x86.HasAVX2 && x86.HasFMA, AVX2},
		{"avx512", x86.HasAVX512F && x86.HasAVX512DQ && x86.HasAVX512VL, AVX512},
		{"neon", true, NEON},
	} {
		if s.has && s.kernels != nil {
			t.Run(s.name, func(t *testing.T) { test(t, s.kernels) })
		}
	}
}
