package levellearning

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/symmetry"
	"github.com/averaged/imaging/train"
)

// NetConfig is the recipe of a network of noise levels (package noise).
type NetConfig struct {
	Widths     [noise.Scales]int `json:"widths"`
	Head       int               `json:"head"`
	Batch      int               `json:"batch"`
	Iterations int               `json:"iterations"`
	Rate       float64           `json:"rate"` // of Muon at the beginning, falling as a cosine
	// Floor is added to the mean squared error of a crop before its logarithm: below it decibels count less
	// and less.
	Floor float64 `json:"floor"`
	Seed  uint64  `json:"seed"`
}

// DefaultNetConfig returns a recipe to begin with. weights/README.md has the runs that the weights "levels" are of.
func DefaultNetConfig() NetConfig {
	return NetConfig{Widths: [noise.Scales]int{32, 48, 64}, Head: 64, Batch: 16, Iterations: 4000, Rate: 0.02, Floor: 3e-5, Seed: 1}
}

// Net is a network of noise levels in training.
type Net struct {
	config  NetConfig
	dev     backend.Device
	memory  *devicequeue.Pool // of one pass
	form    []noise.Layer
	layers  []*train.Layer
	learned []*train.Parameter
	descent *train.Descent
	way     backend.Activation
	at      int // iteration

	average [][]float32 // of the parameters
}

// NewNet returns a network with random weights.
func NewNet(dev backend.Device, c NetConfig) (*Net, error) {
	n := &Net{
		config: c, dev: dev, memory: devicequeue.NewPool(dev), form: noise.Layers(c.Widths, c.Head),
		way: backend.Activation{Kind: backend.LeakyReLU, Slope: noise.Slope},
	}
	random := rand.NewPCG(c.Seed, 0x7472_6169_6e69_6e67)
	uniform := func() float64 { return float64(random.Uint64()>>11) * 0x1p-53 }
	for i, l := range n.form {
		way := n.way
		if i == noise.Head+3 { // says levels
			way = backend.Activation{}
		}
		layer, err := train.NewLayer(dev, l.Name, l.Out, l.In, l.Kernel, way)
		if err != nil {
			return nil, err
		}
		weights, biases := layer.Parameters()[0], layer.Parameters()[1]
		weights.SetLength(math.Sqrt(float64(l.Out)))
		bound := math.Sqrt(6 / float64(l.In*l.Kernel*l.Kernel) / (1 + noise.Slope*noise.Slope))
		if l.Out <= noise.Denoisers { // says nothing yet
			bound *= 0.01
		}
		for i := range weights.Values() {
			weights.Values()[i] = float32(bound * (2*uniform() - 1))
		}
		if l.Name == "scale.0.0" {
			withoutMean(weights.Values(), l.Out*3/4, l.In*l.Kernel*l.Kernel)
		}
		if l.Out == noise.Denoisers {
			for i := range biases.Values() {
				biases.Values()[i] = 3
			}
		}
		n.layers, n.learned = append(n.layers, layer), append(n.learned, weights, biases)
	}
	o := train.MuonDefaults()
	o.WeightDecay, o.GradientLimit = 0.01, 1
	var err error
	if n.descent, err = train.NewDescent(dev, o, n.learned); err != nil {
		return nil, err
	}
	for _, p := range n.learned {
		n.average = append(n.average, append([]float32(nil), p.Values()...))
	}
	return n, n.update()
}

// withoutMean takes the mean from the first filters: noise is far weaker than what has a mean.
func withoutMean(filters []float32, number, size int) {
	for k := range number {
		f := filters[k*size:][:size]
		sum := float32(0)
		for _, v := range f {
			sum += v
		}
		for i := range f {
			f[i] -= sum / float32(size)
		}
	}
}

// update brings the parameters to the device.
func (n *Net) update() error {
	for _, l := range n.layers {
		if err := l.Update(); err != nil {
			return err
		}
	}
	return nil
}

// Take sets the parameters to those of a model of the same form.
func (n *Net) Take(m *noise.Model) error {
	for i := range n.layers {
		weights, biases := n.learned[2*i].Values(), n.learned[2*i+1].Values()
		if len(weights) != len(m.Layers[i].Weight) {
			return fmt.Errorf("layer %q has other sizes", m.Layers[i].Name)
		}
		copy(weights, m.Layers[i].Weight)
		copy(biases, m.Layers[i].Bias)
		copy(n.average[2*i], m.Layers[i].Weight)
		copy(n.average[2*i+1], m.Layers[i].Bias)
	}
	return n.update()
}

// Model returns the mean of the last parameters.
func (n *Net) Model() *noise.Model {
	m := &noise.Model{Layers: noise.Layers(n.config.Widths, n.config.Head)}
	for i := range m.Layers {
		m.Layers[i].Weight, m.Layers[i].Bias = append([]float32(nil), n.average[2*i]...), append([]float32(nil), n.average[2*i+1]...)
	}
	return m
}

// choice returns the weights and biases of the layer that chooses the denoiser, which is computed on the host.
func (n *Net) choice() (weights, biases *train.Parameter) {
	return n.learned[2*noise.Choice], n.learned[2*noise.Choice+1]
}

// layer applies layer i.
func (n *Net) layer(q *devicequeue.Queue, i int, x backend.Buffer) backend.Buffer {
	s := x.Shape()
	s.C = n.form[i].Out
	y := n.memory.Take(q, s)
	q.Do(func() error { return n.layers[i].Forward(context.Background(), y, x) })
	return y
}

// back goes back through layer i, and returns the gradient with respect to its input, whose shape is given.
func (n *Net) back(q *devicequeue.Queue, i int, gradient backend.Buffer, of backend.Shape) backend.Buffer {
	source := n.memory.Take(q, of)
	q.Do(func() error { return n.layers[i].Backward(context.Background(), source, gradient, true) })
	return source
}

// levelPass is what the way back needs.
type levelPass struct {
	x          []backend.Buffer // input of each layer but choice
	y          []backend.Buffer // output
	magnitudes [][]float32      // of each crop
	global     []*noise.Global
	said       []float32   // crops×denoisers×squares
	head       []float32   // crops×head×squares, what the choice sees
	choice     []float64   // of each crop, before the sigmoid
	pooled     [][]float32 // of each crop, means of head
}

// forward makes the levels of crops, N×3×128×128.
func (n *Net) forward(q *devicequeue.Queue, images []float32, crops int) *levelPass {
	n.memory.Reclaim()
	const side = cropSide
	p := &levelPass{}
	fine := n.memory.Take(q, backend.Shape{N: crops, C: 3, H: side, W: side})
	scaled := make([]float32, len(images))
	for i, v := range images {
		scaled[i] = (v - 0.5) * noise.Gain
	}
	q.Upload(fine, scaled)
	x := fine
	p.magnitudes = make([][]float32, crops)
	for i := range noise.Scales {
		u := n.memory.Take(q, x.Shape().Unshuffled(2))
		from := x
		q.Do(func() error { return n.dev.Unshuffle(u, from, 2) })
		y := n.layer(q, 2*i, u)
		z := n.layer(q, 2*i+1, y)
		p.x, p.y = append(p.x, u, y), append(p.y, y, z)
		s := z.Shape()
		values := make([]float32, s.Len())
		q.Download(values, z)
		parallel.Concurrently(crops, func(k int) {
			each := s.C * s.Plane()
			p.magnitudes[k] = append(p.magnitudes[k], noise.Magnitudes(values[k*each:][:each], s.C, s.H, s.W, s.H*Square/side)...)
		})
		x = z
	}
	features := n.form[noise.Head].In
	input := make([]float32, crops*features*levelSquares)
	p.global = make([]*noise.Global, crops)
	parallel.Concurrently(crops, func(k int) {
		image := images[k*3*side*side:][:3*side*side]
		counts := noise.Counts(image, side, side)
		p.magnitudes[k] = append(p.magnitudes[k], noise.Bands(image, side, side)...)
		in, global, _ := noise.HeadInput(context.Background(), p.magnitudes[k], counts, levelSquares) // a crop is small: nothing stops it
		copy(input[k*len(in):], in)
		p.global[k] = global
	})
	const per = side / Square
	h := n.memory.Take(q, backend.Shape{N: crops, C: features, H: per, W: per})
	q.Upload(h, input)
	for i := range 4 {
		p.x = append(p.x, h)
		h = n.layer(q, noise.Head+i, h)
		p.y = append(p.y, h)
	}
	p.said = make([]float32, h.Shape().Len())
	q.Download(p.said, h)
	last := p.x[len(p.x)-1]
	p.head = make([]float32, last.Shape().Len())
	q.Download(p.head, last)
	width := last.Shape().C
	weights, biases := n.choice()
	for k := range crops {
		pooled := make([]float32, width)
		sum := float64(biases.Values()[0])
		for c := range pooled {
			mean := float32(0)
			for _, v := range p.head[(k*width+c)*levelSquares:][:levelSquares] {
				mean += v / levelSquares
			}
			pooled[c] = mean
			sum += float64(mean) * float64(weights.Values()[c])
		}
		p.pooled, p.choice = append(p.pooled, pooled), append(p.choice, sum)
	}
	return p
}

// backward adds to the gradients, given those of what was said and of the choices.
func (n *Net) backward(q *devicequeue.Queue, p *levelPass, dsaid []float32, dchoice []float64) {
	crops := len(p.choice)
	last := len(p.x) - 1
	width := p.x[last].Shape().C
	weights, biases := n.choice()
	clear(weights.Gradient())
	clear(biases.Gradient())
	dpooled := make([]float32, len(p.head))
	for k, d := range dchoice {
		biases.Gradient()[0] += float32(d)
		for c := range width {
			weights.Gradient()[c] += float32(d * float64(p.pooled[k][c]))
			v := float32(d * float64(weights.Values()[c]) / levelSquares)
			for i := range levelSquares {
				dpooled[(k*width+c)*levelSquares+i] = v
			}
		}
	}
	d := n.memory.Take(q, p.y[last].Shape())
	q.Upload(d, dsaid)
	for i := last; i >= noise.Head; i-- {
		below := n.back(q, i, d, p.x[i].Shape())
		if i == last {
			extra := n.memory.Take(q, p.x[i].Shape())
			q.Upload(extra, dpooled)
			q.Combine(below, backend.Term{A: 1, X: below}, backend.Term{A: 1, X: extra})
		}
		d = below
	}
	features := p.x[noise.Head].Shape().C
	dinput := make([]float32, d.Shape().Len())
	q.Download(dinput, d)
	each := features / noise.Statistics
	// Of each crop's magnitudes.
	dmagnitudes := make([][]float32, crops)
	parallel.Concurrently(crops, func(k int) {
		logs := len(p.magnitudes[k]) / levelSquares
		dm := make([]float32, len(p.magnitudes[k]))
		of := dinput[k*features*levelSquares:][:features*levelSquares]
		for c := range logs {
			global := 0.0
			for _, v := range of[(each+c)*levelSquares:][:levelSquares] {
				global += float64(v)
			}
			g := p.global[k]
			all := float32(global) * noise.LogarithmSlope(g.Means[c]) / levelSquares
			for i := range levelSquares {
				at := c*levelSquares + i
				dm[at] = of[at]*noise.LogarithmSlope(p.magnitudes[k][at]) + all
			}
			low := 0.0
			for _, v := range of[(2*each+c)*levelSquares:][:levelSquares] {
				low += float64(v)
			}
			least := float32(low) * noise.LogarithmSlope(g.Lows[c]) / float32(len(g.Lowest[c]))
			for _, i := range g.Lowest[c] {
				dm[c*levelSquares+i] += least
			}
		}
		dmagnitudes[k] = dm
	})
	var above backend.Buffer // gradient from the scale below
	first := len(dmagnitudes[0]) - noise.BandsOf*levelSquares
	for i := noise.Scales - 1; i >= 0; i-- {
		z := p.y[2*i+1]
		s := z.Shape()
		first -= s.C * levelSquares
		values, gradient := make([]float32, s.Len()), make([]float32, s.Len())
		q.Download(values, z)
		cell := s.H * Square / cropSide
		const per = cropSide / Square
		parallel.Concurrently(crops, func(k int) {
			for c := range s.C {
				for y := range s.H {
					row := values[((k*s.C+c)*s.H+y)*s.W:][:s.W]
					to := gradient[((k*s.C+c)*s.H+y)*s.W:][:s.W]
					dm := dmagnitudes[k][first+c*levelSquares+y/cell*per:][:per]
					for x, v := range row {
						g := dm[x/cell] / float32(cell*cell)
						if v < 0 {
							g = -g
						}
						to[x] = g
					}
				}
			}
		})
		dz := n.memory.Take(q, s)
		q.Upload(dz, gradient)
		if above != nil {
			q.Combine(dz, backend.Term{A: 1, X: dz}, backend.Term{A: 1, X: above})
		}
		dy := n.back(q, 2*i+1, dz, p.y[2*i].Shape())
		if i == 0 {
			q.Do(func() error { return n.layers[0].Backward(context.Background(), nil, dy, true) })
		} else {
			du := n.back(q, 2*i, dy, p.x[2*i].Shape())
			above = n.memory.Take(q, p.y[2*i-1].Shape())
			to := above
			q.Do(func() error { return n.dev.Shuffle(to, du, 2) })
		}
	}
}

// Score is what a batch, or a set, came to.
type Score struct {
	Loss float64
	// Noisy, Best and Said are mean PSNRs in dB, at most 60: of the crops, of the best constant level of the
	// better denoiser, and of the map through the denoiser that is chosen.
	Noisy, Best, Said float64
	Chosen            float64 // share of crops that the second denoiser is chosen for
	Count             int
}

// Add adds a score that is a mean over its Count.
func (s *Score) Add(o Score) {
	n := float64(o.Count)
	s.Loss, s.Noisy, s.Best, s.Said, s.Chosen = s.Loss+n*o.Loss, s.Noisy+n*o.Noisy, s.Best+n*o.Best, s.Said+n*o.Said, s.Chosen+n*o.Chosen
	s.Count += o.Count
}

// Mean divides sums by the count.
func (s Score) Mean() Score {
	n := float64(max(1, s.Count))
	return Score{s.Loss / n, s.Noisy / n, s.Best / n, s.Said / n, s.Chosen / n, s.Count}
}

func decibels(mse float64) float64 { return -10 * math.Log10(mse+1e-6) }

// choiceWeight is what the choice of the denoiser counts, beside the levels.
const choiceWeight = 4

// levelLoss returns the loss of a crop and its gradients. errors are those of the crop, said and dsaid are
// denoisers×squares.
func (n *Net) levelLoss(errors [][len(Nodes)][levelSquares]float32, said []float32, choice float64, dsaid []float32) (s Score, dchoice float64) {
	var losses, mean [noise.Denoisers]float64
	best := math.Inf(1)
	var constant [noise.Denoisers]float64 // the loss of the best constant level
	for k := range errors {
		constant[k] = math.Inf(1)
		sum := 0.0
		var slopes [levelSquares]float64
		for i := range levelSquares {
			e, slope := levelError(&errors[k], i, float64(said[k*levelSquares+i]))
			sum += e / levelSquares
			slopes[i] = e * slope / levelSquares
		}
		losses[k], mean[k] = math.Log(sum+n.config.Floor), sum
		scale := 1 / (sum + n.config.Floor)
		for i, v := range slopes {
			dsaid[k*levelSquares+i] = float32(scale * v / noise.Denoisers)
		}
		for node := range Nodes {
			all := 0.0
			for _, v := range errors[k][node] {
				all += float64(v) / levelSquares
			}
			best = min(best, all)
			constant[k] = min(constant[k], math.Log(all+n.config.Floor))
		}
		s.Loss += losses[k] / noise.Denoisers
	}
	plain := 0.0
	for _, v := range errors[0][0] {
		plain += float64(v) / levelSquares
	}
	chosen := 0
	if choice > 0 {
		chosen, s.Chosen = 1, 1
	}
	s.Noisy, s.Best, s.Said, s.Count = decibels(plain), decibels(best), decibels(mean[chosen]), 1
	// The choice learns which denoiser is better at its best constant level, the more the more they differ: a
	// logistic regression.
	p := 1 / (1 + math.Exp(-choice))
	weight, better := math.Min(choiceWeight*math.Abs(constant[1]-constant[0]), choiceWeight), 0.0
	if constant[1] < constant[0] {
		better = 1
	}
	s.Loss -= weight * math.Log(math.Max(better*p+(1-better)*(1-p), 1e-12))
	return s, weight * (p - better)
}

// levelError returns the error of a square at the number u, and the derivative of its logarithm. Between
// nodes the logarithm is cubic (Catmull and Rom), in the first interval linear; below 0 the error is that
// of 0, with a slope that leads back to 0 from next to it and not from far.
func levelError(errors *[len(Nodes)][levelSquares]float32, square int, u float64) (e, slope float64) {
	const tiny = 1e-7
	at := func(k int) float64 {
		return math.Log(float64(errors[min(max(k, 0), len(Nodes)-1)][square]) + tiny)
	}
	if u < 0 {
		slope = at(1) - at(0)
		if u < -0.3 && slope > 0 {
			slope = 0
		}
		return math.Exp(at(0)), slope
	}
	const last = len(Nodes) - 1
	if u >= float64(last) {
		return math.Exp(at(last)), max(at(last)-at(last-1), 0.1)
	}
	k := int(u)
	t := u - float64(k)
	p1, p2 := at(k), at(k+1)
	m1, m2 := (p2-at(k-1))/2, (at(k+2)-p1)/2
	if k == 0 {
		return math.Exp(p1 + t*(p2-p1)), p2 - p1
	}
	if k == 1 {
		m1 = p2 - p1
	}
	if k+1 == last {
		m2 = p2 - p1
	}
	t2, t3 := t*t, t*t*t
	v := (2*t3-3*t2+1)*p1 + (t3-2*t2+t)*m1 + (3*t2-2*t3)*p2 + (t3-t2)*m2
	return math.Exp(v), (6*t2-6*t)*(p1-p2) + (3*t2-4*t+1)*m1 + (3*t2-2*t)*m2
}

// Step learns from a batch drawn from crops.
func (n *Net) Step(crops []*Crop) (Score, error) {
	r := rand.New(rand.NewPCG(n.config.Seed, uint64(n.at)))
	batch := make([]*Crop, n.config.Batch)
	for i := range batch {
		batch[i] = crops[r.IntN(len(crops))].turned(symmetry.Symmetry(r.IntN(symmetry.Number)))
	}
	q := &devicequeue.Queue{Dev: n.dev}
	for _, l := range n.layers {
		q.Do(l.Clear)
	}
	p := n.forward(q, samplesOf(batch), len(batch))
	score, dsaid, dchoice := n.score(p, batch)
	for i := range dsaid {
		dsaid[i] /= float32(len(batch))
	}
	for i := range dchoice {
		dchoice[i] /= float64(len(batch))
	}
	n.backward(q, p, dsaid, dchoice)
	for i, l := range n.layers {
		if i != noise.Choice {
			q.Do(l.Gradients)
		}
	}
	if q.Err != nil {
		return Score{}, q.Err
	}
	progress := float64(n.at) / float64(n.config.Iterations)
	rate := n.config.Rate * min(1, float64(n.at+1)/100) * (0.5 + 0.5*math.Cos(math.Pi*min(progress, 1))) * 0.98
	if _, err := n.descent.Step(n.at, rate+n.config.Rate*0.02); err != nil {
		return Score{}, err
	}
	n.at++
	keep := min(0.995, float64(n.at)/float64(n.at+10))
	for i, p := range n.learned {
		for k, v := range p.Values() {
			n.average[i][k] = float32(keep*float64(n.average[i][k]) + (1-keep)*float64(v))
		}
	}
	q.Do(n.update)
	return score, q.Err
}

// score returns the score of a pass, and the gradients of the sum of losses.
func (n *Net) score(p *levelPass, batch []*Crop) (score Score, dsaid []float32, dchoice []float64) {
	dsaid, dchoice = make([]float32, len(p.said)), make([]float64, len(batch))
	scores := make([]Score, len(batch))
	parallel.Concurrently(len(batch), func(k int) {
		const each = noise.Denoisers * levelSquares
		scores[k], dchoice[k] = n.levelLoss(batch[k].Errors, p.said[k*each:][:each], p.choice[k], dsaid[k*each:][:each])
	})
	for _, s := range scores {
		score.Add(s)
	}
	return score.Mean(), dsaid, dchoice
}

// Evaluate returns the score of crops of each kind, with the mean of the last parameters.
func (n *Net) Evaluate(crops []*Crop) (map[string]Score, error) {
	q := &devicequeue.Queue{Dev: n.dev}
	current := make([][]float32, len(n.learned))
	for i, p := range n.learned {
		current[i] = append([]float32(nil), p.Values()...)
		copy(p.Values(), n.average[i])
	}
	q.Do(n.update)
	kinds := map[string]Score{}
	for at := 0; at < len(crops); at += n.config.Batch {
		batch := crops[at:min(at+n.config.Batch, len(crops))]
		p := n.forward(q, samplesOf(batch), len(batch))
		if q.Err != nil {
			return nil, q.Err
		}
		const each = noise.Denoisers * levelSquares
		dsaid := make([]float32, each)
		for k, c := range batch {
			s, _ := n.levelLoss(c.Errors, p.said[k*each:][:each], p.choice[k], dsaid)
			sum := kinds[c.Kind]
			sum.Add(s)
			kinds[c.Kind] = sum
		}
	}
	for i, p := range n.learned {
		copy(p.Values(), current[i])
	}
	q.Do(n.update)
	for kind, s := range kinds {
		kinds[kind] = s.Mean()
	}
	return kinds, q.Err
}

func samplesOf(batch []*Crop) []float32 {
	each := len(batch[0].Noisy)
	out := make([]float32, len(batch)*each)
	parallel.Concurrently(len(batch), func(k int) {
		for i := range each {
			out[k*each+i] = batch[k].sample(i)
		}
	})
	return out
}

// turned returns a crop, turned.
func (c *Crop) turned(s symmetry.Symmetry) *Crop {
	if s == 0 {
		return c
	}
	const side, per = cropSide, cropSide / Square
	out := &Crop{Kind: c.Kind, Noisy: make([]uint16, len(c.Noisy)), Errors: make([][len(Nodes)][levelSquares]float32, len(c.Errors))}
	for k := range 3 {
		symmetry.Apply(s, out.Noisy[k*side*side:][:side*side], c.Noisy[k*side*side:], side)
	}
	for k := range c.Errors {
		for node := range Nodes {
			symmetry.Apply(s, out.Errors[k][node][:], c.Errors[k][node][:], per)
		}
	}
	return out
}
