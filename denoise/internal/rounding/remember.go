package rounding

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
)

// remembered are the results of newConvolution in this process: programs load the same networks
// again and again, and every run asks for the same bounds, which take a tenth of a second a filter.
var remembered = struct {
	sync.Mutex
	of map[[sha256.Size]byte]Convolution
}{of: map[[sha256.Size]byte]Convolution{}}

// maxRemembered is at how many filters all are forgotten; a network has about ten.
const maxRemembered = 1000

// Remembered is newConvolution, computed once in a process for the same arguments.
func Remembered(ctx context.Context, w []float32, shape backend.Shape, norm float64, a backend.ConvolutionAlgorithm, first int) (Convolution, error) {
	h := sha256.New()
	fmt.Fprintln(h, shape, norm, first)
	if a.Tiles != nil {
		fmt.Fprintln(h, *a.Tiles)
	}
	if err := binary.Write(h, binary.LittleEndian, w); err != nil {
		return Convolution{}, err // never of a hash and float32
	}
	key := [sha256.Size]byte(h.Sum(nil))
	remembered.Lock()
	c, ok := remembered.of[key]
	remembered.Unlock()
	if ok {
		return c, nil
	}
	c, err := newConvolution(ctx, w, shape, norm, a, first)
	if err != nil {
		return Convolution{}, err
	}
	remembered.Lock()
	defer remembered.Unlock()
	if len(remembered.of) >= maxRemembered {
		clear(remembered.of)
	}
	remembered.of[key] = c
	return c, nil
}
