// Command learn makes the rule by which package noiselevel tells noise from content:
//
//	go run ./internal/noiselevel/learn -photographs FOLDER -o internal/noiselevel/coefficients.go
//
// FOLDER holds clean photographs in colour. The coefficients that are here were learned from those of
// folder cc0-by/train, whose licences let anyone use what is learned (weights/README.md).
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
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
	var sets [2][]sample // grey, colour
	err := restoreSamples(kept, &sets)
	if err != nil {
		list, err := readPhotographs(folder)
		if err != nil {
			return err
		}
		for i := range sets {
			if sets[i], err = drawAll(list, samples*(1+2*i)/3, i == 0); err != nil {
				return err
			}
		}
		if err := keepSamples(kept, &sets); err != nil {
			return err
		}
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
func drawAll(list []photograph, n int, grey bool) ([]sample, error) {
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

var errNoSamples = errors.New("no samples are kept")

func restoreSamples(path string, sets *[2][]sample) error {
	if path == "" {
		return errNoSamples
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, sets)
}

func keepSamples(path string, sets *[2][]sample) error {
	if path == "" {
		return nil
	}
	b, err := json.Marshal(sets)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
