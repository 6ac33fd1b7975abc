package selftest

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// hostCopies are copies of arrays and filters for the processor. The first error stays, and what follows
// does nothing.
type hostCopies[M, F any] struct {
	*Tester[M, F]
	host    backend.Device
	filters map[any]backend.Filter
	owned   []interface{ Free() }
	err     error
}

// copies returns hostCopies without any.
func (t *Tester[M, F]) copies() (*hostCopies[M, F], error) {
	host, err := t.processor()
	return &hostCopies[M, F]{Tester: t, host: host, filters: map[any]backend.Filter{}}, err
}

func (h *hostCopies[M, F]) free() {
	for _, b := range h.owned {
		b.Free()
	}
}

func (h *hostCopies[M, F]) alloc(s backend.Shape) backend.Buffer {
	if h.err != nil {
		return nil
	}
	b, err := h.host.Alloc(s)
	if h.err = err; err != nil {
		return nil
	}
	h.owned = append(h.owned, b)
	return b
}

// allocCut allocates a cut of an array of shape s.
func (h *hostCopies[M, F]) allocCut(s backend.Shape, cut backend.Region) backend.Buffer {
	s.H, s.W = cut.Size()
	return h.alloc(s)
}

// copy copies a region of an array.
func (h *hostCopies[M, F]) copy(a devicekit.Array[M], r backend.Region) backend.Buffer {
	if h.err != nil {
		return nil
	}
	var v []float32
	if v, h.err = h.region(a, r); h.err != nil {
		return nil
	}
	a.Shape.H, a.Shape.W = r.Size()
	return h.upload(a.Shape, v)
}

func (h *hostCopies[M, F]) upload(s backend.Shape, v []float32) backend.Buffer {
	b := h.alloc(s)
	if h.err == nil {
		h.err = h.host.Upload(b, v)
	}
	return b
}

// filter copies a filter once.
func (h *hostCopies[M, F]) filter(f F) backend.Filter {
	if h.filters[f] == nil {
		w := h.Weights(f)
		h.filters[f] = h.newFilter(h.copy(w, w.Shape.Whole()))
	}
	return h.filters[f]
}

func (h *hostCopies[M, F]) newFilter(weights backend.Buffer) backend.Filter {
	if h.err != nil {
		return nil
	}
	own, err := h.host.NewFilter(weights)
	if h.err = err; err != nil {
		return nil
	}
	h.owned = append(h.owned, own)
	return own
}

// region downloads a region of an array.
func (t *Tester[M, F]) region(a devicekit.Array[M], r backend.Region) ([]float32, error) {
	part := a
	if r != a.Shape.Whole() {
		part.Shape.H, part.Shape.W = r.Size()
		var err error
		if part.Data, err = t.Kernels.Alloc(part.Shape); err != nil {
			return nil, err
		}
		defer t.Kernels.Free(part.Data)
		if err := t.Kernels.CopyRegion(part, 0, 0, a, r); err != nil {
			return nil, err
		}
	}
	v := make([]float32, part.Shape.Len())
	return v, t.Kernels.Download(v, part)
}
