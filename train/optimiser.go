package train

import (
	"fmt"
	"math"
)

// Names of an Optimiser.
const (
	// SGD is stochastic gradient descent with momentum and weight decay as PyTorch has it,
	// v ← Momentum·v + (gradient + WeightDecay·w), w ← w − rate·v.
	SGD = "sgd"
	// Adam is that of Kingma and Ba (2015) with the weight decay of Loshchilov and Hutter
	// (2019), w ← (1 − rate·WeightDecay)·w, which is called AdamW where it is not 0.
	Adam = "adam"
)

// Optimiser says how gradients change the parameters.
type Optimiser struct {
	Name        string  `json:"name"`
	Momentum    float64 `json:"momentum"` // of SGD
	Beta1       float64 `json:"beta1"`    // of Adam
	Beta2       float64 `json:"beta2"`
	Epsilon     float64 `json:"epsilon"`
	WeightDecay float64 `json:"weight_decay"`
	// GradientLimit scales gradients down to this Euclidean norm of all of them together
	// where they exceed it; 0 is no limit.
	GradientLimit float64 `json:"gradient_limit"`
}

// AdamDefaults are the customary constants of Adam.
func AdamDefaults() Optimiser {
	return Optimiser{Name: Adam, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
}

func (o Optimiser) check() error {
	below1 := func(v float64) bool { return v >= 0 && v < 1 }
	switch {
	case o.Name != SGD && o.Name != Adam:
		return fmt.Errorf("optimiser %.40q, must be %q or %q", o.Name, SGD, Adam)
	case o.Name == SGD && !below1(o.Momentum):
		return fmt.Errorf("momentum is %v, must be 0 or more and below 1", o.Momentum)
	case o.Name == Adam && !(below1(o.Beta1) && below1(o.Beta2) && o.Epsilon > 0):
		return fmt.Errorf("optimiser %q with beta1 %v, beta2 %v, epsilon %v: the first two must be 0 or more and below 1, the third above 0", Adam, o.Beta1, o.Beta2, o.Epsilon)
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
	parameters []*parameter
	// first is the momentum of SGD or the first moment of Adam, second the second moment.
	first, second [][]float32
}

func newOptimiser(o Optimiser, parameters []*parameter) *optimiser {
	m := &optimiser{Optimiser: o, parameters: parameters}
	for _, p := range parameters {
		m.first = append(m.first, make([]float32, len(p.values)))
		if o.Name == Adam {
			m.second = append(m.second, make([]float32, len(p.values)))
		}
	}
	return m
}

// arrays are what a checkpoint needs. They share memory with the optimiser.
func (m *optimiser) arrays() []array {
	var list []array
	for i, p := range m.parameters {
		list = append(list, array{p.name + ".first", p.shape, m.first[i]})
		if m.second != nil {
			list = append(list, array{p.name + ".second", p.shape, m.second[i]})
		}
	}
	return list
}

// gradientNorm returns the Euclidean norm of all gradients together.
func gradientNorm(parameters []*parameter) float64 {
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
func (m *optimiser) step(t int, rate, norm float64) {
	scale := 1.0
	if m.GradientLimit > 0 && norm > m.GradientLimit {
		scale = m.GradientLimit / norm
	}
	for i, p := range m.parameters {
		decay := m.WeightDecay
		if !p.decays {
			decay = 0
		}
		if m.Name == SGD {
			m.descend(p, m.first[i], scale, rate, decay)
		} else {
			m.adapt(p, m.first[i], m.second[i], t, scale, rate, decay)
		}
	}
}

func (m *optimiser) descend(p *parameter, velocity []float32, scale, rate, decay float64) {
	for i, w := range p.values {
		g := float64(scale*float64(p.gradient[i])) + float64(decay*float64(w))
		v := float32(float64(m.Momentum*float64(velocity[i])) + g)
		velocity[i] = v
		p.values[i] = float32(float64(w) - float64(rate*float64(v)))
	}
}

func (m *optimiser) adapt(p *parameter, first, second []float32, t int, scale, rate, decay float64) {
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
