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
			if sets[i], err = learning.All(samples*(1+2*i)/3, func(_, number int) (sample, bool, error) {
				return draw(list, uint64(number), i == 0)
			}); err != nil {
				return sets, err
			}
		}
		return sets, nil
	})
	if err != nil {
		return err
	}
	var rules []*learning.Perceptron
	for _, set := range sets {
		r := fit(set, iterations)
		fmt.Fprintf(os.Stderr, "%d samples of %d features: mean loss %.4f; middle off by a factor of %.2f\n",
			len(set), len(set[0].Features), loss(r, set), spread(r, set))
		rules = append(rules, r)
	}
	return write(output, rules[0], rules[1])
}
