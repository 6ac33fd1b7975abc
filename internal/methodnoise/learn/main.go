// Command learn makes the rule by which package methodnoise says how strong a denoiser should be, and the network that tells
// how much of what is taken is noise, which the rule goes by. Each takes 25 minutes on two cores:
//
//	go run ./internal/methodnoise/learn -photographs FOLDER -o internal/methodnoise/coefficients.go
//	go run ./internal/methodnoise/learn -photographs FOLDER -grey -o internal/methodnoise/greycoefficients.go
//
// FOLDER holds clean photographs in colour. The coefficients that are here were learned from those of
// folder cc0-by/train, whose licences let anyone use what is learned (weights/README.md), with the network camera as it
// is: after a change of the network, or of what package noiselevel says, it should be learned anew. Where features or signs
// have changed, it begins with a rule and a network that are empty.
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
	grey := flag.Bool("grey", false, "learn the rule of grey images")
	kept := flag.String("kept", "", "`FILE` that keeps what was measured, to learn from it again")
	flag.Parse()
	if err := run(context.Background(), *folder, *output, *kept, *pictures, *tried, *grey); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, output, kept string, pictures, tried int, grey bool) error {
	set, err := learning.Kept(kept, func() ([]sample, error) {
		list, err := learning.Photographs(ctx, folder)
		if err != nil {
			return nil, err
		}
		return measureAll(ctx, list, pictures, tried, grey)
	})
	if err != nil {
		return err
	}
	set, network, err := shared(set, lessons)
	if err != nil {
		return err
	}
	for part := range parts {
		r := fit(set, func(s sample) bool { return s.Photograph%parts != part })
		left := func(s sample) bool { return s.Photograph%parts == part }
		fmt.Fprintf(os.Stderr, "left out, part %d: %s\n", part, r.summary(set, left))
	}
	all := func(sample) bool { return true }
	r := fit(set, all)
	fmt.Fprintf(os.Stderr, "learned from: %s\n", r.summary(set, all))
	return write(output, r, network, grey)
}

// parts is how many parts the photographs are divided into, to learn from all but one.
const parts = 4

// measureAll makes samples on all processors, always the same.
func measureAll(ctx context.Context, list []learning.Photograph, n, tried int, grey bool) (_ []sample, err error) {
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
		return measure(ctx, restorers[worker], list, uint64(number), grey, number < tried)
	})
}
