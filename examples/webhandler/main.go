// Command webhandler is a web server that denoises what it is sent. It has one Restorer for all
// requests, and a deadline for each.
//
//	go run ./examples/webhandler
//	curl --data-binary @testdata/readme/noisy.png http://127.0.0.1:8080/denoise -o clean.png
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"image"
	_ "image/jpeg"
	"image/png"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/restore"
)

// A request may have so many bytes, and its picture so many pixels: a file of a few kilobytes can hold billions of them.
// So many pictures are in memory at a time. Each may need 700 MB of the limit.
const largest, pixels, atOnce, memory = 32 << 20, 40e6, 2, 2 << 30

func main() {
	address := flag.String("address", "127.0.0.1:8080", "where to listen")
	within := flag.Duration("within", time.Minute, "the time for a request")
	flag.Parse()
	r, err := restore.New(restore.MemoryLimit(memory))
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("POST /denoise", handler(r, *within))
	// Who sends or takes slowly, or stays without asking, holds no memory for long.
	server := http.Server{Addr: *address, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: *within, WriteTimeout: 3 * *within, IdleTimeout: *within}
	log.Fatal(server.ListenAndServe())
}

// during reads as long as a context lasts. Decoders know no context, and a file of a few megabytes can take hours: a
// progressive JPEG may go through all pixels again every few bytes.
type during struct {
	context.Context
	io.Reader
}

func (d during) Read(b []byte) (int, error) {
	if err := d.Err(); err != nil {
		return 0, err
	}
	return d.Reader.Read(b)
}

// handler answers with the picture that it is sent, denoised, within a time.
func handler(r *restore.Restorer, within time.Duration) http.Handler {
	turns := make(chan struct{}, atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithTimeout(request.Context(), within)
		defer cancel()
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			http.Error(w, "the server is busy", http.StatusServiceUnavailable)
			return
		}
		file, err := io.ReadAll(http.MaxBytesReader(w, request.Body, largest))
		if err != nil {
			http.Error(w, "the file is too large, or did not arrive", http.StatusRequestEntityTooLarge)
			return
		}
		size, _, err := image.DecodeConfig(bytes.NewReader(file))
		if err != nil {
			http.Error(w, "this is no picture", http.StatusBadRequest)
			return
		}
		if size.Height > 0 && size.Width > pixels/size.Height {
			http.Error(w, "the picture has too many pixels", http.StatusRequestEntityTooLarge)
			return
		}
		img, _, err := image.Decode(during{ctx, bytes.NewReader(file)})
		if err != nil && ctx.Err() == nil {
			http.Error(w, "the picture is broken", http.StatusBadRequest)
			return
		}
		var out image.Image
		if err = ctx.Err(); err == nil {
			out, _, err = r.Denoise(ctx, img)
		}
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, "the picture takes too long", http.StatusServiceUnavailable)
			return
		case errors.Is(err, backend.ErrOutOfMemory):
			http.Error(w, "the server is busy", http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, out) // nobody is left to tell
	})
}
