package degradation

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imagefile"
)

// AddNoise adds noise that depends on seed and the number of the sample only; an error leaves m as it is.
func AddNoise(dev backend.Device, m *imagefile.Image, seed uint64, sigma float32) error {
	x, err := upload(dev, m)
	if err != nil {
		return err
	}
	defer x.Free()
	noise, err := dev.Alloc(x.Shape())
	if err != nil {
		return err
	}
	defer noise.Free()
	if err := dev.Gaussian(noise, seed, 0, sigma); err != nil {
		return err
	}
	if err := dev.LinearCombination(x, backend.Term{A: 1, X: x}, backend.Term{A: 1, X: noise}); err != nil {
		return err
	}
	noisy := make([]float32, len(m.Pix))
	if err := dev.Download(noisy, x); err != nil {
		return err
	}
	m.Pix = noisy
	return nil
}
