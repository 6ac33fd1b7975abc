package methodnoise

import "math"

const (
	// patchSide is the side of a patch in pixels, a multiple of the side of JPEG's blocks.
	patchSide = 96
	// Patches lie leastRow × leastRow to mostRow × mostRow, and cover about half of an image that is not large: by a
	// quarter the factors were a third less worth, and by all of it no more.
	leastRow, mostRow, shareOfImage = 2, 6, 2
	jpegBlock                       = 8
	// In grey a network takes as long as in colour, and what else there is to do less: half of it would take a fifth of a call.
	shareOfGrey = 4
)

// Sample is part of an image in grey or colour: patches that are spread evenly over it, side by side, so that a denoiser sees
// them in one call.
type Sample struct {
	Channels, Height, Width int
	Pix                     []float32 // one plane or three

	patchHeight, patchWidth int
}

// NewSample takes a sample of an image of one plane or three; all of it where it is small.
func NewSample(pix []float32, channels, height, width int) *Sample {
	share := shareOfImage
	if channels == 1 {
		share = shareOfGrey
	}
	row := int(math.Round(math.Sqrt(float64(height) * float64(width) / float64(share*patchSide*patchSide))))
	row = min(max(row, leastRow), mostRow)
	side := row * patchSide
	if height < side || width < side {
		return &Sample{Channels: channels, Height: height, Width: width, Pix: pix, patchHeight: height, patchWidth: width}
	}
	s := &Sample{Channels: channels, Height: side, Width: side, patchHeight: patchSide, patchWidth: patchSide}
	s.Pix = make([]float32, channels*side*side)
	// Patches begin where blocks of JPEG do, if the image was not cropped.
	begin := func(i, length int) int {
		return ((2*i+1)*length/(2*row) - patchSide/2) / jpegBlock * jpegBlock
	}
	for c := range channels {
		for y := range side {
			from := (c*height + begin(y/patchSide, height) + y%patchSide) * width
			for i := range row {
				copy(s.Pix[(c*side+y)*side+i*patchSide:][:patchSide], pix[from+begin(i, width):])
			}
		}
	}
	return s
}
