// Package operatortest checks that an operator is linear and the same for every channel, that its adjoint is
// one, and that its norm is within its bound.
package operatortest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/operator"
)

// rounding is the error of float32 arithmetic that TestLinear allows, relative to ‖K‖ and to
// the sizes of the images. What rounding adds up to is some units of 6e-8 for every sum.
const rounding = 2e-5

// TestLinear tries an operator on random images. It returns an error that says what is wrong, or nil. It
// checks that:
//
//   - Domain, Range and the bound of the norm are possible numbers.
//   - Apply and Adjoint set every sample of dst to a finite number, whatever it held.
//   - K(2x − 3z) = 2Kx − 3Kz, and the same for Kᵀ. An offset or a clip breaks this.
//   - Each channel of a three-channel image gives the same result as alone.
//   - ⟨Kx, y⟩ = ⟨x, Kᵀy⟩.
//   - No image found by power iteration is stretched by more than Norm.
//
// All checks allow for the rounding of float32. TestLinear is meant for tests of operators:
//
//	if err := operatortest.TestLinear(dev, k); err != nil {
//		t.Fatal(err)
//	}
//
// Use images of at most a few thousand samples: the sums over larger images hide an error at the frame alone.
func TestLinear(dev backend.Device, k operator.Linear) error {
	if k == nil {
		return errors.New("the operator is nil")
	}
	if err := arguments.CheckDevice("operatortest", dev); err != nil {
		return err
	}
	bound, reason := k.Norm()
	switch dh, dw := k.Domain(); {
	case dh < 1 || dw < 1:
		return fmt.Errorf("the domain has %d×%d samples", dh, dw)
	case !(bound >= 0) || math.IsInf(bound, 1):
		return fmt.Errorf("the norm's bound is %v", bound)
	case reason == "":
		return fmt.Errorf("the norm's bound %v has no reason", bound)
	}
	if h, w := k.Range(); h < 1 || w < 1 {
		return fmt.Errorf("the range has %d×%d samples", h, w)
	}
	t := &trial{dev: dev, k: k, bound: bound}
	defer t.free()
	for _, transposed := range []bool{false, true} {
		if err := t.linearity(transposed); err != nil {
			return err
		}
		if err := t.channels(transposed); err != nil {
			return err
		}
	}
	for seed := range uint64(3) {
		if err := operator.Check(context.Background(), dev, k, 2, 20, 100+10*seed); err != nil {
			return err
		}
	}
	return nil
}

// trial has the buffers of TestLinear.
type trial struct {
	dev   backend.Device
	k     operator.Linear
	bound float64
	owned []backend.Buffer
}

func (t *trial) free() {
	for _, b := range t.owned {
		b.Free()
	}
}

// sizes returns the shapes of the source and the result of K, or of Kᵀ.
func (t *trial) sizes(channels int, transposed bool) (from, to backend.Shape) {
	dh, dw := t.k.Domain()
	h, w := t.k.Range()
	from, to = backend.Image(channels, dh, dw), backend.Image(channels, h, w)
	if transposed {
		from, to = to, from
	}
	return from, to
}

// random returns an image of normal numbers.
func (t *trial) random(s backend.Shape, seed uint64) (backend.Buffer, error) {
	b, err := t.dev.Alloc(s)
	if err != nil {
		return nil, err
	}
	t.owned = append(t.owned, b)
	return b, t.dev.Gaussian(b, seed, 0, 1)
}

// image returns K·src, or Kᵀ·src, as numbers, from a dst that held others.
func (t *trial) image(src backend.Buffer, transposed bool) ([]float32, error) {
	apply, name := t.k.Apply, "Apply"
	if transposed {
		apply, name = t.k.Adjoint, "Adjoint"
	}
	_, to := t.sizes(src.Shape().C, transposed)
	dst, err := t.dev.Alloc(to)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	var results [2][]float32
	for i, before := range []float32{float32(math.NaN()), 0} {
		if err := t.dev.Fill(dst, before); err != nil {
			return nil, err
		}
		if err := apply(dst, src); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if results[i], err = t.numbers(dst); err != nil {
			return nil, err
		}
	}
	for i, v := range results[0] {
		w := results[1][i]
		if x := float64(w); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s sets sample %d to %v", name, i, w)
		}
		if !(math.Abs(float64(v)-float64(w)) <= rounding*(1+math.Abs(float64(w)))) {
			return nil, fmt.Errorf("%s does not set sample %d: it is %v where there was NaN, and %v where there was 0", name, i, v, w)
		}
	}
	return results[0], nil
}

func (t *trial) numbers(b backend.Buffer) ([]float32, error) {
	x := make([]float32, b.Shape().Len())
	return x, t.dev.Download(x, b)
}

// linearity compares K(2x − 3z) with 2Kx − 3Kz.
func (t *trial) linearity(transposed bool) error {
	from, _ := t.sizes(1, transposed)
	var sources [3]backend.Buffer
	var images [3][]float32
	for i := range sources {
		var err error
		if sources[i], err = t.random(from, 7+uint64(i)); err != nil {
			return err
		}
		if i == 2 {
			if err := t.dev.LinearCombination(sources[2], backend.Term{A: 2, X: sources[0]}, backend.Term{A: -3, X: sources[1]}); err != nil {
				return err
			}
		}
		if images[i], err = t.image(sources[i], transposed); err != nil {
			return err
		}
	}
	off := 0.0
	for i, v := range images[2] {
		d := float64(v) - (2*float64(images[0][i]) - 3*float64(images[1][i]))
		off += d * d
	}
	if off = math.Sqrt(off); !(off <= rounding*t.bound*5*math.Sqrt(float64(from.Len()))+1e-30) {
		return fmt.Errorf("%s is not linear: K(2x − 3z) is %.3g away from 2Kx − 3Kz", name(transposed), off)
	}
	return nil
}

// channels compares an image of three channels with each of them.
func (t *trial) channels(transposed bool) error {
	from, _ := t.sizes(3, transposed)
	x, err := t.random(from, 17)
	if err != nil {
		return err
	}
	all, err := t.image(x, transposed)
	if err != nil {
		return err
	}
	n := len(all) / 3
	for c := range 3 {
		one, err := t.dev.Channels(x, c, 1)
		if err != nil {
			return err
		}
		alone, err := t.image(one, transposed)
		one.Free()
		if err != nil {
			return err
		}
		off := 0.0
		for i, v := range alone {
			d := float64(v) - float64(all[c*n+i])
			off += d * d
		}
		if off = math.Sqrt(off); !(off <= rounding*t.bound*math.Sqrt(float64(from.Plane()))+1e-30) {
			return fmt.Errorf("%s treats channel %d of three as another image: they are %.3g apart", name(transposed), c, off)
		}
	}
	return nil
}

func name(transposed bool) string {
	if transposed {
		return "Adjoint"
	}
	return "Apply"
}
