package dispatch

import (
	"errors"

	"github.com/averaged/imaging/internal/selftest"
)

// due says of what no tile has been compared with the processor since an image was uploaded.
type due struct{ flow, convolution, adjoint, variation bool }

// test runs a comparison.
func (k *Kernels[B]) test(run func() error) error {
	before := k.testing
	k.testing = true
	defer func() { k.testing = before }()
	return run()
}

// compared runs an operation, within its comparison if that is due.
func (k *Kernels[B]) compared(due *bool, run func() error, compare func(run func() error) error) error {
	if k.testing || !*due {
		return run()
	}
	*due = false
	return k.wrong(k.test(func() error { return compare(run) }))
}

// stillComputes returns an error if the device has stopped to compute since it was asked last.
func (k *Kernels[B]) stillComputes() error {
	if k.testing || !k.worked {
		return nil
	}
	err := k.test(k.tester.StillComputes)
	k.worked = false
	return k.wrong(err)
}

// wrong is try for a comparison: its other errors are those of the operations.
func (k *Kernels[B]) wrong(err error) error {
	if errors.Is(err, selftest.ErrWrong) {
		return k.try(err)
	}
	return err
}
