package record

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/restore"
)

// Raw is what --json says of a raw photograph.
type Raw struct {
	Version string `json:"dng_version"`
	// Pattern is the colours of the filters at the first two pixels of the first two rows; "" of LinearRaw.
	Pattern string `json:"pattern,omitempty"`
	Bits    int    `json:"bits"`
	// Noise is the variance of red, green and blue, or of each sample, gain·x + offset for light x from 0 to 1.
	Noise []rawNoise `json:"noise"`
	// Claimed: the noise could not be measured, and is what the camera claims.
	Claimed   bool `json:"noise_claimed,omitempty"`
	HotPixels int  `json:"hot_pixels,omitempty"`
}

type rawNoise struct {
	Gain   Number `json:"gain"`
	Offset Number `json:"offset"`
}

// middleGrey is the light of which the noise is named.
const middleGrey = 0.18

// SetRaw adds what is known of a raw photograph, and of its noise.
func (o *Outcome) SetRaw(photo *raw.File, img *raw.Image, r *restore.RawReport) {
	o.Raw = &Raw{Version: photo.Version(), Bits: photo.Bits(), Claimed: r.Claimed, HotPixels: r.HotPixels}
	if img.Mosaic {
		o.Raw.Pattern = img.Pattern.String()
	}
	for _, n := range r.Noise {
		o.Raw.Noise = append(o.Raw.Noise, rawNoise{Number(n.Gain), Number(n.Offset)})
	}
	o.Sigma, o.Estimated = 0, len(r.Noise) > 0 && !r.Claimed
	if n := len(r.Noise); n > 0 { // of green, or of the middle sample
		o.Sigma = Number(math.Sqrt(r.Noise[n/2].At(middleGrey)))
	}
}

// RawSummary is the outcome of a raw photograph in a line for people.
func (o *Outcome) RawSummary(zero bool) string {
	switch {
	case zero:
		return fmt.Sprintf("strength 0: the raw image as it is, %.1f s", o.Seconds)
	case o.Unchanged:
		return fmt.Sprintf("no noise found, the raw image as it is, %.1f s", o.Seconds)
	}
	text := fmt.Sprintf("noise of sigma %.4g at middle grey removed from the raw image by %s, %.1f s", o.Sigma, o.Method, o.Seconds)
	if n := o.Raw.HotPixels; n > 0 {
		text += fmt.Sprintf("; %s filled", message.Count(n, "hot pixel"))
	}
	if o.Network == nil {
		return text
	}
	text += "; " + o.Certificate.Claim(true) + " where the noise is white"
	if o.Guide != nil {
		text += ", for the radii frozen for this photograph"
	}
	return text
}

// facts lists what is known of a raw photograph.
func (r *Raw) facts(say func(name, format string, args ...any)) {
	kind := "LinearRaw"
	if r.Pattern != "" {
		kind = "mosaic " + r.Pattern
	}
	say("Raw image", "DNG %s, %s, %d bits", r.Version, kind, r.Bits)
	for i, n := range r.Noise {
		of := fmt.Sprintf("sample %d", i+1)
		if len(r.Noise) == 3 {
			of = []string{"red", "green", "blue"}[i]
		}
		say("Variance of the noise of "+of+" for light x", "%.3g·x + %.3g", float64(n.Gain), float64(n.Offset))
	}
	if r.HotPixels > 0 {
		say("Hot and dead pixels", "%d filled", r.HotPixels)
	}
}
