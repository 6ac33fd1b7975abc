package noise

import (
	"math"

	"github.com/averaged/imaging/internal/parallel"
)

const (
	// maxPatches bounds work and memory whatever the size of the image.
	maxPatches = 20000
	// Frequencies u+v of a patch's cosine transform: 1…textureBand tell how much texture it has, noiseBand…14 how much
	// noise. The bands are disjoint, so for white Gaussian noise they are independent.
	textureBand = patchSide - 1
	noiseBand   = patchSide + 1
	// textureTerms and noiseTerms are the numbers of coefficients in the bands.
	textureTerms = patchSide*(patchSide+1)/2 - 1
	noiseTerms   = (patchSide - 2) * (patchSide - 1) / 2
)

// patch is what is kept of one channel of one 8×8 patch.
type patch struct {
	mean     float32
	texture  float32             // energy of the coefficients 1 ≤ u+v ≤ textureBand
	noise    [noiseTerms]float32 // coefficients u+v ≥ noiseBand
	limits   int8                // how many values lie at the channel's minimum or maximum
	constant bool                // all values are equal
	drawn    bool                // those of a side are, as where a patch reaches into a frame
}

// samples holds patches on a regular grid over the image: patch i of channel c is at [i*channels+c].
type samples struct {
	channels, count int
	patches         []patch
	ranges          []valueRange // of each channel
	scratch         []float32    // reused by deviation
}

func (s *samples) at(i, c int) *patch { return &s.patches[i*s.channels+c] }

// constant says whether patch i is constant in every channel.
func (s *samples) constant(i int) bool {
	for c := range s.channels {
		if !s.at(i, c).constant {
			return false
		}
	}
	return true
}

// drawn says whether patch i has a side of one value in every channel.
func (s *samples) drawn(i int) bool {
	for c := range s.channels {
		if !s.at(i, c).drawn {
			return false
		}
	}
	return true
}

// gridStride returns the smallest odd distance between patches that gives at most maxPatches of them. Odd, so that they
// do not line up with the 8×8 blocks of JPEG, whose highest frequencies compression has rounded to zero.
func gridStride(height, width int) int {
	rows, cols := height-patchSide+1, width-patchSide+1
	for stride := 1; ; stride += 2 {
		if ((rows+stride-1)/stride)*((cols+stride-1)/stride) <= maxPatches {
			return stride
		}
	}
}

// sample transforms the patches of the grid. Neither side may be less than patchSide.
func sample(pix []float32, channels, height, width int, ranges []valueRange) *samples {
	stride := gridStride(height, width)
	rows, cols := (height-patchSide)/stride+1, (width-patchSide)/stride+1
	s := &samples{channels: channels, count: rows * cols, ranges: ranges}
	s.patches = make([]patch, s.count*channels)
	basis := CosineBasis()
	parallel.Concurrently(channels, func(c int) {
		plane := pix[c*height*width : (c+1)*height*width]
		for i := range s.count {
			y, x := i/cols*stride, i%cols*stride
			transform(plane[y*width+x:], width, &basis, ranges[c], s.at(i, c))
		}
	})
	return s
}

// CosineBasis returns the orthonormal DCT-II of length 8, one frequency a row.
func CosineBasis() (b [patchSide][patchSide]float32) {
	for u := range b {
		scale := math.Sqrt(2.0 / patchSide)
		if u == 0 {
			scale = math.Sqrt(1.0 / patchSide)
		}
		for x := range b[u] {
			b[u][x] = float32(scale * math.Cos(math.Pi*float64(u)*(2*float64(x)+1)/(2*patchSide)))
		}
	}
	return b
}

// transform fills p from the patch whose first value is at[0], with rows stride values apart.
func transform(at []float32, stride int, basis *[patchSide][patchSide]float32, r valueRange, p *patch) {
	var values, rows [patchSide][patchSide]float32
	first, sum := at[0], float32(0)
	p.constant = true
	for y := range values {
		line := at[y*stride : y*stride+patchSide]
		for x, v := range line {
			// Differences from one value: a shift of the image changes nothing.
			d := v - first
			values[y][x] = d
			sum += d
			if d != 0 {
				p.constant = false
			}
			if v == r.low || v == r.high {
				p.limits++
			}
		}
	}
	p.mean = first + sum/(patchSide*patchSide)
	p.drawn = hasEvenSide(&values)
	if p.constant {
		return
	}
	for y := range values {
		for u := range basis {
			rows[y][u] = dot(&basis[u], &values[y])
		}
	}
	k := 0
	for u := range basis {
		var column [patchSide]float32
		for y := range column {
			column[y] = rows[y][u]
		}
		for v := range basis {
			if u+v == 0 {
				continue
			}
			switch f := dot(&basis[v], &column); {
			case u+v <= textureBand:
				p.texture += float32(f * f)
			case u+v >= noiseBand:
				p.noise[k] = f
				k++
			}
		}
	}
}

// hasEvenSide says whether the values of the first or last row or column are equal.
func hasEvenSide(values *[patchSide][patchSide]float32) bool {
	const last = patchSide - 1
	top, bottom, left, right := true, true, true, true
	for i := range values {
		top = top && values[0][i] == values[0][0]
		bottom = bottom && values[last][i] == values[last][0]
		left = left && values[i][0] == values[0][0]
		right = right && values[i][last] == values[0][last]
	}
	return top || bottom || left || right
}

func dot(a, b *[patchSide]float32) float32 {
	return float32(a[0]*b[0]) + float32(a[1]*b[1]) + float32(a[2]*b[2]) + float32(a[3]*b[3]) +
		float32(a[4]*b[4]) + float32(a[5]*b[5]) + float32(a[6]*b[6]) + float32(a[7]*b[7])
}
