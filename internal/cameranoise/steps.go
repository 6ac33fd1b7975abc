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

// Resized returns a picture of one or three planes made smaller by a factor of 1 or more, and its size.
func Resized(pix []float32, h, w int, factor float64, way Resampling) (out []float32, height, width int, err error) {
	channels, err := channelsOf(pix, h, w)
	if err != nil {
		return nil, 0, 0, err
	}
	height, width = reduced(h, factor), reduced(w, factor)
	out = make([]float32, channels*height*width)
	resampled(out, pix, make([]float32, h*width), channels, h, w, factor, way)
	for i, v := range out {
		out[i] = min(max(v, 0), 1) // a bicubic kernel overshoots
	}
	return out, height, width, nil
}
