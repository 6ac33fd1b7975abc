package winograd

// Projects tells whether Kernels.Project takes groups of this size.
func Projects(size int) bool { return size == 4 || size == 8 || size == Block }

// projections are kernels for groups of 4, 8 and 16 channels.
type projections [3]func(dst *float32, row, pixel int, radius *float32, rows, channels int)

func (p projections) project(dst []float32, row, pixel int, radius []float32, size, rows, channels int) {
	kernel := p[0]
	switch size {
	case 8:
		kernel = p[1]
	case Block:
		kernel = p[2]
	}
	kernel(&dst[0], row, pixel, &radius[0], rows, channels)
}
