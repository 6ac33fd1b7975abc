package train

import "github.com/averaged/imaging/internal/cameranoise"

// Photographs as people have them went through JPEG, which kept a quarter of the samples of colour. A
// network that learned from pictures with all of their colour takes its lack for something that noise
// hid: 0.13 dB of PSNR at a noise level of 0.05 (docs/notebook/training.md). Config.Saved has it learn from both.

// savedMargin is how many more rows and columns than a crop's are saved: its first pixel can be any of
// those of a block of colour, 16×16.
const savedMargin = 16

// drawJPEG draws how a crop is saved: with the qualities that programs write, three times in four with
// a quarter of the samples of colour and else with all.
func drawJPEG(g *generator) cameranoise.JPEG {
	j := cameranoise.JPEG{Quality: 80 + g.below(18), Subsampling: cameranoise.Full}
	if g.below(4) > 0 {
		j.Subsampling = cameranoise.Quarter
	}
	return j
}

// cutOut moves the size×size pixels from row top and column left on of channels planes of side×side
// to the beginning, as planes of their own.
func cutOut(planes []float32, channels, side, size, top, left int) {
	for c := range channels {
		for y := range size {
			copy(planes[(c*size+y)*size:][:size], planes[(c*side+top+y)*side+left:][:size])
		}
	}
}
