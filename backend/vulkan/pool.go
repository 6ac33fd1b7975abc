package vulkan

import (
	"github.com/averaged/imaging/internal/mempool"
	"github.com/averaged/imaging/internal/vulkan/driver"
)

// slab is how much is asked from the driver for blocks that are smaller: it allows few allocations.
const slab = 16 << 20

// pool keeps memory of the GPU.
type (
	pool  = mempool.Pool[*driver.Memory]
	block = mempool.Block[*driver.Memory]
)
