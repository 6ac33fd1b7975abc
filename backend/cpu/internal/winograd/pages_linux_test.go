package winograd

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// enclosed returns a function that makes slices of up to most floats, with a page
// that must not be touched right after them or right before them.
func enclosed(t *testing.T, most int, atEnd bool) func(n int) []float32 {
	page := syscall.Getpagesize()
	pages := (4*most+page-1)/page + 2
	memory, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(memory)) })
	require.NoError(t, syscall.Mprotect(memory[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(memory[(pages-1)*page:], syscall.PROT_NONE))
	return func(n int) []float32 {
		from := page
		if atEnd {
			from = (pages-1)*page - 4*n
		}
		return unsafe.Slice((*float32)(unsafe.Pointer(&memory[from])), n)
	}
}

// No kernel reads beyond its slices: the pages around them are closed, so that a
// read would end the test program.
func TestKernelsReadNoOtherPage(t *testing.T) {
	const most = 1 << 14
	for _, atEnd := range []bool{true, false} {
		first, second, third := enclosed(t, most, atEnd), enclosed(t, most, atEnd), enclosed(t, most, atEnd)
		var patches [Patch]func(n int) []float32
		for y := range patches {
			patches[y] = enclosed(t, most/Patch, atEnd)
		}
		eachSet(t, func(t *testing.T, k *Kernels) {
			for tiles := 1; tiles <= 14; tiles++ {
				for _, in := range []int{1, 2, 3, 5, 16, 18} {
					for _, out := range []int{16, 48, 80} {
						k.Multiply(first((tiles-1)*out+out), out, second((tiles-1)*in+in), in, third((in-1)*out+out), out, tiles, in, out)
					}
				}
			}
			var scratch Scratch
			for _, channels := range []int{16, 48} {
				pixel, point := channels+1, channels+3
				var rows [Patch][]float32
				for y := range rows {
					rows[y] = patches[y](5 + 7*pixel + channels)
				}
				points := second((Points-1)*point + channels)
				k.Input(points, point, &rows, 5, pixel, channels, &scratch)
				for n := 1; n <= Tile; n++ {
					dst := first((n-1)*Tile*pixel + 5*pixel + channels)
					k.Activate(dst, Tile*pixel, pixel, points, point, third(channels), 0.5, n, channels, &scratch)
					k.Update(dst, Tile*pixel, pixel, third(5*pixel+channels), 0, pixel, points, point, 0.5, n, channels, &scratch)
					for _, size := range []int{4, 8, 16} {
						k.Project(dst, Tile*pixel, pixel, third(channels), 0, size, n, channels)
						if ProjectsMaps(size) {
							k.Project(dst, Tile*pixel, pixel, third(n*channels), channels, size, n, channels)
						}
					}
				}
			}
			for tiles := 1; tiles <= 3; tiles++ {
				for in := 1; in <= 14; in++ {
					for _, out := range []int{16, 48, 80} {
						for _, add := range []bool{false, true} {
							k.Correlate(first((in-1)*out+out), out, second((tiles-1)*in+in), in, third((tiles-1)*out+out), out, tiles, in, out, add)
						}
					}
				}
			}
			for _, channels := range []int{16, 48} {
				pixel, point := channels+1, channels+3
				k.Spread(first((Points-1)*point+channels), point, second(5*7*pixel+5*pixel+channels), 7*pixel, pixel, channels, &scratch)
			}
			for _, channels := range []int{16, 48} {
				point := channels + 3
				taps, points := first(Taps*Taps*channels), second((Points-1)*point+channels)
				k.Expand(points, point, taps, channels, &scratch)
				k.Contract(taps, [][]float32{points, third(len(points))}, 0, point, channels, &scratch)
			}
			for pixels := 1; pixels <= 40; pixels++ {
				for _, channels := range []int{1, 3, 8, 16, 21} {
					plane, pixel := pixels+1, channels+1
					planes, inside := first((channels-1)*plane+pixels), second((pixels-1)*pixel+channels)
					k.Pack(inside, pixel, planes, plane, pixels, channels)
					k.Unpack(planes, plane, inside, pixel, pixels, channels, 0)
					k.Unpack(planes, plane, inside, pixel, pixels, channels, 0.5)
				}
			}
		})
	}
}
