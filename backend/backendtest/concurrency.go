package backendtest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
)

func concurrencyChecks() []check {
	return []check{
		{operation: "Concurrency", name: "same operation", run: checkSameOperation},
		{operation: "Concurrency", name: "other operations", run: checkOtherOperations},
		{operation: "Concurrency", name: "shared sources", run: checkSharedReading},
		{operation: "Concurrency", name: "close", run: checkCloseUnderLoad},
	}
}

// goroutines is how many goroutines the concurrency checks use.
const goroutines = 4

// concurrentCase is a case, prepared, with what it gives when nothing else runs.
type concurrentCase struct {
	*testCase
	op   prepared
	want outcome
}

// concurrentCases returns up to so many cases of every operation that the device
// has, operation by operation.
func concurrentCases(dev backend.Device, most int) ([][]concurrentCase, error) {
	place := map[string]int{}
	var groups [][]concurrentCase
	for i, c := range allCases() {
		g, known := place[c.operation]
		if known && (len(groups[g]) >= most || i%3 != 0) {
			continue
		}
		op, err := c.prepare(dev)
		if errors.Is(err, backend.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.title(), err)
		}
		want, err := c.run(dev, op)
		if errors.Is(err, backend.ErrUnsupported) {
			op.free()
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.title(), err)
		}
		if !known {
			g = len(groups)
			place[c.operation] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], concurrentCase{c, op, want})
	}
	return groups, nil
}

// together runs f in several goroutines at once and returns all their errors.
func together(f func(g int) error) error {
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() { errs[g] = guarded(func() error { return f(g) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// checkSameOperation lets all goroutines call the same operation at the same time,
// on different cases with buffers of their own, as scratch memory that calls share
// would show; filters and blurs are shared.
func checkSameOperation(e *environment) error {
	groups, err := concurrentCases(e.dev, 2*goroutines)
	if err != nil {
		return err
	}
	defer freeAll(groups)
	for _, cases := range groups {
		if err := together(func(g int) error {
			for k := range cases {
				c := cases[(k+g*len(cases)/goroutines)%len(cases)]
				got, err := c.run(e.dev, c.op)
				if err == nil {
					err = c.checkSame(got, c.want)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", c.title(), err)
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// checkOtherOperations lets every goroutine begin elsewhere in the list of
// operations.
func checkOtherOperations(e *environment) error {
	groups, err := concurrentCases(e.dev, 2)
	if err != nil {
		return err
	}
	defer freeAll(groups)
	cases := slices.Concat(groups...)
	return together(func(g int) error {
		for k := range cases {
			c := cases[(k+g*len(cases)/goroutines)%len(cases)]
			got, err := c.run(e.dev, c.op)
			if err == nil {
				err = c.checkSame(got, c.want)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.title(), err)
			}
		}
		return nil
	})
}

// checkSharedReading lets all goroutines read the same sources.
func checkSharedReading(e *environment) error {
	groups, err := concurrentCases(e.dev, 2)
	if err != nil {
		return err
	}
	defer freeAll(groups)
	for _, c := range slices.Concat(groups...) {
		shared, err := c.place(e.dev)
		if err != nil {
			return err
		}
		err = together(func(int) error {
			own, err := c.place(e.dev)
			if err != nil {
				return err
			}
			defer own.free()
			for k, o := range c.operands {
				if o.role == source {
					own.buffers[k] = shared.buffers[k]
				}
			}
			got, err := c.collect(e.dev, c.op, own)
			if err != nil {
				return err
			}
			return c.checkSame(got, c.want)
		})
		shared.free()
		if err != nil {
			return fmt.Errorf("%s: %w", c.title(), err)
		}
	}
	return nil
}

func freeAll(groups [][]concurrentCase) {
	for _, cases := range groups {
		for _, c := range cases {
			c.op.free()
		}
	}
}

// checkCloseUnderLoad closes a device while other goroutines use it: each of them
// ends with ErrClosed and nothing else.
func checkCloseUnderLoad(e *environment) error {
	dev, err := e.fresh()
	if err != nil {
		return err
	}
	started := make(chan struct{}, goroutines)
	return together(func(g int) error {
		if g == 0 {
			for range goroutines - 1 {
				<-started
			}
			return dev.Close()
		}
		s := backend.Image(2, 9, 11)
		data := random(s.Len(), "load")
		for once := true; ; once = false {
			b, err := upload(dev, s, data)
			if err == nil {
				err = dev.Download(data, b)
			}
			if once {
				started <- struct{}{}
			}
			if errors.Is(err, backend.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			b.Free()
		}
	})
}
