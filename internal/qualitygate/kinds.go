package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/restore"
)

// kind is a kind of pictures, a row of the table.
type kind struct {
	name string
	// full and quick are how many pictures there are; full is 0 for as many as the data have.
	full, quick int
	make        func(p *photographs, i int) (*picture, error)
}

func (k kind) count(p *photographs) int {
	if k.full > 0 {
		return k.full
	}
	return len(p.noisy[k.name])
}

var kinds = []kind{
	{"polyu", 0, 4, real("polyu")},
	{"sidd", 0, 8, real("sidd")},
	{"cc", 0, 2, real("cc")},
	{"camera-png", 96, 12, camera("camera-png", false)},
	{"camera-jpeg", 96, 12, camera("camera-jpeg", true)},
	{"white-float", 98, 7, func(p *photographs, i int) (*picture, error) {
		n := white("white", p, i, levels[i%len(levels)], 0)
		n.beside = withSigma(n, levels[i%len(levels)])
		return n, nil
	}},
	{"white-told", 98, 7, func(p *photographs, i int) (*picture, error) {
		return withSigma(white("white", p, i, levels[i%len(levels)], 0), levels[i%len(levels)]), nil
	}},
	{"white-png", 98, 7, func(p *photographs, i int) (*picture, error) {
		return white("white-png", p, i, levels[i%len(levels)], 255), nil
	}},
	{"white-jpeg", 96, 9, whiteJPEG},
	{"weak-jpeg", 72, 12, weakJPEG},
	{"grey", 32, 6, grey},
	{"near-grey", 32, 6, func(p *photographs, i int) (*picture, error) {
		three := func(pix []float32) []float32 { return synthetic.Tinted(pix, [3]float64{1, 1, 1}) }
		n, err := coloured(p, i, three)
		if err != nil {
			return nil, err
		}
		at := rand.New(rand.NewPCG(seedOf("near-grey", i), 3)).IntN(len(n.input.Pix))
		n.input.Pix = synthetic.Nudged(n.input.Pix, at)
		return n, nil
	}},
	{"tinted", 32, 8, func(p *photographs, i int) (*picture, error) {
		tint := tints[i%len(tints)]
		return coloured(p, i, func(pix []float32) []float32 {
			return synthetic.Rounded(synthetic.Tinted(pix, tint), 255)
		})
	}},
	{"brightness", 24, 6, brightness},
	{"over", 32, 8, overexposed},
	{"dark", 32, 8, dark},
	{"low-range", 24, 6, lowRange},
	{"salt-pepper", 16, 4, impulse("salt-pepper", func(pix []float32, r *rand.Rand) []float32 {
		return synthetic.SaltAndPepper(pix, 3, 0.01+0.04*r.Float64(), r.Uint64())
	})},
	{"hot-pixels", 16, 4, impulse("hot-pixels", func(pix []float32, r *rand.Rand) []float32 {
		return synthetic.HotPixels(pix, 3, 0.001+0.004*r.Float64(), r.Uint64())
	})},
	{"resized", 24, 6, resized},
	{"speckle", 24, 4, func(p *photographs, i int) (*picture, error) {
		s := sceneOf("speckle", p, i)
		sigma := []float64{0.06, 0.12, 0.2}[i%3]
		noisy := synthetic.Rounded(synthetic.Speckle(s.Pix, sigma, seedOf("speckle", i)), 255)
		return &picture{name: fmt.Sprintf("%s %.2f", s.name, sigma), input: like(s, noisy), truth: s.Planar, largest: 255}, nil
	}},
	{"uneven", 24, 6, func(p *photographs, i int) (*picture, error) {
		s := sceneOf("uneven", p, i)
		high := []float64{0.04, 0.08, 0.13}[i%3]
		noisy := synthetic.Rounded(synthetic.Uneven(s.Pix, s.Height, s.Width, high/5, high, seedOf("uneven", i)), 255)
		return &picture{name: fmt.Sprintf("%s to %.2f", s.name, high), input: like(s, noisy), truth: s.Planar, largest: 255}, nil
	}},
	{"clean", 96, 16, func(p *photographs, i int) (*picture, error) {
		return unharmed(sceneOf("clean", p, i)), nil
	}},
	{"texture", 96, 24, func(p *photographs, i int) (*picture, error) {
		return unharmed(texture(p.open[i%len(p.open)], 128, i/len(p.open))), nil
	}},
	// These have the grain of film, and JPEG.
	{"texture-bsds", 64, 16, func(p *photographs, i int) (*picture, error) {
		return unharmed(texture(p.bsds[i%len(p.bsds)], 128, i/len(p.bsds))), nil
	}},
	{"drawing", 112, 28, func(_ *photographs, i int) (*picture, error) {
		seed := seedOf("drawing", 0)/uint64(len(synthetic.Drawings))*uint64(len(synthetic.Drawings)) + uint64(i)
		pix := synthetic.Drawing(seed, cropHeight, cropWidth)
		return unharmed(photograph{synthetic.Drawings[i%len(synthetic.Drawings)], planar(pix, cropHeight, cropWidth)}), nil
	}},
}

// groups are kinds whose pictures are also judged together.
var groups = []struct {
	name  string
	kinds []string
}{
	{"real", []string{"polyu", "sidd", "cc"}},
	{"all-noisy", []string{"polyu", "sidd", "cc", "camera-png", "camera-jpeg", "white-float", "white-told", "white-png", "white-jpeg",
		"grey", "near-grey", "tinted", "brightness", "over", "dark", "low-range", "salt-pepper", "hot-pixels"}},
}

var (
	levels = []float64{0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2}
	tints  = [][3]float64{synthetic.Sepia, {1, 0.99, 0.985}, {0.98, 0.99, 1}, {1, 0.97, 0.96}}
)

// seedOf is that of a picture of a kind. No two have the same, and nothing else draws from them.
func seedOf(kind string, i int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "quality gate, %s, %d", kind, i)
	return h.Sum64()
}

// sceneOf is the clean photograph that a picture is made of. Kinds begin with different ones.
func sceneOf(kind string, p *photographs, i int) photograph {
	return crop(photographOf(kind, p, i), cropHeight, cropWidth, seedOf(kind, i))
}

func photographOf(kind string, p *photographs, i int) photograph {
	n := uint64(len(p.clean))
	return p.clean[(seedOf(kind, -1)%n+uint64(i))%n]
}

func planar(pix []float32, h, w int) *restore.Planar {
	return &restore.Planar{Width: w, Height: h, Channels: len(pix) / (h * w), Pix: pix}
}

// like is a picture of the size of p with other samples.
func like(p photograph, pix []float32) *restore.Planar { return planar(pix, p.Height, p.Width) }

// withSigma is a picture whose noise level is given to the program.
func withSigma(p *picture, sigma float64) *picture {
	t := *p
	t.options = []restore.Option{restore.Sigma(sigma)}
	t.beside = nil
	if p.id != "" {
		t.id += " told"
	}
	return &t
}

func unharmed(p photograph) *picture {
	return &picture{name: p.name, input: p.Planar, truth: p.Planar, largest: 255}
}

func real(set string) func(*photographs, int) (*picture, error) {
	return func(p *photographs, i int) (*picture, error) {
		pair := p.noisy[set][i]
		return &picture{name: pair[0].name, input: pair[0].Planar, truth: pair[1].Planar, largest: 255}, nil
	}
}

// camera photographs scenes through a lens that is not quite sharp, at four sensitivities in turn.
func camera(kind string, jpeg bool) func(*photographs, int) (*picture, error) {
	return func(p *photographs, i int) (*picture, error) {
		seed := seedOf(kind, i)
		r := rand.New(rand.NewPCG(seed, 4))
		c := cameranoise.Random(seed)
		c.ISO = []float64{200, 800, 3200, 12800}[i%4]
		c.FullWell = max(c.FullWell, c.ISO/2)
		// As much of the picture is to be left as in other kinds.
		c.Reduction, c.Resize = 1, min(c.Resize, 1.25)
		c.JPEG = nil
		if jpeg {
			for range 1 + r.IntN(2) {
				c.JPEG = append(c.JPEG, cameranoise.JPEG{Quality: 75 + r.IntN(24), Subsampling: cameranoise.Subsampling(r.IntN(3))})
			}
		}
		s := crop(photographOf(kind, p, i), int(c.Resize*cropHeight), int(c.Resize*cropWidth), seed)
		scene := cameranoise.Blurred(s.Pix, s.Height, s.Width, 0.4+0.5*r.Float64())
		noisy, err := c.Apply(scene, s.Height, s.Width, seed)
		if err != nil {
			return nil, err
		}
		clean, err := c.Clean(scene, s.Height, s.Width)
		if err != nil {
			return nil, err
		}
		h, w := c.Size(s.Height, s.Width)
		return &picture{
			name: fmt.Sprintf("%s ISO %.0f", s.name, c.ISO), largest: 255,
			input: planar(synthetic.Rounded(noisy, 255), h, w), truth: planar(clean, h, w),
		}, nil
	}
}

// white adds noise to scenes; a largest integer of 0 is a picture of floats.
func white(kind string, p *photographs, i int, sigma float64, largest int) *picture {
	s := sceneOf(kind, p, i)
	noisy := synthetic.White(s.Pix, sigma, seedOf(kind, i))
	if largest > 0 {
		noisy = synthetic.Rounded(noisy, largest)
	}
	return &picture{
		name: fmt.Sprintf("%s %.2f", s.name, sigma), id: fmt.Sprint(kind, i),
		input: like(s, noisy), truth: s.Planar, largest: largest,
	}
}

func whiteJPEG(p *photographs, i int) (*picture, error) {
	sub := []cameranoise.Subsampling{cameranoise.Quarter, cameranoise.Full}[i%2]
	return compressed("white-jpeg", p, i, levels[i%len(levels)], cameranoise.JPEG{Quality: []int{75, 85, 95}[i%3], Subsampling: sub})
}

// weakJPEG has noise that is easily taken for detail, since JPEG has smoothed its colours: beside its level told.
func weakJPEG(p *photographs, i int) (*picture, error) {
	sigma := []float64{0.02, 0.03, 0.045}[i/2%3]
	n, err := compressed("weak-jpeg", p, i, sigma, cameranoise.JPEG{Quality: []int{80, 95}[i%2], Subsampling: cameranoise.Quarter})
	if err == nil {
		n.beside = withSigma(n, sigma)
	}
	return n, err
}

// compressed adds noise to scenes and saves them as JPEG.
func compressed(kind string, p *photographs, i int, sigma float64, j cameranoise.JPEG) (*picture, error) {
	n := white(kind, p, i, sigma, 255)
	pix, err := cameranoise.Compressed(n.input.Pix, n.input.Height, n.input.Width, j)
	if err != nil {
		return nil, err
	}
	n.name = fmt.Sprintf("%s JPEG %d %v", n.name, j.Quality, j.Subsampling)
	n.input.Pix = pix
	return n, nil
}

// grey has white noise and that of a camera in turn, in one plane.
func grey(p *photographs, i int) (*picture, error) {
	s := sceneOf("grey", p, i)
	plane := synthetic.Rounded(synthetic.Grey(s.Pix), 255)
	seed := seedOf("grey", i)
	n := &picture{name: s.name, id: fmt.Sprint("grey", i), truth: like(s, plane), largest: 255}
	if i%2 == 0 {
		n.input = like(s, synthetic.Rounded(synthetic.White(plane, []float64{0.03, 0.05, 0.1}[i/2%3], seed), 255))
		return n, nil
	}
	c := cameranoise.Random(seed)
	c.ISO = []float64{3200, 12800}[i/2%2]
	c.FullWell = max(c.FullWell, c.ISO/2)
	c.Reduction, c.Resize, c.JPEG = 1, 1, nil
	noisy, err := c.Apply(plane, s.Height, s.Width, seed)
	if err != nil {
		return nil, err
	}
	clean, err := c.Clean(plane, s.Height, s.Width)
	n.input, n.truth = like(s, synthetic.Rounded(noisy, 255)), like(s, clean)
	return n, err
}

// coloured is a picture of grey made of three planes, beside the grey one.
func coloured(p *photographs, i int, colour func([]float32) []float32) (*picture, error) {
	g, err := grey(p, i)
	if err != nil {
		return nil, err
	}
	h, w := g.input.Height, g.input.Width
	return &picture{
		name: g.name, input: planar(colour(g.input.Pix), h, w), truth: planar(colour(g.truth.Pix), h, w), largest: 255,
		beside: g, then: colour,
	}, nil
}

// brightness has noise without colour. Along the axis of brightness it is √3 times as strong as noise of
// its standard deviation in independent planes, and that is what the other one is told.
func brightness(p *photographs, i int) (*picture, error) {
	s := sceneOf("brightness", p, i)
	sigma := []float64{0.03, 0.05, 0.1}[i%3]
	n := &picture{
		name:  fmt.Sprintf("%s %.2f", s.name, sigma),
		input: like(s, synthetic.Rounded(synthetic.Brightness(s.Pix, sigma, seedOf("brightness", i)), 255)),
		truth: s.Planar, largest: 255,
	}
	n.beside = withSigma(n, math.Sqrt(3)*sigma)
	return n, nil
}

// overexposed has noise from before and after white was clipped, in turn: the first leaves nothing of it in what is far
// too bright.
func overexposed(p *photographs, i int) (*picture, error) {
	const sigma = 0.05
	s := sceneOf("over", p, i)
	share := 0.22 + 0.42*float64(i%8)/7
	light := synthetic.Overexposure(s.Pix, share)
	truth := synthetic.Rounded(synthetic.Exposed(s.Pix, light), 255)
	exposed, when := truth, "after"
	if (i+i/8)%2 == 0 {
		exposed, when = synthetic.Relit(s.Pix, light), "before"
	}
	n := &picture{
		name:  fmt.Sprintf("%s %.0f %% clipped %s", s.name, 100*share, when),
		input: like(s, synthetic.Rounded(synthetic.White(exposed, sigma, seedOf("over", i)), 255)),
		truth: like(s, truth), largest: 255,
	}
	n.beside = withSigma(n, sigma)
	return n, nil
}

func dark(p *photographs, i int) (*picture, error) {
	s := sceneOf("dark", p, i)
	stops := 1 + i%4
	sigma := []float64{0.02, 0.05}[i/4%2]
	truth := synthetic.Exposed(s.Pix, 1/float64(int(1)<<stops))
	n := &picture{
		name:  fmt.Sprintf("%s light/%d %.2f", s.name, 1<<stops, sigma),
		input: like(s, synthetic.Rounded(synthetic.White(truth, sigma, seedOf("dark", i)), 255)),
		truth: like(s, truth), largest: 255,
	}
	n.beside = withSigma(n, sigma)
	return n, nil
}

// lowRange uses a sixteenth of the range of 16 bits, in grey and colour in turn, beside all of it.
func lowRange(p *photographs, i int) (*picture, error) {
	const part, largest = 16, 65535
	s := sceneOf("low-range", p, i)
	if i%2 == 0 {
		s = photograph{s.name, like(s, synthetic.Grey(s.Pix))}
	}
	full := &picture{
		name: s.name, truth: s.Planar, largest: largest,
		input: like(s, synthetic.Rounded(synthetic.White(s.Pix, 0.05, seedOf("low-range", i)), largest)),
	}
	low := *full
	low.input = like(s, synthetic.Rounded(synthetic.Scaled(full.input.Pix, 1./part), largest))
	low.truth = like(s, synthetic.Scaled(s.Pix, 1./part))
	low.peak = 1. / part
	low.beside = full
	return &low, nil
}

// resized has white noise, and was enlarged or reduced afterwards, so that neighbours share noise.
func resized(p *photographs, i int) (*picture, error) {
	by := []float64{0.7, 1.2, 2}[i%3]
	sigma := []float64{0.03, 0.06, 0.1}[i/3%3]
	seed := seedOf("resized", i)
	s := crop(photographOf("resized", p, i), int(math.Round(cropHeight/by)), int(math.Round(cropWidth/by)), seed)
	to := func(pix []float32) *restore.Planar {
		pix = synthetic.Resized(pix, s.Height, s.Width, cropHeight, cropWidth, i%2 == 0)
		return planar(synthetic.Rounded(pix, 255), cropHeight, cropWidth)
	}
	return &picture{
		name: fmt.Sprintf("%s %.2f by %.1f", s.name, sigma, by), largest: 255,
		input: to(synthetic.White(s.Pix, sigma, seed)), truth: to(s.Pix),
	}, nil
}

func impulse(kind string, damage func([]float32, *rand.Rand) []float32) func(*photographs, int) (*picture, error) {
	return func(p *photographs, i int) (*picture, error) {
		s := sceneOf(kind, p, i)
		r := rand.New(rand.NewPCG(seedOf(kind, i), 5))
		return &picture{name: s.name, input: like(s, damage(s.Pix, r)), truth: s.Planar, largest: 255}, nil
	}
}
