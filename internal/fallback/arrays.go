package fallback

import "github.com/averaged/imaging/backend"

// arrays are those of a call, freed with it at the latest.
type arrays struct {
	dev backend.Device
	own map[backend.Buffer]bool
}

func newArrays(dev backend.Device) *arrays {
	return &arrays{dev: dev, own: map[backend.Buffer]bool{}}
}

// alloc returns an array of zeros.
func (a *arrays) alloc(s backend.Shape) (backend.Buffer, error) {
	b, err := a.dev.Alloc(s)
	if err == nil {
		a.own[b] = true
	}
	return b, err
}

// free frees an array of the call; others it leaves alone.
func (a *arrays) free(b backend.Buffer) {
	if b != nil && a.own[b] {
		delete(a.own, b)
		b.Free()
	}
}

func (a *arrays) freeAll() {
	for b := range a.own {
		b.Free()
	}
}
