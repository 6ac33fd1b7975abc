package main

import (
	"slices"

	"github.com/averaged/imaging/internal/imagefile"
)

// floatRange scales float samples such as counts, of which 1 is not white, by the range that
// they have, and back.
type floatRange struct {
	low, high float64
	stored    []float32 // the samples of the file
	scaled    []float32 // the same, in [0,1]
}

// floatRangeOf is the range of an image whose samples go beyond [-1,4], or nil. What is less far
// outside [0,1] is light brighter than white, or noise, and stays as it is.
func floatRangeOf(m *imagefile.Image) *floatRange {
	if m.Depth != 32 {
		return nil
	}
	low, high := slices.Min(m.Pix), slices.Max(m.Pix)
	if low == high || low >= -1 && high <= 4 {
		return nil
	}
	r := &floatRange{low: float64(low), high: float64(high), stored: m.Pix}
	r.scaled = r.scale(m.Pix)
	return r
}

func (r *floatRange) scale(pix []float32) []float32 {
	scaled := make([]float32, len(pix))
	for i, v := range pix {
		scaled[i] = float32((float64(v) - r.low) / (r.high - r.low))
	}
	return scaled
}

// back undoes scale. A sample that was not changed is that of the file.
func (r *floatRange) back(pix []float32) []float32 {
	stored := make([]float32, len(pix))
	for i, v := range pix {
		if len(pix) == len(r.scaled) && v == r.scaled[i] {
			stored[i] = r.stored[i]
		} else {
			stored[i] = float32(r.low + float64(v)*(r.high-r.low))
		}
	}
	return stored
}

// writesFloat tells whether an image of float samples is written as such.
func writesFloat(opt imagefile.WriteOptions) bool {
	return slices.Contains(opt.Format.Depths(), 32) && (opt.Depth == 0 || opt.Depth == 32)
}

// remarkRange says what is done to samples of that range.
func (a *app) remarkRange(input string, r *floatRange, opt imagefile.WriteOptions) {
	end := "and the result is scaled back"
	if !writesFloat(opt) {
		end = "and the result keeps that scale; write .tif or .pfm to have it scaled back"
	}
	a.Remark(input, "its samples run from %.4g to %.4g and are scaled to 0 to 1: noise levels are shares of that range, %s", r.low, r.high, end)
}

// measureInRange scales an image that is only measured, as a result would be, and says so.
func (a *app) measureInRange(input string, m *imagefile.Image) {
	if r := floatRangeOf(m); r != nil {
		m.Pix = r.scaled
		a.Remark(input, "its samples run from %.4g to %.4g and are scaled to 0 to 1: noise levels are shares of that range", r.low, r.high)
	}
}
