package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noiselevel"
)

// quieten puts the network for more noise in the place of the current one where the result x of a run is noisy, and
// says whether the run is to be made again. Where that did not help it puts the one before back.
func (r *retuning) quieten(ctx context.Context, x backend.Buffer) (again bool, err error) {
	if r.noise.Settled || r.planar.Channels == 1 {
		return false, nil
	}
	level, err := r.noiseIn(ctx, x)
	if err != nil {
		return false, err
	}
	factor, again := r.noise.Judge(level, r.sigma)
	if factor != 1 {
		err = r.change(ctx, factor*r.sigma)
	}
	return again, err
}

// minSide is the smallest side of a reduced image in which noise can be told from its content.
const minSide = 32

// noiseIn is the level of the noise of an image: of its white part at full, half or a quarter of the resolution,
// whichever is largest, since inverting a blur makes noise coarse.
func (r *retuning) noiseIn(ctx context.Context, x backend.Buffer) (float64, error) {
	s := x.Shape()
	p := imageplanes.New(s.C, s.H, s.W)
	if err := r.dev.Download(p.Pix, x); err != nil {
		return 0, err
	}
	level := 0.0
	for i := range 3 {
		if i > 0 && min(p.Height, p.Width) < minSide {
			break
		}
		e, err := noiselevel.Estimate(p.Pix, p.Channels, p.Height, p.Width)
		if err != nil {
			return 0, err
		}
		level, p = max(level, e.Sigma), p.Halved()
	}
	return level, ctx.Err()
}
