// Command learn makes the rule by which package methodnoise says how strong a denoiser should be, and the network that tells
// how much of what is taken is noise, which the rule goes by. Each takes 25 minutes on two cores, the last one 8:
//
//	go run ./internal/methodnoise/learn -photographs FOLDER -o internal/methodnoise/coefficients.go
//	go run ./internal/methodnoise/learn -photographs FOLDER -of grey -o internal/methodnoise/greycoefficients.go
//	go run ./internal/methodnoise/learn -photographs FOLDER -of guided -pictures 6000 -tried 2000 -o internal/methodnoise/guidedcoefficients.go
//
// FOLDER holds clean photographs in colour. The coefficients that are here were learned from those of folder cc0-by/train, whose
// licences let anyone use what is learned (weights/README.md), with the networks camera and guided as they are: after a change
// of a network, or of what package noiselevel says, they should be learned anew. Where features or signs have changed, it begins
// with a rule and a network that are empty.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/averaged/imaging/internal/learning"
	"github.com/averaged/imaging/restore"
)

func main() {
	folder := flag.String("photographs", "", "`FOLDER` of clean photographs in colour")
	output := flag.String("o", "", "Go `FILE` to write")
	pictures := flag.Int("pictures", 9600, "pictures to make; those whose noise is not that of a camera are left out")
	tried := flag.Int("tried", 3200, "pictures of these to denoise at each strength, for the rule; the others are for the network of shares")
	of := flag.String("of", "colour", "`RULE` to learn: that of images in colour, of grey ones, or of grey ones that guided denoises: colour, grey, guided")
	kept := flag.String("kept", "", "`FILE` that keeps what was measured, to learn from it again")
	flag.Parse()
	rule, ok := lessons[*of]
	if !ok {
		fmt.Fprintf(os.Stderr, "learn: rule %q, must be colour, grey or guided\n", *of)
		os.Exit(2)
	}
	if err := run(context.Background(), *folder, *output, *kept, *pictures, *tried, rule); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, output, kept string, pictures, tried int, of lesson) error {
	set, err := learning.Kept(kept, func() ([]sample, error) {
		list, err := learning.Photographs(ctx, folder)
		if err != nil {
			return nil, err
		}
		return measureAll(ctx, list, pictures, tried, of)
	})
	if err != nil {
		return err
	}
	set, network, err := shared(set, steps)
	if err != nil {
		return err
	}
	for part := range parts {
		r := fit(set, of.loss, func(s sample) bool { return s.Photograph%parts != part })
		left := func(s sample) bool { return s.Photograph%parts == part }
		fmt.Fprintf(os.Stderr, "left out, part %d: %s\n", part, r.summary(set, left))
	}
	all := func(sample) bool { return true }
	r := fit(set, of.loss, all)
	fmt.Fprintf(os.Stderr, "learned from: %s\n", r.summary(set, all))
	return write(output, r, network, of)
}

// lesson is a rule to learn.
type lesson struct {
	name, images string // in Go, and in words
	method       string // of the trial
	grey         bool
	loss         loss
}

var lessons = map[string]lesson{
	"colour": {"learned", "images in colour", restore.Camera, false, loss{worse: 5, most: 8}},
	"grey":   {"learnedGrey", "grey images", restore.Camera, true, loss{worse: 3, most: 24}},
	"guided": {"learnedGuided", "grey images that the network for all noise denoises", restore.Guided, true, loss{worse: 3, most: 24}},
}

// parts is how many parts the photographs are divided into, to learn from all but one.
const parts = 4

// measureAll makes samples on all processors, always the same.
func measureAll(ctx context.Context, list []learning.Photograph, n, tried int, of lesson) (_ []sample, err error) {
	restorers := make([]*restore.Restorer, learning.Workers())
	for w := range restorers {
		if restorers[w], err = restore.New(restore.Threads(1)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, restorers[w].Close()) }()
	}
	return learning.All(n, func(worker, number int) (sample, bool, error) {
		if number%100 == 99 {
			fmt.Fprintf(os.Stderr, "%d of %d pictures\n", number+1, n)
		}
		return measure(ctx, restorers[worker], list, uint64(number), of, number < tried)
	})
}
