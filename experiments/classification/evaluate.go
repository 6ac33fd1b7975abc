package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/averaged/imaging/experiments/internal/cifar"
	"github.com/averaged/imaging/experiments/internal/classifier"
	"github.com/averaged/imaging/internal/atomicfile"
)

// robustness is what attacks on a network and proofs about it have found, as it stands in a file.
type robustness struct {
	// What it is of. Another network or another attack begins anew.
	Network  string            `json:"network"`
	Attack   classifier.Attack `json:"attack"`
	Epsilons []float64         `json:"epsilons"`
	Attacked int               `json:"attacked"`

	// Lipschitz is the proven constant, Factors those of the parts.
	Lipschitz float64             `json:"lipschitz"`
	Factors   []classifier.Factor `json:"factors"`
	// Margins of all test pictures.
	Margins []float64 `json:"margins"`
	// Broken has for each attacked picture the number of the first ε that it was fooled at,
	// len(Epsilons) for none, and Epsilon and Next say how far the attacks have come.
	Broken  []int `json:"broken"`
	Epsilon int   `json:"epsilon"`
	Next    int   `json:"next"`
	// Inside counts attacks within the certified radius of their picture, of which Contradictions
	// have succeeded.
	Inside         int `json:"inside"`
	InsideNext     int `json:"inside_next"`
	Contradictions int `json:"contradictions"`

	path string
}

// chosen returns the test pictures that are attacked.
func (o *options) chosen(data *cifar.Data) []int {
	n := min(o.attacked, data.Test.Len())
	return rand.New(rand.NewPCG(o.seed, 5)).Perm(data.Test.Len())[:n]
}

// evaluate proves, classifies and attacks, and goes on where it was interrupted.
func (o *options) evaluate(ctx context.Context, m *trained, data *cifar.Data, out io.Writer) (*robustness, error) {
	n := m.run.Network()
	sum, err := m.run.Checksum()
	if err != nil {
		return nil, err
	}
	chosen := o.chosen(data)
	want := robustness{
		Network: sum, Attack: classifier.PaperAttack(o.steps, o.seed), Epsilons: o.epsilons, Attacked: len(chosen),
		path: filepath.Join(o.Out, m.name+"-robustness.json"),
	}
	r, err := want.read()
	if err != nil {
		return nil, err
	}
	// The proof also sets the steps that the network takes from here on.
	if r.Lipschitz, r.Factors, err = n.Lipschitz(ctx); err != nil {
		return nil, err
	}
	if len(r.Margins) == 0 {
		r.Margins = make([]float64, data.Test.Len())
		err := n.EachBatch(ctx, &data.Test, o.batch, func(from int, _, scores []float32, labels []uint8) error {
			for i, y := range labels {
				r.Margins[from+i] = classifier.Margin(scores[i*classifier.Outputs:][:classifier.Outputs], y)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		r.Broken = make([]int, len(chosen))
		for i, of := range chosen {
			if r.Broken[i] = len(r.Epsilons); !(r.Margins[of] > 0) {
				r.Broken[i] = 0 // without an attack
			}
		}
		r.Epsilon = 1
		if err := r.save(ctx); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(out, "%s: %.2f %% of the test pictures right, Lipschitz constant %.4g\n", m.name, 100*r.clean(), r.Lipschitz)
	for ; r.Epsilon < len(r.Epsilons); r.Epsilon, r.Next = r.Epsilon+1, 0 {
		for r.Next < len(chosen) {
			// Who was fooled in a smaller ball is in a larger one.
			var numbers []int
			for ; r.Next < len(chosen) && len(numbers) < o.attackSize; r.Next++ {
				if r.Broken[r.Next] == len(r.Epsilons) {
					numbers = append(numbers, r.Next)
				}
			}
			fooled, err := r.attack(ctx, n, data, chosen, numbers, func(int) float64 { return r.Epsilons[r.Epsilon] })
			if err != nil {
				return nil, err
			}
			for i, of := range numbers {
				if fooled[i] {
					r.Broken[of] = r.Epsilon
				}
			}
			if err := r.save(ctx); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(out, "%s: ε = %g: %.2f %% of %d withstand\n", m.name, r.Epsilons[r.Epsilon], 100*r.robust()[r.Epsilon], len(chosen))
	}
	if m.name == nonExpNet {
		if err := o.attackInside(ctx, r, n, data, chosen); err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "%s: %d of %d attacks inside the certified radius succeeded\n", m.name, r.Contradictions, r.Inside)
	}
	return r, nil
}

// attackInside attacks each picture within the very radius that is certified for it.
func (o *options) attackInside(ctx context.Context, r *robustness, n *classifier.Network, data *cifar.Data, chosen []int) error {
	for r.InsideNext < len(chosen) {
		var numbers []int
		for ; r.InsideNext < len(chosen) && len(numbers) < o.attackSize; r.InsideNext++ {
			if r.radius(chosen[r.InsideNext]) > 0 {
				numbers = append(numbers, r.InsideNext)
			}
		}
		fooled, err := r.attack(ctx, n, data, chosen, numbers, func(of int) float64 { return r.radius(of) })
		if err != nil {
			return err
		}
		r.Inside += len(fooled)
		for _, f := range fooled {
			if f {
				r.Contradictions++
			}
		}
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// attack attacks some of the chosen pictures within radii.
func (r *robustness) attack(ctx context.Context, n *classifier.Network, data *cifar.Data, chosen, numbers []int, radius func(of int) float64) ([]bool, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	var set cifar.Set
	b := classifier.Batch{}
	for _, i := range numbers {
		of := chosen[i]
		set.Append(&data.Test, of)
		b.Numbers, b.Radii = append(b.Numbers, uint64(of)), append(b.Radii, radius(of))
	}
	b.Labels, b.Images = set.Labels, classifier.Images(&set)
	_, fooled, err := r.Attack.Run(ctx, n, b, true)
	return fooled, err
}

// radius is the certified one of a test picture.
func (r *robustness) radius(of int) float64 {
	return classifier.CertifiedRadius(r.Margins[of], r.Lipschitz)
}

// clean returns the accuracy on all test pictures.
func (r *robustness) clean() float64 { return r.certified(0) }

// certified returns the share of all test pictures that no attack of size ε can change.
func (r *robustness) certified(epsilon float64) float64 {
	count := 0
	for of, m := range r.Margins {
		if m > 0 && (epsilon == 0 || r.radius(of) >= epsilon) {
			count++
		}
	}
	return float64(count) / float64(len(r.Margins))
}

// robust returns the share of the attacked pictures that withstand, for each ε.
func (r *robustness) robust() []float64 {
	share := make([]float64, len(r.Epsilons))
	for i := range share {
		for _, at := range r.Broken {
			if at > i {
				share[i] += 1 / float64(len(r.Broken))
			}
		}
	}
	return share
}

// area is the mean of a curve over ε, by the trapezoidal rule.
func area(x, y []float64) float64 {
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += (x[i] - x[i-1]) * (y[i] + y[i-1]) / 2
	}
	return sum / (x[len(x)-1] - x[0])
}

// read returns what the file holds if it is about the same, and r otherwise.
func (r robustness) read() (*robustness, error) {
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &r, nil
	}
	if err != nil {
		return nil, err
	}
	var there robustness
	if err := json.Unmarshal(data, &there); err != nil {
		return nil, fmt.Errorf("%q: %w; remove it to measure anew", r.path, err)
	}
	there.path = r.path
	if there.Network != r.Network || there.Attack != r.Attack || !slices.Equal(there.Epsilons, r.Epsilons) || there.Attacked != r.Attacked ||
		len(there.Broken) != r.Attacked {
		return &r, nil
	}
	return &there, nil
}

func (r *robustness) save(ctx context.Context) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(context.WithoutCancel(ctx), r.path, true, data)
}
