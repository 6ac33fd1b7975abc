package classifier

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// Kind of a network.
type Kind string

const (
	// NonExpNet has stages of averaged Euler steps, which split as it learns.
	NonExpNet Kind = "nonexpnet"
	// ResNet has residual blocks without constraint.
	ResNet Kind = "resnet"
)

// slope of all LeakyReLU, the paper's.
const slope = 0.01

// Form of a network. Paper is the one that was published.
type Form struct {
	Kind Kind `json:"kind"`
	// Widths are the channels of the stages and, last, those of the linear layer.
	Widths []int `json:"widths"`
	// Blocks of a stage.
	Blocks int `json:"blocks"`
	// Limit of the norm of each 1×1 layer, 0 for none: weights that an update has made larger are
	// scaled back.
	Limit float64 `json:"limit"`
	// StageLimit is that of the filters of a NonExpNet's stages, as far as the power iteration knows
	// their norms. Without it, 0, they grow and their blocks take more steps, as in the paper; with
	// √2 a block keeps to one.
	StageLimit float64 `json:"stage_limit"`
	// Gain is the norm that the 1×1 layers begin with, as multiples of isometries, or of adjoints of
	// isometries, that take middle grey to 0. 0 draws them as PyTorch does and the paper has it.
	Gain float64 `json:"gain"`
}

// Paper returns the published form.
func Paper(k Kind) Form { return Form{Kind: k, Widths: []int{16, 32, 64, 128}, Blocks: 5} }

// Outputs is the number of classes, inputs that of an image's channels, and side its height and
// width.
const (
	Outputs = 10
	inputs  = 3
	side    = 32
)

func (f Form) check() error {
	if f.Kind != NonExpNet && f.Kind != ResNet {
		return fmt.Errorf("kind %.40q, must be %q or %q", f.Kind, NonExpNet, ResNet)
	}
	if n := len(f.Widths); n < 2 || n > 6 {
		return fmt.Errorf("%d widths, must be 2 to 6: of the stages, and one more", n)
	}
	for _, w := range f.Widths {
		if w < 1 || w > 1<<12 {
			return fmt.Errorf("a width is %d, must be 1 to %d", w, 1<<12)
		}
	}
	if f.Blocks < 1 || f.Blocks > 1<<10 {
		return fmt.Errorf("%d blocks, must be 1 to %d", f.Blocks, 1<<10)
	}
	for _, limit := range []float64{f.Limit, f.StageLimit} {
		if !(limit >= 0) || math.IsInf(limit, 1) {
			return fmt.Errorf("the limit of a norm is %v, must be 0 or more", limit)
		}
	}
	if !(f.Gain >= 0 && f.Gain <= 1e3) {
		return fmt.Errorf("the gain of the 1×1 layers is %v, must be 0 to 1000", f.Gain)
	}
	return nil
}

// bounded is a part of which a Lipschitz constant is proven.
type bounded interface {
	lipschitz(ctx context.Context) (float64, error)
}

// link is a part of a network, and the shape that it makes of images with one picture.
type link struct {
	name string
	train.Part
	out backend.Shape
}

// Network is a classifier on a device: images of 3×32×32 samples in [0, 1] to ten scores. It is
// for one goroutine.
type Network struct {
	form   Form
	dev    backend.Device
	memory *devicequeue.Pool
	links  []link
	linear []*train.Layer // the 1×1 layers

	results []backend.Buffer // of the links, of the last Forward
}

// New allocates a network whose parameters are zero.
func New(dev backend.Device, f Form) (_ *Network, err error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	n := &Network{form: f, dev: dev, memory: devicequeue.NewPool(dev)}
	defer func() {
		if err != nil {
			n.Release()
		}
	}()
	shape := backend.Image(inputs, side, side)
	add := func(name string, p train.Part) { n.links = append(n.links, link{name, p, shape}) }
	lift := func(name string, width int) error {
		l, err := train.NewLayer(dev, name, width, shape.C, 1, backend.Activation{})
		if err != nil {
			return err
		}
		shape.C = width
		n.linear = append(n.linear, l)
		add(name, l)
		return nil
	}
	pool := func(name string, factor int) error {
		p, err := newPooling(dev, shape.C, factor)
		if err != nil {
			return err
		}
		shape.H, shape.W = shape.H/factor, shape.W/factor
		add(name, p)
		return nil
	}
	last := len(f.Widths) - 1
	for i, width := range f.Widths[:last] {
		if err := lift(fmt.Sprintf("lift%d", i+1), width); err != nil {
			return nil, err
		}
		if err := n.addStage(fmt.Sprintf("stage%d", i+1), width, add); err != nil {
			return nil, err
		}
		factor := 2
		if i == last-1 {
			factor = shape.H // 2×2, and all that is left
		}
		if err := pool(fmt.Sprintf("pool%d", i+1), factor); err != nil {
			return nil, err
		}
	}
	if err := lift(fmt.Sprintf("lift%d", last+1), f.Widths[last]); err != nil {
		return nil, err
	}
	return n, lift("linear", Outputs)
}

func (n *Network) addStage(name string, width int, add func(string, train.Part)) error {
	if n.form.Kind == NonExpNet {
		c := train.PaperConfig("euler")
		c.Channels, c.Width, c.Blocks, c.Slope = width, width, n.form.Blocks, slope
		c.Schedule = train.Schedule{Name: train.Constant, Maximum: 1} // which nobody looks at
		s, err := train.NewStage(n.dev, name, c)
		if err != nil {
			return err
		}
		add(name, stage{s})
		return nil
	}
	for i := range n.form.Blocks {
		name := fmt.Sprintf("%s.%d", name, i)
		r, err := newResidual(n.dev, name, width, 3)
		if err != nil {
			return err
		}
		add(name, r)
	}
	return nil
}

// stage is one whose constant is 1.
type stage struct{ *train.Stage }

// lipschitz proves that the stage is nonexpansive, and has it take the steps that this needs.
func (s stage) lipschitz(ctx context.Context) (float64, error) {
	c, err := s.Certify(ctx)
	if err != nil {
		return 0, err
	}
	if !c.Proven {
		return 0, fmt.Errorf("a stage is not proven to be nonexpansive: %s", c.Reason)
	}
	return 1, nil
}

// Parameters are what is learned.
func (n *Network) Parameters() []*train.Parameter {
	var list []*train.Parameter
	for _, l := range n.links {
		list = append(list, l.Parameters()...)
	}
	return list
}

// Count returns the number of trainable numbers.
func (n *Network) Count() int {
	count := 0
	for _, p := range n.Parameters() {
		count += len(p.Values())
	}
	return count
}

// each does something for every part.
func (n *Network) each(f func(p train.Part) error) error {
	for _, l := range n.links {
		if err := f(l.Part); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// Initialise draws the parameters.
func (n *Network) Initialise(seed uint64) error {
	for i, l := range n.links {
		if err := l.Initialise(mixed(seed, uint64(i))); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	if n.form.Gain > 0 {
		for i, l := range n.linear {
			weights, biases := l.Parameters()[0], l.Parameters()[1].Values()
			isometry(weights.Values(), weights.Shape()[0], n.form.Gain, mixed(seed, uint64(len(n.links)+i)))
			clear(biases)
			if i > 0 {
				continue
			}
			for o := range biases {
				for _, v := range weights.Values()[o*inputs:][:inputs] {
					biases[o] -= v / 2
				}
			}
		}
	}
	return n.Update()
}

// isometry draws a matrix of which all singular values are the gain: random rows or columns,
// whichever are fewer, by the method of Gram and Schmidt.
func isometry(w []float32, rows int, gain float64, seed uint64) {
	columns := len(w) / rows
	g := rand.New(rand.NewPCG(seed, 0))
	vectors := make([][]float64, min(rows, columns))
	for i := range vectors {
		v := make([]float64, max(rows, columns))
		for j := range v {
			v[j] = g.NormFloat64()
		}
		for _, u := range vectors[:i] {
			product := 0.0
			for j := range v {
				product += float64(u[j] * v[j])
			}
			for j := range v {
				v[j] -= float64(product * u[j])
			}
		}
		normalise(v)
		vectors[i] = v
	}
	for i, v := range vectors {
		for j, x := range v {
			at := i*columns + j
			if rows > columns {
				at = j*columns + i
			}
			w[at] = float32(gain * x)
		}
	}
}

// Forward sets scores, of shape N×10×1×1, to those of images, of N×3×32×32, and keeps what
// Backward needs: images have to stay as they are.
func (n *Network) Forward(ctx context.Context, scores, images backend.Buffer) error {
	q := &devicequeue.Queue{Dev: n.dev}
	n.memory.Reclaim()
	n.results = n.results[:0]
	x := images
	for i, l := range n.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		dst := scores
		if i < len(n.links)-1 {
			shape := l.out
			shape.N = images.Shape().N
			dst = n.memory.Take(q, shape)
			n.results = append(n.results, dst)
		}
		q.Do(func() error { return l.Forward(ctx, dst, x) })
		x = dst
	}
	return q.Err
}

// Backward sets source, which may be nil, to the gradient with respect to the images of the last
// Forward, given that with respect to the scores, which it may spoil, and with learn adds to
// those of the parameters.
func (n *Network) Backward(ctx context.Context, source, gradient backend.Buffer, learn bool) error {
	q := &devicequeue.Queue{Dev: n.dev}
	g := gradient
	for i := len(n.links) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := source
		if i > 0 {
			to = n.memory.Take(q, n.results[i-1].Shape())
		}
		q.Do(func() error { return n.links[i].Backward(ctx, to, g, learn) })
		if i < len(n.links)-1 {
			n.memory.Give(g, n.results[i])
		}
		g = to
	}
	n.results = n.results[:0]
	return q.Err
}

// Clear, Gradients: see train.Part.
func (n *Network) Clear() error { return n.each(train.Part.Clear) }

// Gradients brings the gradients to the parameters.
func (n *Network) Gradients() error { return n.each(train.Part.Gradients) }

// Update follows a change of the parameters, and scales back those with a norm beyond its limit.
func (n *Network) Update() error {
	if n.form.Limit > 0 {
		for _, l := range n.linear {
			p := l.Parameters()[0]
			scaleBack(p, spectralNorm(p.Values(), p.Shape()[0]), n.form.Limit)
		}
	}
	if err := n.each(train.Part.Update); err != nil || n.form.StageLimit == 0 {
		return err
	}
	return n.each(func(p train.Part) error {
		if s, ok := p.(stage); ok && s.scaleBack(n.form.StageLimit) {
			return s.Update()
		}
		return nil
	})
}

// scaleBack limits the norm of weights, and reports whether that was needed.
func scaleBack(p *train.Parameter, norm, limit float64) bool {
	if !(norm > limit) {
		return false
	}
	for i, v := range p.Values() {
		p.Values()[i] = float32(float64(v) * limit / norm)
	}
	return true
}

// scaleBack limits the norms of a stage's filters: weights and biases of its blocks take turns.
func (s stage) scaleBack(limit float64) (changed bool) {
	parameters := s.Parameters()
	for i, b := range s.Blocks() {
		if scaleBack(parameters[2*i], b.Norm, limit) {
			changed = true
		}
	}
	return changed
}

// spectralNorm is a lower bound of the norm of a matrix, close to it: fixed numbers of power
// iterations from a fixed start, so that it depends on nothing but the matrix.
func spectralNorm(w []float32, rows int) float64 {
	columns := len(w) / rows
	right, left := make([]float64, columns), make([]float64, rows)
	for i := range right {
		right[i] = 1 + float64(i%7)/7
	}
	norm := 0.0
	for range 40 {
		normalise(right)
		for o := range left {
			left[o] = 0
			for i, v := range w[o*columns:][:columns] {
				left[o] += float64(float64(v) * right[i])
			}
		}
		norm = normalise(left)
		clear(right)
		for o, l := range left {
			for i, v := range w[o*columns:][:columns] {
				right[i] += float64(float64(v) * l)
			}
		}
	}
	return norm
}

// normalise divides x by its norm, which it returns; zeros stay.
func normalise(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	norm := math.Sqrt(sum)
	for i := range x {
		if norm > 0 {
			x[i] /= norm
		}
	}
	return norm
}

// Steps returns the number of steps of each block of a NonExpNet, as it is now.
func (n *Network) Steps() []int {
	var list []int
	for _, l := range n.links {
		if s, ok := l.Part.(stage); ok {
			for _, b := range s.Blocks() {
				list = append(list, b.Steps)
			}
		}
	}
	return list
}

// Factor is a bound of the Lipschitz constant of a part.
type Factor struct {
	Name  string
	Bound float64
}

// Lipschitz returns a proven Lipschitz constant of the scores, in the Euclidean norms and in
// exact arithmetic: the product of those of the parts. A NonExpNet's stages have 1, and take
// from then on, until the next Update, the steps that this needs. For a ResNet it is a bound as
// well, and of no use.
func (n *Network) Lipschitz(ctx context.Context) (float64, []Factor, error) {
	product, list := 1.0, []Factor(nil)
	for _, l := range n.links {
		var bound float64
		var err error
		switch p := l.Part.(type) {
		case bounded:
			bound, err = p.lipschitz(ctx)
		case *train.Layer:
			bound, err = normOf(ctx, p)
		default:
			err = fmt.Errorf("nothing is known of a %T", p)
		}
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", l.name, err)
		}
		list = append(list, Factor{l.name, bound})
		product = math.Nextafter(product*bound, math.Inf(1))
	}
	return product, list, nil
}

// normOf bounds the norm of a layer's convolution, of images of any size.
func normOf(ctx context.Context, l *train.Layer) (float64, error) {
	p := l.Parameters()[0]
	s := p.Shape()
	b, err := normbound.Prove(ctx, p.Values(), backend.Shape{N: s[0], C: s[1], H: s[2], W: s[3]}, 0)
	return b.Upper, err
}

// Save adds what the next iteration depends on to a file, and Load takes it up.
func (n *Network) Save(f *weights.File, prefix string) error {
	return n.each(func(p train.Part) error { return p.Save(f, prefix) })
}

// Load: see Save.
func (n *Network) Load(f *weights.File, prefix string) error {
	return n.each(func(p train.Part) error { return p.Load(f, prefix) })
}

// Release gives the device's memory back.
func (n *Network) Release() {
	for _, l := range n.links {
		l.Part.Release()
	}
	n.memory.Free()
}

// mixed makes seeds of a seed (the finaliser of SplitMix64, Steele et al. 2014).
func mixed(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Scores returns those of images on the host, Outputs for each.
func (n *Network) Scores(ctx context.Context, images []float32) ([]float32, error) {
	count := len(images) / Samples
	memory := devicequeue.NewPool(n.dev)
	defer memory.Free()
	q := &devicequeue.Queue{Dev: n.dev}
	x := memory.Take(q, backend.Shape{N: count, C: inputs, H: side, W: side})
	s := memory.Take(q, backend.Shape{N: count, C: Outputs, H: 1, W: 1})
	scores := make([]float32, count*Outputs)
	q.Upload(x, images)
	q.Do(func() error { return n.Forward(ctx, s, x) })
	q.Download(scores, s)
	return scores, q.Err
}
