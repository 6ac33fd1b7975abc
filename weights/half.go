package weights

// FileOption changes how denoise.Model.File and dncnn.Model.File write a network.
type FileOption func(*DType)

// HalfPrecision makes denoise.Model.File write the tensors as float16, half as large. Nothing is rounded: a
// number that is no float16 is an error (denoise.Model.Rounded16). So the file holds the model itself, and
// the certificate is that of the stored numbers. The checksum of the card is that of the tensors as stored,
// and differs from that of a float32 file. The certificate's checksum, denoise.Model.Checksum, is the same
// for both. A DnCNN has only its filters as float16.
func HalfPrecision() FileOption {
	return func(d *DType) { *d = F16 }
}
