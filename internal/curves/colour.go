package curves

import (
	"image/color"
	"math"
)

// The colours of single curves are those of Okabe and Ito (2008), which people with any
// kind of colour vision can tell apart.
var (
	trainingColour = color.NRGBA{0, 114, 178, 255}
	rawColour      = color.NRGBA{0, 114, 178, 70} // of the same before it is smoothed
	textColour     = color.NRGBA{60, 60, 60, 255}
	gridColour     = color.NRGBA{226, 226, 226, 255}

	validationColours = []color.NRGBA{
		{213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
	}
)

// viridis are colours of the map of that name (van der Walt and Smith 2015) at equal
// distances, except for its palest end.
var viridis = []color.NRGBA{{68, 1, 84, 255}, {64, 67, 135, 255}, {41, 120, 142, 255}, {34, 167, 132, 255}, {121, 209, 81, 255}}

// blockColour returns the colour of block i of n: the deeper, the lighter.
func blockColour(i, n int) color.NRGBA {
	if n < 2 {
		return viridis[0]
	}
	t := float64(i) / float64(n-1) * float64(len(viridis)-1)
	k := min(int(t), len(viridis)-2)
	t -= float64(k)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-t) + float64(b)*t)) }
	a, b := viridis[k], viridis[k+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
