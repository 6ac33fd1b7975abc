// Command render writes the still life to testdata/scene.png.
package main

import (
	"image/png"
	"log"
	"os"

	"github.com/averaged/imaging/internal/scene"
)

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := png.Encode(f, scene.Render(480, 320)); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
