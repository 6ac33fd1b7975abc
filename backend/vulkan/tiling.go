package vulkan

import (
	"github.com/averaged/imaging/internal/dispatch"
	"github.com/averaged/imaging/internal/mempool"
)

// sharedBytes is how much shared memory the largest workgroup needs.
const sharedBytes = 24 << 10

// Shaders implements dispatch.GPU.
func (g *gpu) Shaders() dispatch.Shaders {
	return dispatch.Shaders{
		Float64: g.Float64, Alignment: mempool.Granule / 4, Operations: g.stream.most, Half: g.precision == Half, Tiling: g.tiling,
	}
}

// tiling chooses the shader of a filter.
func (g *gpu) tiling(outputs, kh, kw int) dispatch.Tiling {
	if kh != kw || kh != 1 && kh != 3 {
		return dispatch.Tiling{Shader: "convolve", Rows: 8, Columns: 32, Outputs: 8}
	}
	blocks := 4
	switch {
	case outputs <= 8:
		blocks = 1
	case outputs <= 16:
		blocks = 2
	}
	if kh == 1 {
		return direct(blocks, 1, 4*blocks)
	}
	t := direct(blocks, 3, 4)
	if g.precision == Half {
		t.Shader, t.Half = "directhalf", true
	}
	return t
}

// direct is the tiling of kernels/direct.comp with these constants.
func direct(blocks, size, chunk int) dispatch.Tiling {
	const pixels = 4 // of a thread
	return dispatch.Tiling{
		Shader: "direct", Constants: []uint32{uint32(blocks), uint32(size), uint32(chunk)},
		Rows: dispatch.GroupThreads / blocks * pixels / 32, Columns: 32, Outputs: 8 * blocks,
	}
}
