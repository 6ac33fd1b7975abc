package cameranoise

// Compressed returns a picture of one or three planes as JPEG leaves it.
func Compressed(pix []float32, h, w int, j JPEG) ([]float32, error) {
	channels, err := channelsOf(pix, h, w)
	if err != nil {
		return nil, err
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	out := append([]float32(nil), pix...)
	compress(out, make([]float32, paddedSize(h, w)), channels, h, w, j)
	return out, nil
}
