package winograd

// Projects tells whether Kernels.Project takes groups of this size.
func Projects(size int) bool { return size == 4 || size == 8 || size == Block }

// ProjectsMaps tells whether Kernels.Project takes radii of every pixel for them.
func ProjectsMaps(size int) bool { return size == 8 || size == Block }

// radiusPixel says of which of a row's pixels the radius at each of eight channels is: the
// kernels compute the norms of a row's pixels together, in this order.
var radiusPixel = [8]int{0, 1, 2, 3, 4, 4, 5, 5}

// radiusLane is where the radius of each pixel of a row is.
var radiusLane = [Tile]int{0, 1, 2, 3, 4, 6}

// SpreadRadii sets dst, of the length of a group of channels, to the radii of the pixels of a
// row of a tile as Kernels.Project wants them.
func SpreadRadii(dst []float32, row *[Tile]float32) {
	for i := range dst {
		dst[i] = row[radiusPixel[i%len(radiusPixel)]]
	}
}

// projections are kernels for groups of 4, 8 and 16 channels.
type projections [3]func(dst *float32, row, pixel int, radius *float32, radiusRow, rows, channels int)

func (p projections) project(dst []float32, row, pixel int, radius []float32, radiusRow, size, rows, channels int) {
	kernel := p[0]
	switch size {
	case 8:
		kernel = p[1]
	case Block:
		kernel = p[2]
	}
	kernel(&dst[0], row, pixel, &radius[0], radiusRow, rows, channels)
}
