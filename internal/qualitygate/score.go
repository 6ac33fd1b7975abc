package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/restore"
)

// picture is an input of the program, with what is known of it.
type picture struct {
	name    string
	id      string // where several kinds need the same result; else empty
	input   *restore.Planar
	truth   *restore.Planar // the input itself where nothing is to be removed
	peak    float64         // white; 0 means 1
	largest int             // of the integers to which the result is rounded; 0: it is not
	options []restore.Option
	// The other picture that this one is to be as good as. Where then is given, its result is
	// taken through that, and compared with the truth of this one.
	beside *picture
	then   func([]float32) []float32
}

// score has what became of a picture: PSNR in dB before and after.
type score struct {
	kind, name    string
	clean         bool // nothing was to be removed: before is none
	before, after float64
	compared      bool
	beside        float64 // after, less that of the other picture
	same          bool    // all samples are as they were
}

// highest is what PSNR counts at most, so that a picture without any error has a place in means.
const highest = 70

func psnr(truth, pix []float32, peak float64) (float64, error) {
	if peak == 0 {
		peak = 1
	}
	db, err := quality.PSNR(truth, pix, peak)
	return min(db, highest), err
}

// measurement keeps what is used more than once.
type measurement struct {
	restorer *restore.Restorer
	results  map[string]*restore.Planar
}

// restored is what the program makes of a picture, rounded.
func (m *measurement) restored(ctx context.Context, p *picture) (*restore.Planar, error) {
	if r, there := m.results[p.id]; there {
		return r, nil
	}
	img, _, err := m.restorer.Denoise(ctx, p.input, p.options...)
	if err != nil {
		return nil, err
	}
	out, ok := img.(*restore.Planar)
	if !ok {
		return nil, fmt.Errorf("the result is a %T, want a planar image", img)
	}
	if p.largest > 0 {
		out = &restore.Planar{Width: out.Width, Height: out.Height, Channels: out.Channels, Pix: synthetic.Rounded(out.Pix, p.largest)}
	}
	if p.id != "" {
		m.results[p.id] = out
	}
	return out, nil
}

func (m *measurement) score(ctx context.Context, p *picture) (score, error) {
	out, err := m.restored(ctx, p)
	if err != nil {
		return score{}, err
	}
	s := score{name: p.name, clean: p.truth == p.input, same: slices.Equal(out.Pix, p.input.Pix)}
	if s.before, err = psnr(p.truth.Pix, p.input.Pix, p.peak); err != nil {
		return score{}, err
	}
	if s.after, err = psnr(p.truth.Pix, out.Pix, p.peak); err != nil || p.beside == nil {
		return s, err
	}
	other, err := m.restored(ctx, p.beside)
	if err != nil {
		return score{}, err
	}
	pix, truth, peak := other.Pix, p.beside.truth.Pix, p.beside.peak
	if p.then != nil {
		pix, truth, peak = p.then(pix), p.truth.Pix, p.peak
	}
	db, err := psnr(truth, pix, peak)
	s.beside, s.compared = s.after-db, true
	return s, err
}
