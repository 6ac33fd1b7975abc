package fft

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/instructionset"
	"github.com/averaged/imaging/internal/parallel"
)

// vectorKernels are those of the instruction sets that this processor and this build have.
func vectorKernels() map[string]*Kernels {
	sets := map[string]*Kernels{}
	for _, s := range instructionset.All() {
		if s != instructionset.Portable {
			sets[s.String()] = kernelsOf(s)
		}
	}
	return sets
}

// New takes the kernels of the instruction set that is asked for, and says so where it is not there.
func TestNewTakesTheSelectedKernels(t *testing.T) {
	for _, s := range instructionset.All() {
		t.Setenv(instructionset.Variable, s.String())
		p, err := New(3, 4)
		require.NoError(t, err)
		require.NotNil(t, p.kernels)
		require.Same(t, kernelsOf(s), p.kernels)
	}
	t.Setenv(instructionset.Variable, "abacus")
	_, err := New(3, 4)
	require.ErrorContains(t, err, "abacus")
}

// guarded is n records of random numbers, zeros of both signs and infinities among them, in an
// array with a record before and behind that nobody may touch.
func guarded(n int, seed uint64) (all, records []record) {
	r := rand.New(rand.NewPCG(seed, 3))
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-42, 3e38}
	all = make([]record, n+2)
	for j := range all {
		for i := range all[j] {
			all[j][i] = r.Float32()*2 - 1
			if r.IntN(50) == 0 {
				all[j][i] = special[r.IntN(len(special))]
			}
		}
	}
	return all, all[1 : n+1]
}

// sameBits compares numbers by their bits; all that are no numbers are alike.
func sameBits(t *testing.T, want, got []record) {
	for j := range want {
		for i := range want[j] {
			a, b := want[j][i], got[j][i]
			if math.Float32bits(a) != math.Float32bits(b) && !(a != a && b != b) {
				require.Failf(t, "not the same", "record %d, number %d: %v, must be %v", j-1, i, b, a)
			}
		}
	}
}

// Stages of every radix have the bits of plain Go, for one block and several, of one butterfly and
// several, and change nothing beside them.
func TestKernelsHaveTheBitsOfPlainGo(t *testing.T) {
	for name, k := range vectorKernels() {
		for radix := 2; radix <= largestOwn; radix++ {
			for _, blocks := range []int{1, 2, 7} {
				for _, m := range []int{1, 2, 3, 16, 25} {
					var twiddle []float32
					for p := range m {
						for j := 1; j < radix; j++ {
							c, s := root(p*j, radix*m)
							twiddle = append(twiddle, c, -s)
						}
					}
					for i, f := range []func(*Kernels) func(*record, int, int, *float32){
						func(k *Kernels) func(*record, int, int, *float32) { return k.forward[radix] },
						func(k *Kernels) func(*record, int, int, *float32) { return k.inverse[radix] },
					} {
						t.Run(fmt.Sprintf("%s/radix %d, %d blocks of %d, %d", name, radix, blocks, m, i), func(t *testing.T) {
							want, w := guarded(blocks*m*radix, uint64(radix*m+blocks))
							got, g := guarded(blocks*m*radix, uint64(radix*m+blocks))
							f(Portable)(&w[0], blocks, m, &twiddle[0])
							f(k)(&g[0], blocks, m, &twiddle[0])
							sameBits(t, want, got)
						})
					}
				}
			}
		}
		for _, n := range []int{1, 2, 9} {
			filter, by := guarded(n, 8)
			want, w := guarded(n, 9)
			got, g := guarded(n, 9)
			Portable.multiply(&w[0], &by[0], n)
			k.multiply(&g[0], &by[0], n)
			sameBits(t, want, got)
			Portable.multiplyConjugate(&w[0], &by[0], n)
			k.multiplyConjugate(&g[0], &by[0], n)
			sameBits(t, want, got)
			untouched, _ := guarded(n, 8)
			sameBits(t, untouched, filter)
		}
	}
}

// What turns rows into records and back, and tells the spectra of two rows apart, has the bits of plain
// Go, at any number of blocks and distance of rows, and changes nothing beside its result.
func TestTurningHasTheBitsOfPlainGo(t *testing.T) {
	for name, k := range vectorKernels() {
		for _, blocks := range []int{1, 2, 5} {
			for _, beyond := range []int{0, 1, 7, 16} {
				for _, half := range []int{0, lanes} {
					stride, n := lanes*blocks+beyond, lanes*blocks
					// Rows as records are just numbers in memory.
					recordsOfRows := (lanes*stride + 2*lanes - 1) / (2 * lanes)
					for i, turn := range []func(k *Kernels, line, rows *float32){
						func(k *Kernels, line, rows *float32) { k.interleave(line, rows, stride, blocks) },
						func(k *Kernels, line, rows *float32) { k.deinterleave(rows, line, stride, blocks) },
					} {
						wantLine, w := guarded(n, 1)
						gotLine, g := guarded(n, 1)
						wantRows, v := guarded(recordsOfRows, 2)
						gotRows, h := guarded(recordsOfRows, 2)
						turn(Portable, &w[0][half], &v[0][0])
						turn(k, &g[0][half], &h[0][0])
						sameBits(t, wantLine, gotLine)
						sameBits(t, wantRows, gotRows)
						changed, _ := guarded(n, 1)
						require.Equal(t, i == 0, changed[1] != wantLine[1], "%s turns the wrong way", name)
					}
				}
			}
		}
		for seed := range uint64(5) {
			const n = 40
			places := rand.New(rand.NewPCG(seed, 4)).Perm(n)[:2*lanes]
			for i := range places {
				places[i] *= 4 * 2 * lanes
			}
			for _, move := range []func(k *Kernels, block, line *record){
				func(k *Kernels, block, line *record) { k.separate(block, line, &places[0]) },
				func(k *Kernels, block, line *record) { k.combine(line, block, &places[0]) },
			} {
				wantLine, w := guarded(n, seed+10)
				gotLine, g := guarded(n, seed+10)
				wantBlock, v := guarded(2*lanes, seed+20)
				gotBlock, h := guarded(2*lanes, seed+20)
				move(Portable, &v[0], &w[0])
				move(k, &h[0], &g[0])
				sameBits(t, wantLine, gotLine)
				sameBits(t, wantBlock, gotBlock)
			}
		}
	}
}

// Turning puts every sample where it belongs, and back.
func TestTurning(t *testing.T) {
	for _, n := range []int{1, 5, lanes, 2*lanes + 3} {
		stride := n + 2
		rows := random(lanes*stride, 6)
		line := make([]record, n)
		interleaveSamples(&line[0][lanes], &rows[0], stride, n)
		for x := range n {
			for i := range lanes {
				require.Equal(t, rows[i*stride+x], line[x][lanes+i])
				require.Zero(t, line[x][i])
			}
		}
		back := make([]float32, lanes*stride)
		deinterleaveSamples(&back[0], &line[0][lanes], stride, n)
		for i, v := range back {
			if i%stride >= n {
				require.Zero(t, v)
				continue
			}
			require.Equal(t, rows[i], v)
		}
	}
}

// Whole transforms have the same bits with all instruction sets.
func TestTransformsHaveTheBitsOfPlainGo(t *testing.T) {
	pool := parallel.New(2)
	defer pool.Close()
	for name, k := range vectorKernels() {
		for _, s := range sizes {
			h, w := s[0], s[1]
			image := random(h*w, 5)
			transformed := func(k *Kernels) []float32 {
				p, err := NewWith(k, h, w)
				require.NoError(t, err)
				spectrum, err := p.Forward(pool, image)
				require.NoError(t, err)
				out := make([]float32, h*w)
				require.NoError(t, spectrum.Inverse(pool, out))
				return out
			}
			require.Equal(t, transformed(Portable), transformed(k), "%s, %d×%d", name, h, w)
		}
	}
}
