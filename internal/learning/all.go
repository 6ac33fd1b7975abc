package learning

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// All returns what draw makes of the numbers below n, in their order, without those that are not ok, or the error of the
// lowest number that has one. It is called on all processors, each with a worker of its own, from 0 to Workers()−1.
func All[T any](n int, draw func(worker, number int) (value T, ok bool, err error)) ([]T, error) {
	values, good, errs := make([]T, n), make([]bool, n), make([]error, n)
	var group sync.WaitGroup
	var next atomic.Int64
	var failed atomic.Bool
	for w := range Workers() {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if values[i], good[i], errs[i] = draw(w, i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	var list []T
	for i, v := range values {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if good[i] {
			list = append(list, v)
		}
	}
	return list, nil
}

// Workers is how many workers All has.
func Workers() int { return runtime.GOMAXPROCS(0) }
