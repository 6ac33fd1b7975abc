// Command webhandler is a web server that denoises what it is sent. It has one Restorer for all
// requests, and a deadline for each.
//
//	go run ./examples/webhandler
//	curl --data-binary @testdata/readme/noisy.png http://127.0.0.1:8080/denoise -o clean.png
package main

import (
	"context"
	"errors"
	"flag"
	"image"
	_ "image/jpeg"
	"image/png"
	"log"
	"net/http"
	"time"

	"github.com/averaged/imaging/restore"
)

// largest is the number of bytes that a request may have.
const largest = 32 << 20

func main() {
	address := flag.String("address", "127.0.0.1:8080", "where to listen")
	within := flag.Duration("within", time.Minute, "the time for a request")
	flag.Parse()
	r, err := restore.New(restore.MemoryLimit(1 << 30))
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("POST /denoise", handler(r, *within))
	server := http.Server{Addr: *address, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// handler answers with the picture that it is sent, denoised, within a time.
func handler(r *restore.Restorer, within time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ctx, cancel := context.WithTimeout(request.Context(), within)
		defer cancel()
		img, _, err := image.Decode(http.MaxBytesReader(w, request.Body, largest))
		if err != nil {
			http.Error(w, "this is no picture", http.StatusBadRequest)
			return
		}
		out, _, err := r.Denoise(ctx, img)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, "the picture is too large", http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, out) // nobody is left to tell
	})
}
