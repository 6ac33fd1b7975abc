// Package selftest compares a GPU with the processor: every kind of operation on small arrays, and a tile
// of an operation where it is made.
package selftest

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/backend/devicekit"
)

// ErrWrong: a result differs from the processor's by more than rounding explains.
var ErrWrong = errors.New("its result differs from the processor's")

// maxDifference is the normalised mean squared difference from the processor's result that rounding
// in float32 explains, for the depth of the networks: it is some 1e-12 where drivers work, and 1e-7
// where one computes in half precision.
const maxDifference = 1e-9

// halfDifference is the same where factors of convolutions are in half precision, stored by a driver that
// rounds either way: each has a relative error of up to 2⁻¹⁰, so that of a product is 2⁻⁹. Operations have up
// to four convolutions in a row: (4·2⁻⁹)².
const halfDifference = 1.0 / (1 << 14)

// Differs returns an error that wraps ErrWrong unless two results agree, except for rounding in float32. Where the
// processor's is not finite nothing can be said.
func Differs(what string, got, want []float32) error {
	return differs(what, got, want, maxDifference)
}

func differs(what string, got, want []float32, limit float64) error {
	squares, energy := 0.0, 0.0
	for i, w := range want {
		if v := float64(w); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		d := float64(got[i]) - float64(w)
		squares += d * d
		energy += float64(w) * float64(w)
	}
	if !(squares <= limit*energy) {
		return fmt.Errorf("%w: %s, by %.2g of its energy, and at most %.0e is rounding", ErrWrong, what, squares/energy, limit)
	}
	return nil
}

// Tester compares what kernels compute.
type Tester[M, F any] struct {
	Kernels devicekit.Kernels[M, F]
	// Weights returns the weights of a filter, (Out, In, KH, KW).
	Weights func(F) devicekit.Array[M]
	// Half tells whether factors of convolutions are in half precision.
	Half bool

	host   backend.Device // nil before the first comparison
	canary *canary[M, F]  // nil before Hear
}

// Close closes the processor's device.
func (t *Tester[M, F]) Close() error {
	if t.host == nil {
		return nil
	}
	return t.host.Close()
}

func (t *Tester[M, F]) processor() (backend.Device, error) {
	if t.host == nil {
		host, err := cpu.Open()
		if err != nil {
			return nil, err
		}
		t.host = host
	}
	return t.host, nil
}

// Operations compares every kind of operation of a device that was made of the kernels.
func (t *Tester[M, F]) Operations(dev backend.Device) error {
	host, err := t.processor()
	if err != nil {
		return err
	}
	for _, q := range Probes {
		want, err := q.Result(host)
		if err != nil {
			return err
		}
		got, err := q.Result(dev)
		if err != nil {
			return err
		}
		if err := t.differs(q.Name, got, want); err != nil {
			return err
		}
	}
	return nil
}

// differs is Differs for the precision of the kernels.
func (t *Tester[M, F]) differs(what string, got, want []float32) error {
	if t.Half {
		return differs(what, got, want, halfDifference)
	}
	return Differs(what, got, want)
}
