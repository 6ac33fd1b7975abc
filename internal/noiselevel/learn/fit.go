package main

import (
	"bytes"
	"fmt"
	"go/format"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
)

// rule is what is learned, in the form of noiselevel's layers.
type rule struct {
	shift, scale []float64
	layers       [layerCount][][]float64 // the rows of each: weights, and a bias at the end
}

// levels of the quantiles that are learned, as noiselevel's layers have them.
var levels = [3]float64{0.2, 0.5, 0.8}

const (
	layerCount = 3 // two hidden ones, and that of the outputs
	hiddenSize = 64
	batch      = 256
	rate       = 4e-3
	decay      = 0.01 // of AdamW
	// jitter is the standard deviation of what is added at random to the scaled features: photographs that
	// were not learned from differ more than that.
	jitter = 0.1
)

// target is the logarithm that is learned; noiselevel's leastLevel is the 0.3.
func target(s sample) float64 { return math.Log(255*s.Level + 0.3) }

// fit minimises the pinball loss of the three quantiles (Koenker and Bassett, 1978) by AdamW.
func fit(set []sample, iterations int) rule {
	n := len(set[0].Features)
	r := rule{shift: make([]float64, n), scale: make([]float64, n)}
	for f := range n {
		var sum, square float64
		for _, s := range set {
			sum += s.Features[f]
			square += s.Features[f] * s.Features[f]
		}
		mean := sum / float64(len(set))
		r.shift[f] = mean
		r.scale[f] = 1 / math.Sqrt(square/float64(len(set))-mean*mean+1e-6)
	}
	random := rand.New(rand.NewPCG(1, 2))
	row := func(n int) []float64 {
		v := make([]float64, n+1)
		for i := range n {
			v[i] = random.NormFloat64() / math.Sqrt(float64(n))
		}
		return v
	}
	for range hiddenSize {
		r.layers[0] = append(r.layers[0], row(n))
		r.layers[1] = append(r.layers[1], row(hiddenSize))
	}
	for range levels {
		r.layers[2] = append(r.layers[2], row(hiddenSize))
	}
	parameters := slices.Concat(r.layers[:]...)
	gradient, first, second := like(parameters), like(parameters), like(parameters)
	pick := picker(set)
	for t := 1; t <= iterations; t++ {
		for _, g := range gradient {
			clear(g)
		}
		for range batch {
			r.differentiate(set[pick(random.Float64())], gradient, func() float64 { return jitter * random.NormFloat64() })
		}
		step := rate * 0.5 * (1 + math.Cos(math.Pi*float64(t)/float64(iterations)))
		c1, c2 := 1-math.Pow(0.9, float64(t)), 1-math.Pow(0.999, float64(t))
		for i, p := range parameters {
			for j := range p {
				g := gradient[i][j] / batch
				first[i][j] = 0.9*first[i][j] + 0.1*g
				second[i][j] = 0.999*second[i][j] + 0.001*g*g
				p[j] -= step * (first[i][j]/c1/(math.Sqrt(second[i][j]/c2)+1e-9) + decay*p[j])
			}
		}
	}
	return r
}

// picker returns a function from [0,1) to the numbers of samples. Those whose noise is white in colour
// come up four times as often: there the question is whether it is stronger in brightness, which
// texture makes hard to see.
func picker(set []sample) func(float64) int {
	total := 0.0
	upTo := make([]float64, len(set))
	for i, s := range set {
		w := 1.0
		if s.White {
			w = 4
		}
		total += w
		upTo[i] = total
	}
	return func(v float64) int { return min(sort.SearchFloat64s(upTo, v*total), len(set)-1) }
}

func like(p [][]float64) [][]float64 {
	z := make([][]float64, len(p))
	for i := range p {
		z[i] = make([]float64, len(p[i]))
	}
	return z
}

// evaluate returns the inputs of each layer, and the outputs, with what added adds to each scaled feature.
func (r rule) evaluate(features []float64, added func() float64) (inputs [layerCount][]float64, out [3]float64) {
	x := make([]float64, len(features))
	for i, f := range features {
		x[i] = min(max((f-r.shift[i])*r.scale[i], -4), 4) + added()
	}
	for l, rows := range r.layers {
		inputs[l] = x
		x = make([]float64, len(rows))
		for i, row := range rows {
			x[i] = affine(row, inputs[l])
			if l < layerCount-1 {
				x[i] = math.Tanh(x[i])
			}
		}
	}
	return inputs, [3]float64(x)
}

// exactly adds nothing.
func exactly() float64 { return 0 }

func affine(row, x []float64) float64 {
	sum := row[len(x)]
	for i, v := range x {
		sum += row[i] * v
	}
	return sum
}

// differentiate adds the gradient of a sample's loss.
func (r rule) differentiate(s sample, gradient [][]float64, added func() float64) {
	inputs, out := r.evaluate(s.Features, added)
	want := target(s)
	outer := make([]float64, len(levels))
	for k, q := range levels {
		// The derivative of the pinball loss, smooth near zero.
		outer[k] = 1 - q
		if e := out[k] - want; e < 0 {
			outer[k] = -q * min(1, -e/0.05)
		} else {
			outer[k] *= min(1, e/0.05)
		}
	}
	last := len(gradient)
	for l := layerCount - 1; l >= 0; l-- {
		rows, x := r.layers[l], inputs[l]
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

// loss is the mean of the pinball losses.
func (r rule) loss(set []sample) float64 {
	sum := 0.0
	for _, s := range set {
		_, out := r.evaluate(s.Features, exactly)
		for k, q := range levels {
			if e := out[k] - target(s); e > 0 {
				sum += (1 - q) * e
			} else {
				sum -= q * e
			}
		}
	}
	return sum / float64(len(set)) / 3
}

// spread is the geometric root mean square error of the middle.
func (r rule) spread(set []sample) float64 {
	sum := 0.0
	for _, s := range set {
		_, out := r.evaluate(s.Features, exactly)
		e := out[1] - target(s)
		sum += e * e
	}
	return math.Exp(math.Sqrt(sum / float64(len(set))))
}

// write prints the rules of grey and of colour images as Go.
func write(path string, grey, colour rule) error {
	var b bytes.Buffer
	b.WriteString("// Code generated by go run ./internal/noiselevel/learn; DO NOT EDIT.\n\npackage noiselevel\n\n")
	for _, r := range []struct {
		name, comment string
		rule
	}{{"greyLayers", "is the rule of grey images.", grey}, {"colourLayers", "is that of colour images.", colour}} {
		fmt.Fprintf(&b, "// %s %s\nvar %s = layers{\n", r.name, r.comment, r.name)
		print := func(v []float64) {
			for i, x := range v {
				if i%12 == 0 {
					b.WriteString("\n")
				}
				fmt.Fprintf(&b, "%.4g, ", x)
			}
			b.WriteString("\n")
		}
		for _, f := range []struct {
			name string
			v    []float64
		}{{"shift", r.shift}, {"scale", r.scale}} {
			fmt.Fprintf(&b, "%s: []float32{", f.name)
			print(f.v)
			b.WriteString("},\n")
		}
		b.WriteString("rows: [layerCount][][]float32{\n")
		for _, rows := range r.layers {
			b.WriteString("{\n")
			for _, row := range rows {
				b.WriteString("{")
				print(row)
				b.WriteString("},\n")
			}
			b.WriteString("},\n")
		}
		b.WriteString("},\n")
		b.WriteString("}\n\n")
	}
	source, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, source, 0o644)
}
