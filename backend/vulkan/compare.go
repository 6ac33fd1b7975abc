package vulkan

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// compare compares the operations with those of the processor on small arrays.
func (g *gpu) compare() error { return nil }

// compareTile compares one tile of a gradient flow with the processor's.
func (g *gpu) compareTile(ctx context.Context, dst, src array, region backend.Region, steps []flowStep) error {
	return nil
}
