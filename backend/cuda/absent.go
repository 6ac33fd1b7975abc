package cuda

import "github.com/averaged/imaging/backend/cuda/internal/driver"

// The errors of Devices and Open without a usable GPU. Any other error means that there is a GPU, and it does
// not work.
var (
	// ErrNoDriver: the program is built without CUDA, or the machine has no driver, or one that is too old.
	ErrNoDriver = driver.ErrNoDriver
	// ErrNoDevice: there is no GPU, or none with this number.
	ErrNoDevice = driver.ErrNoDevice
)
