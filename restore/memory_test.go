package restore

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
)

// liveHeap returns the most bytes that any collection found in use while f ran.
func liveHeap(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	most, done := uint64(0), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			runtime.GC()
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	f()
	close(done)
	wait.Wait()
	return most
}

// What denoising holds for each pixel of a photograph, beside tiles and strips across its shorter side, is the photograph, the result
// and the radii of the network.
func TestMemoryPerPixel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and the memory does not depend on the processor: go test ./... measures it")
	}
	r, err := New(Method(weights.Fast), Sigma(.1))
	require.NoError(t, err)
	defer r.Close()
	held := func(height int) float64 {
		p := NewPlanar(3, height, 400)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range p.Pix {
			p.Pix[i] = float32(.5 + .1*random.NormFloat64())
		}
		return float64(liveHeap(func() {
			_, _, err := r.Denoise(t.Context(), p)
			require.NoError(t, err)
		}))
	}
	held(400) // what is made once
	// 12 bytes of the photograph, 12 of the result, and 8 radii of "fast", 4 bytes each, for 4 pixels.
	const bytes = 12 + 12 + 8
	least := math.Inf(1)
	for range 4 { // a look may come after the peak of the small one, or see what tests before have left
		small, large := held(6400), held(8000) // both larger than what the guide makes in one go
		if least = min(least, (large-small)/(400*1600)); least < 1.1*bytes {
			break
		}
	}
	require.Less(t, least, 1.1*bytes)
}
