// Command batch denoises pictures one after the other: the network is loaded once, no more memory
// is taken than is given, and a picture that fails does not end the rest.
//
//	go run ./examples/batch -o cleaned photo1.jpg photo2.png
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/restore"
)

func main() {
	output := flag.String("o", "cleaned", "the folder for the results")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("usage: batch [-o FOLDER] IN…")
	}
	failed, err := denoiseAll(context.Background(), os.Stdout, *output, flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// denoiseAll writes each of the named pictures, denoised, into a folder as a PNG of the same name,
// prints a line for each, and returns how many failed.
func denoiseAll(ctx context.Context, w io.Writer, folder string, names []string) (failed int, err error) {
	r, err := restore.New(restore.MemoryLimit(512 << 20))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	for _, name := range names {
		base := filepath.Base(name)
		to := filepath.Join(folder, strings.TrimSuffix(base, filepath.Ext(base))+".png")
		report, err := denoise(ctx, r, name, to)
		switch {
		case ctx.Err() != nil:
			return failed, ctx.Err()
		case errors.Is(err, os.ErrNotExist):
			fmt.Fprintln(w, base+": no such picture")
		case errors.Is(err, os.ErrExist):
			fmt.Fprintln(w, base+": there is a result already")
		case errors.Is(err, backend.ErrOutOfMemory):
			fmt.Fprintln(w, base+": too large")
		case err != nil:
			fmt.Fprintln(w, base+":", err)
		default:
			fmt.Fprintf(w, "%s: noise %.3f, proven to be averaged: %v\n", base, report.Noise.Sigma, report.Certified)
		}
		if err != nil {
			failed++
		}
	}
	return failed, nil
}

func denoise(ctx context.Context, r *restore.Restorer, from, to string) (*restore.Report, error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		return nil, err
	}
	out, report, err := r.Denoise(ctx, img)
	if err != nil {
		return nil, err
	}
	// Two pictures may have the same name.
	result, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return report, errors.Join(png.Encode(result, out), result.Close())
}
