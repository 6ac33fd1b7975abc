package learning

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/averaged/imaging/internal/perceptron"
)

// Perceptron is a perceptron.Network that learns.
type Perceptron struct {
	Shift, Scale []float64     // of each feature
	Layers       [][][]float64 // the rows of each: weights, and a bias at the end
}

// Standardised is a perceptron without layers that shifts and scales the features of n examples to mean 0 and deviation 1.
func Standardised(n int, features func(i int) []float64) *Perceptron {
	inputs := len(features(0))
	p := &Perceptron{Shift: make([]float64, inputs), Scale: make([]float64, inputs)}
	for k := range inputs {
		var sum, square float64
		for i := range n {
			f := features(i)[k]
			sum += f
			square += f * f
		}
		mean := sum / float64(n)
		p.Shift[k] = mean
		p.Scale[k] = 1 / math.Sqrt(square/float64(n)-mean*mean+1e-6)
	}
	return p
}

// Row is one of a layer that has learned nothing yet.
func Row(inputs int, random *rand.Rand) []float64 {
	row := make([]float64, inputs+1)
	for i := range inputs {
		row[i] = random.NormFloat64() / math.Sqrt(float64(inputs))
	}
	return row
}

// Lesson is how a perceptron learns: by AdamW (Loshchilov and Hutter 2019), whose rate falls as a cosine.
type Lesson struct {
	Iterations, Batch int
	Rate, Decay       float64
	// Jitter is the standard deviation of what is added at random to the scaled features: photographs that were not learned
	// from differ more than that.
	Jitter float64
	// Pick returns the number of an example, Features what is known of it, and Slopes the derivatives of its loss by the outputs.
	Pick     func() int
	Features func(example int) []float64
	Slopes   func(example int, outputs []float64) []float64
}

// Learn changes the layers.
func (p *Perceptron) Learn(l Lesson, random *rand.Rand) {
	parameters := slices.Concat(p.Layers...)
	gradient, first, second := Like(parameters), Like(parameters), Like(parameters)
	jitter := func() float64 { return l.Jitter * random.NormFloat64() }
	for t := 1; t <= l.Iterations; t++ {
		for _, g := range gradient {
			clear(g)
		}
		for range l.Batch {
			i := l.Pick()
			p.Differentiate(l.Features(i), gradient, jitter, func(outputs []float64) []float64 { return l.Slopes(i, outputs) })
		}
		step := l.Rate * 0.5 * (1 + math.Cos(math.Pi*float64(t)/float64(l.Iterations)))
		c1, c2 := 1-math.Pow(0.9, float64(t)), 1-math.Pow(0.999, float64(t))
		for i, row := range parameters {
			for j := range row {
				g := gradient[i][j] / float64(l.Batch)
				first[i][j] = 0.9*first[i][j] + 0.1*g
				second[i][j] = 0.999*second[i][j] + 0.001*g*g
				row[j] -= step * (first[i][j]/c1/(math.Sqrt(second[i][j]/c2)+1e-9) + l.Decay*row[j])
			}
		}
	}
}

// Picker returns a function from [0,1) to the numbers below n, which come up as often as their weights say.
func Picker(n int, weight func(i int) float64) func(float64) int {
	total := 0.0
	upTo := make([]float64, n)
	for i := range n {
		total += weight(i)
		upTo[i] = total
	}
	return func(v float64) int { return min(sort.SearchFloat64s(upTo, v*total), n-1) }
}

// Like is zeros in the shape of rows.
func Like(rows [][]float64) [][]float64 {
	z := make([][]float64, len(rows))
	for i := range rows {
		z[i] = make([]float64, len(rows[i]))
	}
	return z
}

// Exactly adds nothing.
func Exactly() float64 { return 0 }

// Outputs returns what the perceptron says of features.
func (p *Perceptron) Outputs(features []float64) []float64 {
	_, outputs := p.evaluate(features, Exactly)
	return outputs
}

// evaluate returns the inputs of each layer, and the outputs, with what added adds to each scaled feature.
func (p *Perceptron) evaluate(features []float64, added func() float64) (inputs [][]float64, outputs []float64) {
	x := make([]float64, len(features))
	for i, f := range features {
		x[i] = min(max((f-p.Shift[i])*p.Scale[i], -perceptron.Farthest), perceptron.Farthest) + added()
	}
	for l, rows := range p.Layers {
		inputs = append(inputs, x)
		x = make([]float64, len(rows))
		for i, row := range rows {
			x[i] = affine(row, inputs[l])
			if l < len(p.Layers)-1 {
				x[i] = math.Tanh(x[i])
			}
		}
	}
	return inputs, x
}

func affine(row, x []float64) float64 {
	sum := row[len(x)]
	for i, v := range x {
		sum += row[i] * v
	}
	return sum
}

// Differentiate adds the gradient of the loss of an example by all rows, one layer's after the other's. Slopes are the
// derivatives by the outputs.
func (p *Perceptron) Differentiate(features []float64, gradient [][]float64, added func() float64, slopes func(outputs []float64) []float64) {
	inputs, outputs := p.evaluate(features, added)
	outer := slopes(outputs)
	last := len(gradient)
	for l := len(p.Layers) - 1; l >= 0; l-- {
		rows, x := p.Layers[l], inputs[l]
		inner := make([]float64, len(x))
		last -= len(rows)
		for i, d := range outer {
			g := gradient[last+i]
			for j, v := range x {
				g[j] += d * v
				inner[j] += d * rows[i][j]
			}
			g[len(x)] += d
		}
		for j, v := range x { // of tanh, but for the features
			inner[j] *= 1 - v*v
		}
		outer = inner
	}
}

// Write writes the perceptron as a variable of Go, a perceptron.Network, with four digits.
func (p *Perceptron) Write(b *bytes.Buffer, name, comment string) {
	numbers := func(v []float64) {
		for i, x := range v {
			if i%12 == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(b, "%.4g, ", x)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "// %s %s\nvar %s = perceptron.Network{\nShift: []float32{", name, comment, name)
	numbers(p.Shift)
	b.WriteString("},\nScale: []float32{")
	numbers(p.Scale)
	b.WriteString("},\nRows: [][][]float32{\n")
	for _, rows := range p.Layers {
		b.WriteString("{\n")
		for _, row := range rows {
			b.WriteString("{")
			numbers(row)
			b.WriteString("},\n")
		}
		b.WriteString("},\n")
	}
	b.WriteString("},\n}\n\n")
}
