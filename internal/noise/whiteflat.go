package noise

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// selection is the flattest part of the patches that can be measured.
type selection struct {
	index []int // patches in increasing order of texture
	// candidates is how many patches could have been chosen; quiet, how many of them have low-frequency energy not far
	// above that of the noise.
	candidates, quiet int
	weight            []float32 // [i*channels+c]: what clipping makes of channel c's noise in patch index[i] is undone by this factor
}

// flattest chooses the patches with the least energy at low frequencies, given the noise level known so far; with a
// negative sigma none is known, and patches with any value at a clipping limit are left out. Patches with a side of
// one value always are: they are drawn in part, and say nothing about the level of noise elsewhere. Where noise drowns the texture hardly any patch
// is left out: clipped noise has coefficients that are uncorrelated but not independent, so that a choice would be a
// bias.
func (s *samples) flattest(sigma float64) selection {
	curves := make([]*clippingCurve, s.channels)
	for c, r := range s.ranges {
		if r.clipped() && sigma > 0 {
			curves[c] = newClippingCurve(r, sigma)
		}
	}
	type candidate struct {
		index   int
		texture float64
	}
	candidates := make([]candidate, 0, s.count)
	weights := make([]float32, s.count*s.channels)
	for i := range s.count {
		texture, ok := 0.0, !s.drawn(i)
		for c := range s.channels {
			p, w := s.at(i, c), 1.0
			switch {
			case sigma < 0:
				ok = ok && (p.limits == 0 || !s.ranges[c].clipped())
			case curves[c] != nil:
				share := curves[c].share(float64(p.mean))
				ok = ok && share >= minShare
				w = 1 / max(share, minShare)
			}
			weights[i*s.channels+c] = float32(w)
			texture += float64(p.texture) * w * w
		}
		if ok {
			candidates = append(candidates, candidate{i, texture})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.texture, b.texture), a.index-b.index)
	})
	n := min(len(candidates), max(minFlat, int(math.Ceil(flatShare*float64(len(candidates))))))
	noise := textureTerms * float64(s.channels) * sigma * sigma
	below := func(energy float64) int {
		return sort.Search(len(candidates), func(i int) bool { return candidates[i].texture > energy })
	}
	if sigma > 0 {
		n = max(n, below(flatEnergy*noise))
	}
	flat := selection{
		index: make([]int, n), weight: make([]float32, 0, n*s.channels),
		candidates: len(candidates), quiet: below(quietEnergy * noise),
	}
	for i, c := range candidates[:n] {
		flat.index[i] = c.index
		flat.weight = append(flat.weight, weights[c.index*s.channels:(c.index+1)*s.channels]...)
	}
	return flat
}
