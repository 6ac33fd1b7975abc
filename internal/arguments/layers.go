package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckLayers returns the shapes of z after every layer, or an error that wraps ErrShape or
// ErrArgument unless the arguments of ApplyLayers go together. It looks at shapes and numbers
// only.
func CheckLayers(dst backend.Shape, y, x int, region backend.Region, src backend.Shape, window backend.Region, layers []backend.Layer) ([]backend.Shape, error) {
	if err := window.Check(src); err != nil {
		return nil, err
	}
	if len(layers) == 0 {
		return nil, fmt.Errorf("%w: no layers", backend.ErrArgument)
	}
	z := src
	z.H, z.W = window.Size()
	var shapes, kept []backend.Shape
	for k, l := range layers {
		if err := checkOneLayer(&z, &kept, l); err != nil {
			return nil, fmt.Errorf("layer %d: %w", k, err)
		}
		shapes = append(shapes, z)
	}
	if z.C != dst.C {
		return nil, fmt.Errorf("%w: layers that end at %v for %v", backend.ErrShape, z, dst)
	}
	return shapes, CheckCopyRegion(dst, y, x, z, region)
}

// checkOneLayer brings z and what is kept to the end of a layer.
func checkOneLayer(z *backend.Shape, kept *[]backend.Shape, l backend.Layer) error {
	filter := func(f backend.Filter, bias backend.Buffer, in, size int) (out int, err error) {
		if f == nil {
			return 0, fmt.Errorf("%w: no filter", backend.ErrArgument)
		}
		s := f.Shape()
		if s.C != in || size > 0 && (s.H != size || s.W != size) {
			return 0, fmt.Errorf("%w: a filter %v for %d channels", backend.ErrShape, s, in)
		}
		if bias == nil {
			return s.N, nil
		}
		return s.N, CheckBias(bias.Shape(), s.N)
	}
	if err := l.Activation.Check(); err != nil {
		return err
	}
	var err error
	switch l.Kind {
	case backend.ConvolutionLayer:
		z.C, err = filter(l.Filter, l.Bias, z.C, 0)
	case backend.ResidualLayer:
		var hidden, out int
		if hidden, err = filter(l.Filter, l.Bias, z.C, 0); err != nil {
			return err
		}
		if out, err = filter(l.Second, l.SecondBias, hidden, 0); err == nil && out != z.C {
			err = fmt.Errorf("%w: a residual block from %d to %d channels", backend.ErrShape, z.C, out)
		}
	case backend.DownLayer:
		*kept = append(*kept, *z)
		*z = z.Unshuffled(2)
		z.C, err = filter(l.Filter, l.Bias, z.C, 1)
	case backend.UpLayer:
		below, to := *z, *z
		if l.From != nil {
			from := l.From.Shape()
			below = z.Unshuffled(2)
			below.C = from.C
			if err := CheckCopyRegion(from, l.Y, l.X, below, below.Whole()); err != nil {
				return err
			}
		} else {
			n := len(*kept)
			if n == 0 {
				return fmt.Errorf("%w: a way up without a way down", backend.ErrArgument)
			}
			to, *kept = (*kept)[n-1], (*kept)[:n-1]
		}
		if below.C, err = filter(l.Filter, l.Bias, below.C, 1); err != nil {
			return err
		}
		*z = to
		err = CheckShuffle(to, below, 2)
	default:
		err = fmt.Errorf("%w: layer of kind %d", backend.ErrArgument, l.Kind)
	}
	return err
}
