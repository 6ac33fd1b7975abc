package levellearning

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/train"
)

// A network of noise levels learns from crops on which each frozen denoiser has been tried at every level of
// Nodes: what is left of the noise, square by square. So the loss is of what comes out, in decibels,
// and no level has to be defined; and a crop is denoised a dozen times once, not in every iteration.

// Nodes are the noise levels at which denoisers are tried: 0, and from 0.005 on in octaves. A level
// map's numbers u lie between 0 and len(Nodes)−1; between nodes the level is linear in u below the
// first octave and geometric above it (noise.Level).
var Nodes = [...]float64{0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64}

const (
	// cropSide is the side of a crop, and Square that of its squares, in pixels.
	cropSide, Square = 128, denoise.MapSide
	levelSquares     = (cropSide / Square) * (cropSide / Square)
)

// Crop is a crop with noise, and the errors of what denoisers make of it.
type Crop struct {
	Kind string
	// Noisy has 3×128×128 samples (v+½)/2 in 16 bits, of v in [−0.5, 1.5].
	Noisy []uint16
	// Errors are mean squares in each square, for each denoiser and node.
	Errors [][len(Nodes)][levelSquares]float32
}

// sample returns the value of a sample.
func (c *Crop) sample(i int) float32 { return float32(c.Noisy[i])/32768 - 0.5 }

// levelMixture are the shares of kinds of crops.
var levelMixture = []struct {
	kind  string
	share float64
}{
	{"camera", 0.27}, {"white", 0.12}, {"brightness", 0.04}, {"grey", 0.06}, {"tinted", 0.05},
	{"exposure", 0.05}, {"resized", 0.08}, {"compressed", 0.08}, {"speckle", 0.03}, {"uneven", 0.05}, {"framed", 0.02},
	{"clean", 0.05}, {"texture", 0.06}, {"drawing", 0.04},
	{"joined", 0}, {"grain", 0}, // by -only alone
}

// CropOf draws crop number seed of some pictures, of one kind unless only is empty: what is photographed,
// and the truth.
func CropOf(set *train.Pictures, seed uint64, only string) (kind string, noisy, clean []float32, err error) {
	r := rand.New(rand.NewPCG(seed, 0x6c65_7665_6c73))
	kind = levelMixture[0].kind
	u := r.Float64()
	for _, k := range levelMixture {
		if kind = k.kind; u < k.share {
			break
		}
		u -= k.share
	}
	if only != "" {
		kind = only
	}
	const side = cropSide
	c := train.CameraConfig()
	c.Crop, c.Camera.White, c.Camera.Clean = side, 0, 0
	photograph := func(grey bool) ([]float32, []float32, error) { return c.Photograph(set, grey, r) }
	scene := func() []float32 { return set.Scene(r, side) }
	// detailed is the one with the most detail of a number of scenes.
	detailed := func(number int) (chosen []float32) {
		most := -1.0
		for range number {
			if s := scene(); detail(s, side) > most {
				chosen, most = s, detail(s, side)
			}
		}
		return chosen
	}
	between := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	level := func(most float64) float64 {
		root := between(math.Sqrt(0.004), math.Sqrt(most))
		return root * root
	}
	// stored is what a file keeps of noise: floating point, 8 bits, or JPEG.
	stored := func(pix []float32) ([]float32, error) {
		switch u := r.Float64(); {
		case u < 0.3:
			return pix, nil
		case u < 0.65:
			return synthetic.Rounded(clipLevels(pix), 255), nil
		default:
			return cameranoise.Compressed(clipLevels(pix), side, side, anyJPEG(r, 60))
		}
	}
	// kept is what a file without noise holds, which is to come back: some are grey, some were saved as JPEG.
	kept := func(pix []float32) ([]float32, error) {
		if r.Float64() < 0.2 {
			pix = triple(synthetic.Rounded(synthetic.Grey(pix), 255))
		}
		if r.Float64() < 0.6 {
			return pix, nil
		}
		return cameranoise.Compressed(pix, side, side, anyJPEG(r, 75))
	}
	switch kind {
	case "camera":
		noisy, clean, err = photograph(false)
	case "white":
		clean = scene()
		noisy, err = stored(synthetic.White(clean, level(0.3), r.Uint64()))
	case "brightness":
		clean = scene()
		noisy, err = stored(synthetic.Brightness(clean, level(0.3), r.Uint64()))
	case "grey":
		if r.Float64() < 0.4 {
			noisy, clean, err = photograph(true)
			break
		}
		grey := synthetic.Grey(scene())
		clean = triple(grey)
		if noisy, err = stored(triple(synthetic.White(grey, level(0.25), r.Uint64()))); err == nil && r.Float64() < 0.3 {
			noisy = synthetic.Nudged(noisy, r.IntN(len(noisy)))
		}
	case "tinted":
		tint := [3]float64{1, between(0.75, 1), between(0.5, 1)}
		if r.Float64() < 0.6 {
			tint = [3]float64{between(0.96, 1), between(0.96, 1), between(0.96, 1)}
		}
		grey := synthetic.Grey(scene())
		clean = synthetic.Tinted(grey, tint)
		noisy, err = stored(synthetic.Tinted(synthetic.White(grey, level(0.25), r.Uint64()), tint))
	case "compressed": // what a file keeps of weak noise in much detail is easily taken for detail
		if clean = scene(); r.Float64() < 0.5 {
			clean = detailed(4)
		}
		sigma := math.Exp(between(math.Log(0.008), math.Log(0.08)))
		if r.Float64() < 0.7 {
			noisy = synthetic.White(clean, sigma, r.Uint64())
		} else {
			noisy = synthetic.Brightness(clean, sigma, r.Uint64())
		}
		noisy, err = cameranoise.Compressed(clipLevels(noisy), side, side, anyJPEG(r, 60))
	case "exposure":
		clean = scene()
		if r.Float64() < 0.5 {
			clean = synthetic.Overexposed(clean, between(0.05, 0.6))
		} else {
			clean = synthetic.Exposed(clean, math.Exp(-between(0.5, math.Log(32))))
		}
		noisy = clipLevels(synthetic.White(clean, level(0.25), r.Uint64()))
		if r.Float64() < 0.7 {
			noisy = synthetic.Rounded(noisy, 255)
		}
	case "resized":
		noisy, clean, err = resized(set, c, r)
	case "speckle":
		clean = scene()
		noisy, err = stored(synthetic.Speckle(clean, 2*level(0.25), r.Uint64()))
	case "uneven":
		clean = scene()
		high := level(0.3)
		noisy, err = stored(synthetic.Uneven(clean, side, side, high*math.Exp(-between(0, math.Log(8))), high, r.Uint64()))
	case "grain":
		clean = scene()
		noisy, err = stored(grain(clean, side, math.Exp(between(math.Log(0.02), math.Log(0.12))), r))
	case "joined":
		noisy, clean, err = photograph(false)
		if r.Float64() < 0.7 {
			clean = scene()
			noisy = synthetic.White(clean, level(0.3), r.Uint64())
		}
		if err == nil {
			beside := scene()
			other := beside
			if r.Float64() < 0.2 {
				other = synthetic.White(beside, level(0.03), r.Uint64())
			}
			joined(noisy, clean, other, beside, side, r)
			noisy, err = stored(noisy)
		}
	case "framed":
		noisy, clean, err = photograph(false)
		if r.Float64() < 0.5 {
			clean = scene()
			noisy, err = stored(synthetic.White(clean, level(0.2), r.Uint64()))
		}
		if err == nil {
			frame(noisy, clean, synthetic.Drawing(r.Uint64(), side, side), side, r)
		}
	case "clean":
		clean = scene()
		if r.Float64() < 0.4 {
			clean = synthetic.Rounded(cameranoise.Blurred(clean, side, side, between(0.4, 1.5)), 255)
		}
		clean, err = kept(clean)
		noisy = clean
	case "texture":
		clean, err = kept(detailed(8))
		noisy = clean
	case "drawing":
		clean = synthetic.Drawing(r.Uint64(), side, side)
		noisy = clean
	}
	return kind, noisy, clean, err
}

// resized draws a photograph with noise that was enlarged or reduced afterwards, so that neighbours share noise.
func resized(set *train.Pictures, c train.Config, r *rand.Rand) (noisy, clean []float32, err error) {
	factor := math.Exp((r.Float64()*2 - 1) * math.Log(2))
	side := int(math.Round(cropSide / factor))
	if r.Float64() < 0.5 {
		c.Crop = side
		noisy, clean, err = c.Photograph(set, false, r)
	} else {
		clean = set.Scene(r, side)
		root := math.Sqrt(0.01) + (math.Sqrt(0.3)-math.Sqrt(0.01))*r.Float64()
		noisy = synthetic.White(clean, root*root, r.Uint64())
	}
	if err != nil {
		return nil, nil, err
	}
	if r.Float64() < 0.5 {
		if noisy, err = cameranoise.Compressed(clipLevels(noisy), side, side, anyJPEG(r, 75)); err != nil {
			return nil, nil, err
		}
	}
	cubic := r.Float64() < 0.7
	noisy = synthetic.Resized(noisy, side, side, cropSide, cropSide, cubic)
	clean = synthetic.Resized(clean, side, side, cropSide, cropSide, cubic)
	if r.Float64() < 0.5 {
		return synthetic.Rounded(noisy, 255), clean, nil
	}
	noisy, err = cameranoise.Compressed(noisy, cropSide, cropSide, anyJPEG(r, 75))
	return noisy, clean, err
}

// anyJPEG draws a quality from worst to 98, and a subsampling.
func anyJPEG(r *rand.Rand, worst int) cameranoise.JPEG {
	return cameranoise.JPEG{Quality: worst + r.IntN(99-worst), Subsampling: cameranoise.Subsampling(r.IntN(3))}
}

// grain adds noise as that of colour film: its variance grows with light, neighbours share it, and a part of it is in
// brightness. What is in brightness alone cannot be told from texture.
func grain(clean []float32, side int, level float64, r *rand.Rand) []float32 {
	const inBrightness = 0.8
	inColour := 0.3 + 0.4*r.Float64()
	size := 0.4 + 0.6*r.Float64()
	middle := make([]float32, side*side)
	for i := range middle {
		middle[i] = 0.5
	}
	plane := func() []float32 {
		p := cameranoise.Blurred(synthetic.White(middle, 0.1, r.Uint64()), side, side, size)
		square := 0.0
		for i := range p {
			p[i] -= 0.5
			square += float64(p[i]) * float64(p[i]) / float64(side*side)
		}
		for i := range p {
			p[i] /= float32(math.Sqrt(square))
		}
		return p
	}
	brightness := plane()
	out := make([]float32, 0, len(clean))
	for c := range 3 {
		colour := plane()
		for i, v := range clean[c*side*side:][:side*side] {
			amount := level * math.Sqrt(max(float64(v), 0.02))
			out = append(out, v+float32(amount*(inBrightness*float64(brightness[i])+inColour*float64(colour[i]))))
		}
	}
	return out
}

// joined replaces the part of a photograph with noise, and of the one without, at one edge by another photograph.
func joined(noisy, clean, otherNoisy, otherClean []float32, side int, r *rand.Rand) {
	at := side/4 + r.IntN(side/2)
	upright, first := r.Float64() < 0.5, r.Float64() < 0.5
	for i := range noisy {
		k := i % side
		if upright {
			k = i % (side * side) / side
		}
		if k < at == first {
			noisy[i], clean[i] = otherNoisy[i], otherClean[i]
		}
	}
}

// frame replaces what is outside a random rectangle by a drawing, in a photograph with noise and in the one without.
func frame(noisy, clean, drawing []float32, side int, r *rand.Rand) {
	top, left := r.IntN(side/2), r.IntN(side/2)
	bottom, right := top+side/2+r.IntN(side/2-top), left+side/2+r.IntN(side/2-left)
	for i, v := range drawing {
		y, x := i%(side*side)/side, i%side
		if y < top || y >= bottom || x < left || x >= right {
			noisy[i], clean[i] = v, v
		}
	}
}

func clipLevels(pix []float32) []float32 {
	out := make([]float32, len(pix))
	for i, v := range pix {
		out[i] = min(max(v, 0), 1)
	}
	return out
}

func triple(plane []float32) []float32 {
	out := make([]float32, 0, 3*len(plane))
	for range 3 {
		out = append(out, plane...)
	}
	return out
}

// detail is the mean square of differences of neighbours.
func detail(pix []float32, side int) (sum float64) {
	for i := range len(pix) - side - 1 {
		a, b := float64(pix[i]-pix[i+1]), float64(pix[i]-pix[i+side])
		sum += a*a + b*b
	}
	return sum
}

// Trial tries denoisers on crops. It is for one goroutine.
type Trial struct {
	dev       backend.Device
	denoisers [][len(Nodes)]*denoise.Network
}

// NewTrial makes the networks of every node, of denoisers with levels and a guide.
func NewTrial(ctx context.Context, dev backend.Device, denoisers ...*denoise.Network) (*Trial, error) {
	t := &Trial{dev: dev}
	for _, n := range denoisers {
		var at [len(Nodes)]*denoise.Network
		for k, sigma := range Nodes {
			if sigma == 0 {
				continue
			}
			var err error
			if at[k], err = n.For(ctx, sigma); err != nil {
				return nil, err
			}
		}
		t.denoisers = append(t.denoisers, at)
	}
	return t, nil
}

// Crop returns a crop with the errors of every denoiser at every node. What would only grow worse is not
// computed: beyond a node at which each square's error is twice its least, the error grows on by a quarter
// a node; and far below the noise, where nothing is removed yet, it is that of node 0.
func (t *Trial) Crop(ctx context.Context, kind string, noisy, clean []float32) (*Crop, error) {
	c := &Crop{Kind: kind, Noisy: make([]uint16, len(noisy))}
	for i, v := range noisy {
		c.Noisy[i] = uint16(min(max(math.Round(float64(v+0.5)*32768), 0), 65535))
	}
	s := backend.Shape{N: 1, C: 3, H: cropSide, W: cropSide}
	src, err := t.dev.Alloc(s)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	dst, err := t.dev.Alloc(s)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	plain := squareErrors(clipLevels(noisy), clean)
	sum := 0.0
	for _, v := range plain {
		sum += float64(v) / levelSquares
	}
	grey := isGrey(noisy)
	for denoiser, at := range t.denoisers {
		var errors [len(Nodes)][levelSquares]float32
		errors[0] = plain
		least := plain
		done := false
		for k := 1; k < len(Nodes); k++ {
			sigma := Nodes[k]
			if sigma < math.Sqrt(sum)/10 {
				errors[k] = plain
				continue
			}
			if done {
				for i, v := range errors[k-1] {
					errors[k][i] = 1.25 * v
				}
				continue
			}
			seen := noisy
			if grey && denoiser == 0 { // guided gets it there, too, and camera does not: its noise has other axes
				p := &imageplanes.Planes{Width: cropSide, Height: cropSide, Channels: 1, Pix: noisy[:cropSide*cropSide]}
				seen = denoising.WithColourNoise(p, sigma, nil, 1).Pix
			}
			if err := t.dev.Upload(src, seen); err != nil {
				return nil, err
			}
			out, err := t.apply(ctx, at[k], dst, src, sigma)
			if err != nil {
				return nil, err
			}
			if grey {
				out = triple(mean3(out))
			}
			errors[k] = squareErrors(clipLevels(out), clean)
			done = true
			for i, v := range errors[k] {
				least[i] = min(least[i], v)
				done = done && v > 2*least[i]+1e-6
			}
		}
		c.Errors = append(c.Errors, errors)
	}
	return c, nil
}

func (t *Trial) apply(ctx context.Context, n *denoise.Network, dst, src backend.Buffer, sigma float64) ([]float32, error) {
	radii, err := n.GuideLevels(ctx, src, denoise.ConstantLevels(cropSide, cropSide, sigma), 1)
	if err != nil {
		return nil, err
	}
	frozen, err := n.Freeze(radii)
	if err != nil {
		return nil, err
	}
	defer frozen.Free()
	if err := frozen.Apply(ctx, dst, src); err != nil {
		return nil, err
	}
	out := make([]float32, dst.Shape().Len())
	return out, t.dev.Download(out, dst)
}

func squareErrors(a, b []float32) (list [levelSquares]float32) {
	const side, per = cropSide, cropSide / Square
	var sums [levelSquares]float64
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		y, x := i%(side*side)/side, i%side
		sums[y/Square*per+x/Square] += d * d
	}
	for i, v := range sums {
		list[i] = float32(v / (3 * Square * Square))
	}
	return list
}

// isGrey says whether three channels are equal, but for a step of 8 bits.
func isGrey(pix []float32) bool {
	n := len(pix) / 3
	for i := range n {
		if a, b, c := pix[i], pix[n+i], pix[2*n+i]; max(a, b, c)-min(a, b, c) > 1.001/255 {
			return false
		}
	}
	return true
}

func mean3(pix []float32) []float32 {
	n := len(pix) / 3
	out := make([]float32, n)
	for i := range n {
		out[i] = (pix[i] + pix[n+i] + pix[2*n+i]) / 3
	}
	return out
}
