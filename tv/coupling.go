package tv

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/strength"
)

// Coupling says which channels of an image share the norms of total variation: an
// orthonormal change of the channel axes, and groups of the new axes, each with a
// weight on α. An orthonormal change of axes keeps white noise white and a
// proximal map a proximal map. A Coupling is a value without state, and fits
// images of any number of channels.
//
// The zero value is Opponent(0).
type Coupling struct {
	kind         couplingKind
	chromaWeight float64
}

type couplingKind uint8

const (
	opponent couplingKind = iota
	perChannel
	coupled
)

// PerChannel is total variation of every channel by itself.
func PerChannel() Coupling { return Coupling{kind: perChannel} }

// Coupled takes one Euclidean norm over all channels and both directions of a
// pixel (vectorial total variation; Bresson and Chan 2008).
func Coupled() Coupling { return Coupling{kind: coupled} }

// Opponent is the coupling for colour pictures: total variation of the luma axis with weight 1, and coupled
// total variation of the other axes with chromaWeight, at least 0. 0 means the weight that suits α: the
// ChromaWeight of the noise level for which Alpha gives this α. In photographs most of the signal is luma,
// while noise is spread evenly, so chroma can be smoothed more.
//
// The axes are the discrete cosine basis over the channels: for three channels (1,1,1)/√3, (1,0,−1)/√2 and
// (1,−2,1)/√6. A grey image has luma alone.
func Opponent(chromaWeight float64) Coupling { return Coupling{chromaWeight: chromaWeight} }

func (c Coupling) String() string {
	switch c.kind {
	case perChannel:
		return "per channel"
	case coupled:
		return "coupled"
	}
	if c.chromaWeight == 0 {
		return "luma and chroma"
	}
	return fmt.Sprintf("luma and chroma × %.4g", c.chromaWeight)
}

// maxChannels is the most channels that a change of axes can have on a device.
const maxChannels = 16

// check returns an error unless the coupling fits images of n channels.
func (c Coupling) check(n int) error {
	if !(c.chromaWeight >= 0) || math.IsInf(c.chromaWeight, 1) {
		return fmt.Errorf("tv: chroma weight %v, must be a finite number of at least 0", c.chromaWeight)
	}
	if c.kind == opponent && n > maxChannels {
		return fmt.Errorf("tv: %d channels on opponent axes, at most %d are possible; take PerChannel or Coupled", n, maxChannels)
	}
	return nil
}

// group is a run of consecutive axes that share their norms.
type group struct {
	from, count int
	weight      float64
	// axes has count rows of the change of axes, of as many columns as the image
	// has channels; nil where the axes are the channels.
	axes []float32
}

// groups returns the groups for an image of n channels and an α.
func (c Coupling) groups(n int, alpha float64) []group {
	switch {
	case c.kind == coupled:
		return []group{{count: n, weight: 1}}
	case c.kind == perChannel || n == 1:
		g := make([]group, n)
		for i := range g {
			g[i] = group{from: i, count: 1, weight: 1}
		}
		return g
	}
	axes, weight := cosineBasis(n), c.chromaWeight
	if weight == 0 {
		weight = strength.MatchingChromaWeight(alpha)
	}
	return []group{
		{from: 0, count: 1, weight: 1, axes: axes[:n]},
		{from: 1, count: n - 1, weight: weight, axes: axes[n:]},
	}
}

// changesAxes tells whether the axes for n channels are others than the channels.
func (c Coupling) changesAxes(n int) bool { return c.kind == opponent && n > 1 }

// cosineBasis returns the n×n matrix of the orthonormal discrete cosine transform
// (type II), row by row.
func cosineBasis(n int) []float32 {
	m := make([]float32, n*n)
	for i := range n {
		scale := math.Sqrt(2 / float64(n))
		if i == 0 {
			scale = math.Sqrt(1 / float64(n))
		}
		for j := range n {
			m[i*n+j] = float32(scale * math.Cos(math.Pi*float64(i)*(float64(j)+0.5)/float64(n)))
		}
	}
	return m
}

// transposed returns the transpose of an n×n matrix.
func transposed(m []float32, n int) []float32 {
	t := make([]float32, n*n)
	for i := range n {
		for j := range n {
			t[j*n+i] = m[i*n+j]
		}
	}
	return t
}
