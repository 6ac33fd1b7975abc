package noiselevel

import (
	"cmp"
	"math"
	"slices"
)

// Noise that cameras leave is not white: demosaicking, smoothing in the camera and JPEG take its
// high frequencies, in colour more than in brightness. What is left is measured here by frequency.
//
// The image is looked at in squares of groupSide pixels, on a grid whose step is odd, so that it
// does not fall into step with the blocks of JPEG. Of each square the energy of the cosine
// transform is summed over bands of frequency, on the axis of brightness and on those of colour.
// The squares with the least energy in a band say most about noise, so what is kept are low
// quantiles over the squares, each divided by what white Gaussian noise of standard deviation 1
// has there: of white noise all are its standard deviation, of texture they grow with the quantile.

const (
	// groupSide is the side of a square: four patches, and one more of half the resolution.
	groupSide = 2 * patchSide
	// maxGroups bounds the time, whatever the size of the image.
	maxGroups = 2500
	// minGroups is how many squares it takes to say anything.
	minGroups = 24
	// bandCount is how many bands of frequency the patches have: fineBands at full resolution, then
	// coarseBands at half of it.
	fineBands, coarseBands = 4, 2
	bandCount              = fineBands + coarseBands
)

// bandEdges are the radii √(u²+v²) of the cosine transform of 8×8 pixels that begin each band, and
// the end of the last. A coefficient of radius r has a period of 16/r pixels.
var bandEdges = [fineBands + 1]float64{0.9, 2, 3.7, 5.7, 10}

// quantiles are the shares of squares with less energy at which the spectrum is looked at.
var quantiles = [...]float64{0.03, 0.1, 0.3, 0.6, 0.85}

// axisOfBrightness and axisOfColour index what is measured of a colour image; a grey one has the
// first only. The two axes of colour are measured together.
const (
	axisOfBrightness = iota
	axisOfColour
	axisCount
)

// group is one square: the mean square of the coefficients in each band.
type group struct {
	energy  [axisCount][bandCount]float32
	mean    float32 // brightness, of the values' own scale
	clipped float32 // share of pixels with a value at a clipping limit
}

// spectrum is what squares say of an image.
type spectrum struct {
	axes    int  // 1 (grey) or 2
	blurred bool // the image is known to be, so that it has little texture
	// rounded says how certain it is that JPEG has rounded what varies fastest; it is set for images in colour that a
	// level is judged of.
	rounded func() float64
	groups  []group
	usable  float64 // share of all squares that are in groups
	// floor[a][b][q] is the standard deviation that white noise would have to have for the quantile q
	// of the energies in band b on axis a.
	floor [axisCount][bandCount][len(quantiles)]float64
}

// bandOf returns the band of the coefficient (u, v), or −1.
func bandOf(u, v int) int {
	r := math.Hypot(float64(u), float64(v))
	for b := range fineBands {
		if r >= bandEdges[b] && r < bandEdges[b+1] {
			return b
		}
	}
	return -1
}

// bandTable is bandOf for every coefficient, and bandSizes the number of them in each band.
var bandTable, bandSizes = func() (table [patchSide][patchSide]int8, sizes [fineBands]int) {
	for u := range table {
		for v := range table[u] {
			b := bandOf(u, v)
			table[u][v] = int8(b)
			if b >= 0 {
				sizes[b]++
			}
		}
	}
	return table, sizes
}()

// freedom returns the number of coefficients of a square in a band, on one axis.
func freedom(band int) int {
	if band < fineBands {
		return 4 * bandSizes[band]
	}
	return bandSizes[band-fineBands]
}

// groupStride returns the smallest odd step, from patchSide on, that gives at most maxGroups squares.
func groupStride(height, width int) int {
	rows, cols := height-groupSide+1, width-groupSide+1
	for stride := patchSide + 1; ; stride += 2 {
		if ((rows+stride-1)/stride)*((cols+stride-1)/stride) <= maxGroups {
			return stride
		}
	}
}

// newSpectrum measures an image of one channel or three; nil where it is too small, or too little of
// it is not clipped and not constant.
func newSpectrum(pix []float32, channels, height, width int, ranges []valueRange) *spectrum {
	if min(height, width) < groupSide {
		return nil
	}
	stride := groupStride(height, width)
	rows, cols := (height-groupSide)/stride+1, (width-groupSide)/stride+1
	all := make([]group, rows*cols)
	s := &spectrum{axes: min(channels, axisCount)}
	basis := cosineBasis()
	inPieces(rows, func(row int) {
		var w squareMeter
		w.basis = &basis
		for col := range cols {
			w.measure(&all[row*cols+col], pix, channels, height, width, row*stride, col*stride, ranges)
		}
	})
	s.groups = usableGroups(all)
	s.usable = float64(len(s.groups)) / float64(len(all))
	if len(s.groups) < minGroups {
		return nil
	}
	energies := make([]float32, len(s.groups))
	for a := range s.axes {
		for b := range bandCount {
			for i := range s.groups {
				energies[i] = s.groups[i].energy[a][b]
			}
			slices.Sort(energies)
			n := freedom(b)
			if a == axisOfColour {
				n *= 2
			}
			for q, share := range quantiles {
				e := float64(energies[int(share*float64(len(energies)-1)+0.5)])
				s.floor[a][b][q] = math.Sqrt(e / meanSquareQuantile(share, n))
			}
		}
	}
	return s
}

// Squares with more clipped pixels than this share say little, unless there are no others.
const clippedPixels = 0.05

// leastEnergy is the mean square, on the axis of brightness, of a square that varies at all: a
// thirtieth of a step of 8 bits.
const leastEnergy = (0.03 / 255) * (0.03 / 255)

// usableGroups returns the squares that vary, without those that are clipped; where these are most,
// the least clipped tenth of those that vary.
func usableGroups(all []group) []group {
	varied := make([]group, 0, len(all))
	for _, g := range all {
		e := float32(0)
		for _, v := range g.energy[axisOfBrightness][:fineBands] {
			e += v
		}
		if e > leastEnergy {
			varied = append(varied, g)
		}
	}
	slices.SortStableFunc(varied, func(a, b group) int { return cmp.Compare(a.clipped, b.clipped) })
	_, n := leastClipped(len(varied), func(i int) float32 { return varied[i].clipped })
	return varied[:n]
}

// leastClipped returns how many of n squares, in the order of their share of clipped pixels, have hardly any, and how many
// are looked at: where those are too few, a tenth of all.
func leastClipped(n int, clipped func(i int) float32) (unclipped, usable int) {
	for unclipped < n && clipped(unclipped) <= clippedPixels {
		unclipped++
	}
	return unclipped, max(unclipped, min(n, max(minGroups, n/10)))
}

// meanSquareQuantile returns the quantile q of the mean of n squares of independent standard normal
// variables: χ² over its degrees of freedom, by the approximation of Wilson and Hilferty (1931).
func meanSquareQuantile(q float64, n int) float64 {
	z := math.Sqrt2 * math.Erfinv(2*q-1)
	v := 2 / (9 * float64(n))
	root := max(1-v+z*math.Sqrt(v), 0.05)
	return root * root * root
}

// squareMeter measures one square at a time.
type squareMeter struct {
	basis *[patchSide][patchSide]float32
	axis  [3][groupSide][groupSide]float32 // the square on each axis
}

func (w *squareMeter) measure(g *group, pix []float32, channels, height, width, top, left int, ranges []valueRange) {
	n := height * width
	clipped, sum := 0, float32(0)
	for y := range groupSide {
		at := (top+y)*width + left
		for x := range groupSide {
			i, limit := at+x, false
			for c := range channels {
				v := pix[c*n+i]
				limit = limit || v == ranges[c].low && ranges[c].clippedBelow || v == ranges[c].high && ranges[c].clippedAbove
			}
			if limit {
				clipped++
			}
			if channels == 1 {
				w.axis[0][y][x] = pix[i]
			} else {
				red, green, blue := pix[i], pix[n+i], pix[2*n+i]
				w.axis[0][y][x] = (red + green + blue) * (1 / sqrt3)
				w.axis[1][y][x] = (red - blue) * (1 / math.Sqrt2)
				w.axis[2][y][x] = (red - 2*green + blue) * (1 / sqrt6)
			}
			sum += w.axis[0][y][x]
		}
	}
	g.mean = sum / (groupSide * groupSide)
	if channels > 1 {
		g.mean *= 1 / sqrt3
	}
	g.clipped = float32(clipped) / (groupSide * groupSide)
	g.energy[axisOfBrightness] = w.bands(0)
	if channels > 1 {
		first, second := w.bands(1), w.bands(2)
		for b := range first {
			g.energy[axisOfColour][b] = (first[b] + second[b]) / 2
		}
	}
}

// bands returns the mean square of the coefficients in each band on one axis.
func (w *squareMeter) bands(axis int) (energy [bandCount]float32) {
	square := &w.axis[axis]
	first := square[0][0] // differences from one value keep the digits that matter
	var values [patchSide][patchSide]float32
	for quarter := range 4 {
		top, left := quarter/2*patchSide, quarter%2*patchSide
		for y := range values {
			for x := range values[y] {
				values[y][x] = square[top+y][left+x] - first
			}
		}
		w.add(energy[:fineBands], &values)
	}
	for y := range values {
		for x := range values[y] {
			// White noise keeps its standard deviation.
			values[y][x] = (square[2*y][2*x]+square[2*y][2*x+1]+square[2*y+1][2*x]+square[2*y+1][2*x+1])/2 - 2*first
		}
	}
	var half [fineBands]float32
	w.add(half[:], &values)
	copy(energy[fineBands:], half[:coarseBands])
	for b := range energy {
		energy[b] /= float32(freedom(b))
	}
	return energy
}

// add adds the energies of the transform of values to those of the bands.
func (w *squareMeter) add(energy []float32, values *[patchSide][patchSide]float32) {
	var rows [patchSide][patchSide]float32
	for y := range values {
		for u := range w.basis {
			rows[u][y] = dot(&w.basis[u], &values[y])
		}
	}
	for u := range w.basis {
		for v := range w.basis {
			if b := bandTable[u][v]; b >= 0 {
				f := dot(&w.basis[v], &rows[u])
				energy[b] += float32(f * f)
			}
		}
	}
}

// featureCounts are the numbers of features of an image with one axis and with two.
var featureCounts = [axisCount + 1]int{0, 1 + bandCount*len(quantiles) + 3, 1 + 2*bandCount*len(quantiles) + 3 + 2}

// features says of the spectrum what the rule in coarse.go goes by: the logarithms of the floors, how
// many squares could be used, and how far the energies of bands go together over the calmer squares,
// as they do in texture and do not in noise.
func (s *spectrum) features() []float64 {
	f := make([]float64, 0, featureCounts[s.axes])
	f = append(f, math.Log(s.usable+0.01))
	for a := range s.axes {
		for b := range bandCount {
			for q := range quantiles {
				f = append(f, math.Log(255*s.floor[a][b][q]+0.3))
			}
		}
	}
	calm := s.calm(0.4)
	log := func(a, b int) []float64 {
		v := make([]float64, len(calm))
		for i, g := range calm {
			v[i] = math.Log(255*255*float64(g.energy[a][b]) + 0.05)
		}
		return v
	}
	y := [fineBands][]float64{}
	for b := range y {
		y[b] = log(axisOfBrightness, b)
	}
	f = append(f, correlation(y[0], y[1]), correlation(y[1], y[2]), correlation(y[2], y[3]))
	if s.axes > 1 {
		f = append(f, correlation(y[1], log(axisOfColour, 0)), correlation(y[1], log(axisOfColour, 1)))
	}
	return f
}

// calm returns the share of squares with the least energy of brightness, each band counted in units
// of its median.
func (s *spectrum) calm(share float64) []group {
	var median [fineBands]float64
	energies := make([]float32, len(s.groups))
	for b := range median {
		for i := range s.groups {
			energies[i] = s.groups[i].energy[axisOfBrightness][b]
		}
		slices.Sort(energies)
		median[b] = math.Max(float64(energies[len(energies)/2]), 1e-12)
	}
	total := make([]float64, len(s.groups))
	for i := range s.groups {
		for b := range median {
			total[i] += float64(s.groups[i].energy[axisOfBrightness][b]) / median[b]
		}
	}
	order := make([]int, len(total))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(total[a], total[b]) })
	calm := make([]group, max(minGroups/2, int(share*float64(len(order)))))
	for i := range calm {
		calm[i] = s.groups[order[i]]
	}
	return calm
}

// correlation is Pearson's, 0 where one of the two does not vary.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		sa += a[i]
		sb += b[i]
	}
	for i := range a {
		x, y := a[i]-sa/n, b[i]-sb/n
		saa += x * x
		sbb += y * y
		sab += x * y
	}
	if saa*sbb == 0 {
		return 0
	}
	return sab / math.Sqrt(saa*sbb)
}
