package train

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/parallel"
)

// Names of an Optimiser.
const (
	// SGD is stochastic gradient descent with momentum and weight decay as in PyTorch, v ← Momentum·v +
	// (gradient + WeightDecay·w), w ← w − rate·v.
	SGD = "sgd"
	// Adam is that of Kingma and Ba (2015) with the weight decay of Loshchilov and Hutter (2019), w ← (1 −
	// rate·WeightDecay)·w, which is called AdamW if it is not 0.
	Adam = "adam"
	// Muon moves the weights of convolutions, as matrices with a row for each output channel, along the
	// orthogonal part of their momentum m ← Momentum·m + (1−Momentum)·gradient (Jordan et al. 2024, in
	// Nesterov's form):
	//
	//	w ← w − rate·‖w‖/√rows · orthogonal(Momentum·m + (1−Momentum)·gradient),
	//
	// in Frobenius norms, so that the rate is the relative change. Weights that are normalised in the graph
	// keep their length, which does not matter. Adam changes all other parameters, with rate·OtherRate.
	Muon = "muon"
)

// Optimiser is the method by which gradients change the parameters.
type Optimiser struct {
	Name        string  `json:"name"`
	Momentum    float64 `json:"momentum"`   // of SGD and Muon
	OtherRate   float64 `json:"other_rate"` // of Muon
	Beta1       float64 `json:"beta1"`      // of Adam
	Beta2       float64 `json:"beta2"`
	Epsilon     float64 `json:"epsilon"`
	WeightDecay float64 `json:"weight_decay"`
	// GradientLimit is the largest Euclidean norm of all gradients together; longer ones are scaled down to
	// it. 0 means no limit.
	GradientLimit float64 `json:"gradient_limit"`
}

// adamDefaults are the customary constants of Adam.
func adamDefaults() Optimiser {
	return Optimiser{Name: Adam, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
}

// MuonDefaults are the customary constants of Muon.
func MuonDefaults() Optimiser {
	o := adamDefaults()
	o.Name, o.Momentum, o.OtherRate = Muon, 0.95, 0.1
	return o
}

func (o Optimiser) check() error {
	below1 := func(v float64) bool { return v >= 0 && v < 1 }
	switch {
	case o.Name != SGD && o.Name != Adam && o.Name != Muon:
		return fmt.Errorf("optimiser %.40q, must be %q, %q or %q", o.Name, SGD, Adam, Muon)
	case o.Name != Adam && !below1(o.Momentum):
		return fmt.Errorf("momentum is %v, must be 0 or more and below 1", o.Momentum)
	case o.Name == Muon && !(o.OtherRate > 0 && !math.IsInf(o.OtherRate, 1)):
		return fmt.Errorf("other_rate is %v, must be above 0", o.OtherRate)
	case o.Name != SGD && !(below1(o.Beta1) && below1(o.Beta2) && o.Epsilon > 0):
		return fmt.Errorf("optimiser %q with beta1 %v, beta2 %v, epsilon %v: the first two must be 0 or more and below 1, the third above 0", o.Name, o.Beta1, o.Beta2, o.Epsilon)
	case !(o.WeightDecay >= 0) || math.IsInf(o.WeightDecay, 1):
		return fmt.Errorf("weight_decay is %v, must be 0 or more", o.WeightDecay)
	case !(o.GradientLimit >= 0):
		return fmt.Errorf("gradient_limit is %v, must be 0 or more", o.GradientLimit)
	}
	return nil
}

// optimiser is an Optimiser with what it remembers of earlier gradients.
type optimiser struct {
	Optimiser
	parameters []*Parameter
	// first is the momentum of SGD or Muon or the first moment of Adam, second the second
	// moment of Adam, nil for others.
	first, second [][]float32
	// orthogonal has an entry for each parameter that Muon takes for a matrix, else nil.
	orthogonal []*orthogonaliser
	all        []*orthogonaliser // each once
	kept       *devicequeue.Pool
}

func newOptimiser(dev backend.Device, o Optimiser, parameters []*Parameter) (*optimiser, error) {
	m := &optimiser{Optimiser: o, parameters: parameters, kept: devicequeue.NewPool(dev)}
	q := &devicequeue.Queue{Dev: dev}
	shapes := map[[2]int]*orthogonaliser{}
	for _, p := range parameters {
		m.first = append(m.first, make([]float32, len(p.values)))
		var second []float32
		var orthogonal *orthogonaliser
		switch {
		case o.Name == Muon && p.isMatrix():
			shape := [2]int{p.shape[0], len(p.values) / p.shape[0]}
			if orthogonal = shapes[shape]; orthogonal == nil {
				orthogonal = newOrthogonaliser(q, m.kept, shape[0], shape[1])
				shapes[shape] = orthogonal
				m.all = append(m.all, orthogonal)
			}
		case o.Name != SGD:
			second = make([]float32, len(p.values))
		}
		m.second = append(m.second, second)
		m.orthogonal = append(m.orthogonal, orthogonal)
	}
	if q.Err != nil {
		m.release()
	}
	return m, q.Err
}

// release gives the device's memory back.
func (m *optimiser) release() {
	for _, o := range m.all {
		o.free()
	}
	m.kept.Free()
}

// arrays are what a checkpoint needs. They share memory with the optimiser.
func (m *optimiser) arrays() []array {
	var list []array
	for i, p := range m.parameters {
		list = append(list, array{p.name + ".first", p.shape, m.first[i]})
		if m.second[i] != nil {
			list = append(list, array{p.name + ".second", p.shape, m.second[i]})
		}
	}
	return list
}

// gradientNorm returns the Euclidean norm of all gradients together.
func gradientNorm(parameters []*Parameter) float64 {
	sum := 0.0
	for _, p := range parameters {
		for _, g := range p.gradient {
			sum += float64(float64(g) * float64(g))
		}
	}
	return math.Sqrt(sum)
}

// step changes the parameters in iteration t, counted from 0. Each product is rounded by
// itself, so that all processors give the same bits.
func (m *optimiser) step(t int, rate, norm float64) error {
	q := &devicequeue.Queue{Dev: m.kept.Dev}
	scale := 1.0
	if m.GradientLimit > 0 && norm > m.GradientLimit {
		scale = m.GradientLimit / norm
	}
	turns := make([]*turn, len(m.parameters))
	parallel.Concurrently(len(m.parameters), func(i int) {
		p := m.parameters[i]
		rate := rate * p.rate
		decay := m.WeightDecay
		if !p.decays {
			decay = 0
		}
		switch {
		case m.Name == SGD:
			m.descend(p, m.first[i], scale, rate, decay)
		case m.orthogonal[i] != nil:
			turns[i] = m.begin(p, m.first[i], m.orthogonal[i], scale, rate, decay)
		case m.Name == Muon:
			m.adapt(p, m.first[i], m.second[i], t, scale, rate*m.OtherRate, decay)
		default:
			m.adapt(p, m.first[i], m.second[i], t, scale, rate, decay)
		}
	})
	for _, t := range turns {
		if t != nil && t.moves {
			t.o.iterate(q, t.host)
		}
	}
	if q.Err != nil {
		return q.Err
	}
	parallel.Concurrently(len(turns), func(i int) {
		if turns[i] != nil {
			turns[i].end()
		}
	})
	return nil
}

// turn is a step of Muon under way: its beginning and its end are the host's, for all parameters at
// once, and what is between them the device's.
type turn struct {
	p               *Parameter
	o               *orthogonaliser
	direction, host []float32
	moves           bool    // the direction is not zero
	rate, decay     float64 // of the parameter
	length          float64 // of the values
}

// begin moves the momentum, and lays out the direction.
func (m *optimiser) begin(p *Parameter, momentum []float32, o *orthogonaliser, scale, rate, decay float64) *turn {
	t := &turn{p: p, o: o, direction: make([]float32, len(momentum)), host: make([]float32, len(momentum)), rate: rate, decay: decay}
	length := 0.0
	for i, w := range p.values {
		g := scale * float64(p.gradient[i])
		v := float64(m.Momentum*float64(momentum[i])) + float64((1-m.Momentum)*g)
		momentum[i] = float32(v)
		t.direction[i] = float32(float64(m.Momentum*v) + float64((1-m.Momentum)*g))
		length += float64(float64(w) * float64(w))
	}
	t.length = math.Sqrt(length)
	t.moves = o.lay(t.host, t.direction, p.shape[0])
	return t
}

// end moves the values.
func (t *turn) end() {
	p, rows := t.p, t.p.shape[0]
	if t.moves {
		t.o.take(t.direction, t.host, rows)
	}
	reference := t.length
	if p.length > 0 {
		reference = p.length
	}
	step := t.rate * reference / math.Sqrt(float64(min(rows, len(t.direction)/rows)))
	after := 0.0
	for i, w := range p.values {
		v := float32(float64((1-t.rate*t.decay)*float64(w)) - float64(step*float64(t.direction[i])))
		p.values[i] = v
		after += float64(float64(v) * float64(v))
	}
	if !p.scaleFree || after == 0 {
		return
	}
	factor := t.length / math.Sqrt(after)
	for i, v := range p.values {
		p.values[i] = float32(factor * float64(v))
	}
}

func (m *optimiser) descend(p *Parameter, velocity []float32, scale, rate, decay float64) {
	for i, w := range p.values {
		g := float64(scale*float64(p.gradient[i])) + float64(decay*float64(w))
		v := float32(float64(m.Momentum*float64(velocity[i])) + g)
		velocity[i] = v
		p.values[i] = float32(float64(w) - float64(rate*float64(v)))
	}
}

func (m *optimiser) adapt(p *Parameter, first, second []float32, t int, scale, rate, decay float64) {
	// The corrections of the moments' bias towards 0, by repeated products: math.Pow need
	// not have the same bits everywhere.
	correct1, correct2 := 1-power1(m.Beta1, t+1), 1-power1(m.Beta2, t+1)
	for i, w := range p.values {
		g := scale * float64(p.gradient[i])
		a := float32(float64(m.Beta1*float64(first[i])) + float64((1-m.Beta1)*g))
		b := float32(float64(m.Beta2*float64(second[i])) + float64((1-m.Beta2)*float64(g*g)))
		first[i], second[i] = a, b
		step := rate / correct1 * float64(a) / (math.Sqrt(float64(b)/correct2) + m.Epsilon)
		p.values[i] = float32(float64((1-rate*decay)*float64(w)) - step)
	}
}

// power1 returns xⁿ by squaring, n ≥ 1.
func power1(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}
