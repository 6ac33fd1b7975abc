package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckFilter returns an error that wraps ErrShape unless weights of shape w, (Out, In, KH,
// KW), make a filter: KH and KW are odd.
func CheckFilter(w backend.Shape) error {
	if w.H%2 == 0 || w.W%2 == 0 {
		return fmt.Errorf("%w: filter %v, height and width must be odd", backend.ErrShape, w)
	}
	return nil
}

// CheckWeights returns an error that wraps ErrShape unless the new weights w of a filter
// have its shape.
func CheckWeights(w, filter backend.Shape) error {
	if w != filter {
		return fmt.Errorf("%w: weights %v for a filter %v", backend.ErrShape, w, filter)
	}
	return nil
}

// CheckConvolution returns an error that wraps ErrShape unless a filter of shape (Out, In,
// KH, KW) leads from src to dst: from In channels to Out channels, and all else is the same.
func CheckConvolution(dst, src, filter backend.Shape) error {
	return checkLayer(dst, src, filter.N, filter.C)
}

// CheckConvolutionAdjoint is CheckConvolution of Aᵀ, from Out channels to In channels.
func CheckConvolutionAdjoint(dst, src, filter backend.Shape) error {
	return checkLayer(dst, src, filter.C, filter.N)
}

func checkLayer(dst, src backend.Shape, out, in int) error {
	if dst.N != src.N || dst.H != src.H || dst.W != src.W || dst.C != out || src.C != in {
		return fmt.Errorf("%w: a filter of %d to %d channels from %v to %v", backend.ErrShape, in, out, src, dst)
	}
	return nil
}

// CheckBias returns an error that wraps ErrShape unless a bias has one number for each of
// so many channels.
func CheckBias(bias backend.Shape, channels int) error {
	if bias.Len() != channels {
		return fmt.Errorf("%w: bias %v for %d channels", backend.ErrShape, bias, channels)
	}
	return nil
}

// CheckFilterGradient returns an error that wraps ErrShape unless dw is the shape of a
// filter, of odd height and width, that leads from x to dy.
func CheckFilterGradient(dw, x, dy backend.Shape) error {
	if dw.H%2 == 0 || dw.W%2 == 0 {
		return fmt.Errorf("%w: filter gradient %v, height and width must be odd", backend.ErrShape, dw)
	}
	return CheckConvolution(dy, x, dw)
}

// CheckBiasGradient returns an error that wraps ErrShape unless db has one number for each
// channel of dy.
func CheckBiasGradient(db, dy backend.Shape) error {
	if db.Len() != dy.C {
		return fmt.Errorf("%w: bias gradient %v for %d channels", backend.ErrShape, db, dy.C)
	}
	return nil
}
