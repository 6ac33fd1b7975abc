package cuda

import (
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/internal/mempool"
)

// slab is how much is asked from the driver for blocks that are smaller.
const slab = 4 << 20

// pool keeps memory of the GPU: the driver's own calls take as long as a kernel, or wait for all work.
type (
	pool  = mempool.Pool[driver.Pointer]
	block = mempool.Block[driver.Pointer]
)

func newPool(gpu driver.Device, limit int64) *pool {
	return &pool{
		Allocate: func(bytes int64) (driver.Pointer, error) {
			p, err := gpu.Alloc(bytes)
			return p, translate(err)
		},
		Free:  func(p driver.Pointer) error { return translate(gpu.Free(p)) },
		Limit: limit, Slab: slab,
	}
}

// begin is where a block begins.
func begin(b *block) driver.Pointer { return b.Memory() + driver.Pointer(b.Offset) }
