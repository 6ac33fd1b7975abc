package picture

// JPEGCoding is how the samples of a JPEG file were coded: what it says of the noise in them,
// and of how finely they are to be written again.
type JPEGCoding struct {
	// Luma and Chroma are the quantisation steps of the coefficients of an 8×8 block, in units of
	// 1/255 of the full range of a sample: row v, column u, at 8·v+u, is the coefficient of
	// vertical frequency v and horizontal frequency u, [0] that of the mean. Chroma is the finer of
	// the tables of Cb and Cr where they differ, and all 0 in a grey image. The transform is
	// orthonormal (annex A.3.3 of ISO/IEC 10918-1), so a step is one of the coefficient itself.
	Luma, Chroma [64]uint16
	// ChromaX and ChromaY are how many samples of luma there are for one of chroma in a row and
	// in a column: 1 and 1 is 4:4:4, 2 and 1 is 4:2:2, 2 and 2 is 4:2:0. They are 1 in a grey image.
	ChromaX, ChromaY int
	// Quality, 1 to 100, is the one at which the tables of the Independent JPEG Group are nearest;
	// Standard tells whether they are the same.
	Quality  int
	Standard bool
	// Noise is the standard deviation of what the coding has changed in luma, where 1 is white, as far as the
	// coefficients tell. It is 0 unless ReadOptions.CodingNoise was set.
	Noise float64
}

// CodingNoise is the standard deviation of what compression has changed in luma, where 1 is white: 0 for all but a JPEG that
// was read with ReadOptions.CodingNoise.
func (m *Image) CodingNoise() float64 {
	if m.JPEG == nil {
		return 0
	}
	return m.JPEG.Noise
}

// transpose follows an image whose rows have become columns.
func (c *JPEGCoding) transpose() {
	for i := range 8 {
		for j := range i {
			a, b := 8*i+j, 8*j+i
			c.Luma[a], c.Luma[b] = c.Luma[b], c.Luma[a]
			c.Chroma[a], c.Chroma[b] = c.Chroma[b], c.Chroma[a]
		}
	}
	c.ChromaX, c.ChromaY = c.ChromaY, c.ChromaX
}
