package deblurring

import "github.com/averaged/imaging/backend"

// download copies channel c of b to the host.
func download(dev backend.Device, to []float32, b backend.Buffer, c int) error {
	view, err := dev.Channels(b, c, 1)
	if err != nil {
		return err
	}
	defer view.Free()
	return dev.Download(to, view)
}

// upload sets channel c of b.
func upload(dev backend.Device, b backend.Buffer, c int, from []float32) error {
	view, err := dev.Channels(b, c, 1)
	if err != nil {
		return err
	}
	defer view.Free()
	return dev.Upload(view, from)
}
