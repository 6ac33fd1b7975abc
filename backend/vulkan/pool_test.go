package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/vulkan/driver"
)

// Blocks that are given out never overlap, are of the size that was asked for, and the pool never holds
// more than its limit. What was given back can be given out again in one piece.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 4*slab).Draw(t, "limit")
		held := map[*driver.Memory]bool{}
		total := int64(0)
		p := &pool{
			limit: limit,
			allocate: func(bytes int64) (*driver.Memory, error) {
				m := &driver.Memory{Size: bytes}
				held[m] = true
				total += bytes
				require.LessOrEqual(t, total, max(limit, granule))
				return m, nil
			},
			free: func(m *driver.Memory) error {
				require.True(t, held[m])
				delete(held, m)
				total -= m.Size
				return nil
			},
		}
		var blocks []*block
		used := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			if len(blocks) > 0 && rapid.Bool().Draw(t, "free") {
				i := rapid.IntRange(0, len(blocks)-1).Draw(t, "which")
				used -= blocks[i].bytes
				p.release(blocks[i])
				blocks = append(blocks[:i], blocks[i+1:]...)
				continue
			}
			bytes := rapid.Int64Range(1, 2*slab).Draw(t, "bytes")
			b, err := p.alloc(bytes)
			if err != nil {
				require.ErrorIs(t, err, backend.ErrOutOfMemory)
				continue
			}
			require.GreaterOrEqual(t, b.bytes, bytes)
			require.Zero(t, b.offset%granule)
			require.LessOrEqual(t, b.offset+b.bytes, b.owner.memory.Size)
			require.True(t, held[b.owner.memory])
			for _, o := range blocks {
				require.False(t, o.owner == b.owner && o.offset < b.offset+b.bytes && b.offset < o.offset+o.bytes)
			}
			blocks = append(blocks, b)
			used += b.bytes
			require.Equal(t, used, p.used)
		}
		for _, b := range blocks {
			p.release(b)
		}
		require.Zero(t, p.used)
		for _, s := range p.segments {
			require.Equal(t, []gap{{0, s.memory.Size}}, s.gaps)
		}
		require.NoError(t, p.trim())
		require.Empty(t, held)
		require.Zero(t, p.held)
	})
}
