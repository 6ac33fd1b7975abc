package dispatch

import (
	"errors"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/selftest"
)

// Device is a GPU; it implements backend.Device. It is safe for concurrent use.
type Device[B comparable] struct {
	*devicekit.Device[Memory[B], *Filter[B]]
}

// Comparison is what the first comparison of a GPU with the processor has found.
type Comparison struct {
	once sync.Once
	err  error
}

// Kernels implements devicekit.Kernels and what it has for faster devices.
type Kernels[B comparable] struct {
	gpu    GPU[B]
	tester *selftest.Tester[Memory[B], *Filter[B]]
	fault  error // the first; nothing works after it
	due    due
	// worked: a shader has run since the device has last shown that it still computes.
	worked bool
	// testing: what runs is a comparison, of which nothing else is to be compared.
	testing bool
}

// Open makes a device of a GPU, and compares it with the processor: every kind of operation unless c says that
// this was done, and a convolution. After an error the GPU is closed.
func Open[B comparable](g GPU[B], c *Comparison) (*Device[B], error) {
	k := &Kernels[B]{gpu: g}
	k.tester = &selftest.Tester[Memory[B], *Filter[B]]{Kernels: k, Weights: (*Filter[B]).weights, Half: g.Shaders().Half}
	d := &Device[B]{devicekit.New[Memory[B], *Filter[B]](k, false)}
	err := k.test(func() error {
		c.once.Do(func() { c.err = k.tester.Operations(d) })
		if c.err != nil {
			return c.err
		}
		return k.tester.Hear()
	})
	if err != nil {
		err = k.try(err)
		_ = d.Close() // it says the same
		return nil, err
	}
	return d, nil
}

// try returns what is to be returned for an error of the GPU, after which nothing works any more.
func (k *Kernels[B]) try(err error) error {
	if k.fault == nil && err != nil {
		k.fault = k.gpu.Fault(err)
	}
	return k.fault
}

// Description implements devicekit.Kernels.
func (k *Kernels[B]) Description() backend.Description { return k.gpu.Description() }

// Sync implements devicekit.Kernels.
func (k *Kernels[B]) Sync() error {
	if k.fault != nil {
		return k.fault
	}
	return k.try(k.gpu.Finish())
}

// Close implements devicekit.Kernels. What failed before was said before.
func (k *Kernels[B]) Close() error {
	var err error
	if k.fault == nil {
		err = k.Sync()
	}
	return errors.Join(err, k.tester.Close(), k.gpu.Close(k.fault != nil))
}

// ConvolutionGrid implements devicekit.Kernels: a pixel is computed in the same way wherever it lies.
func (k *Kernels[B]) ConvolutionGrid() int { return 1 }
