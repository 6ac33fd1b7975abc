// Command learn makes the rule by which package noiselevel tells noise from content:
//
//	go run ./internal/noiselevel/learn -photographs FOLDER -o internal/noiselevel/coefficients.go
//
// FOLDER holds clean photographs in colour. The coefficients that are here were learned from those of
// folder cc0-by/train, whose licences let anyone use what is learned (weights/README.md).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/averaged/imaging/internal/learning"
)

func main() {
	folder := flag.String("photographs", "", "`FOLDER` of clean photographs in colour")
	output := flag.String("o", "", "Go `FILE` to write")
	samples := flag.Int("samples", 15000, "pictures in colour to learn from; a third as many are grey")
	kept := flag.String("kept", "", "`FILE` that keeps the samples, to learn from them again")
	iterations := flag.Int("iterations", 12000, "steps of AdamW")
	flag.Parse()
	if err := run(*folder, *output, *kept, *samples, *iterations); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

func run(folder, output, kept string, samples, iterations int) error {
	sets, err := learning.Kept(kept, func() (sets [2][]sample, err error) { // grey, colour
		list, err := learning.Photographs(context.Background(), folder)
		if err != nil {
			return sets, err
		}
		for i := range sets {
			if sets[i], err = drawAll(list, samples*(1+2*i)/3, i == 0); err != nil {
				return sets, err
			}
		}
		return sets, nil
	})
	if err != nil {
		return err
	}
	var rules []rule
	for _, set := range sets {
		r := fit(set, iterations)
		fmt.Fprintf(os.Stderr, "%d samples of %d features: mean loss %.4f; middle off by a factor of %.2f\n",
			len(set), len(set[0].Features), r.loss(set), r.spread(set))
		rules = append(rules, r)
	}
	return write(output, rules[0], rules[1])
}

// drawAll makes samples on all processors, always the same.
func drawAll(list []learning.Photograph, n int, grey bool) ([]sample, error) {
	all, good, errs := make([]sample, n), make([]bool, n), make([]error, n)
	var group sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := w; i < n; i += runtime.GOMAXPROCS(0) {
				all[i], good[i], errs[i] = draw(list, uint64(i), grey)
			}
		})
	}
	group.Wait()
	var set []sample
	for i := range all {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if good[i] {
			set = append(set, all[i])
		}
	}
	return set, nil
}
