package record

import (
	"fmt"

	"github.com/averaged/imaging/internal/cameranoise"
)

// Camera is the JSON object about a camera: see cameranoise.Camera.
type Camera struct {
	Reduction       Number    `json:"reduction"`
	Exposure        Number    `json:"exposure"`
	Pattern         string    `json:"pattern"`
	ISO             Number    `json:"iso"`
	FullWell        Number    `json:"full_well"`
	ShotNoise       Number    `json:"shot_noise"`    // variance for light that saturates
	ReadVariance    Number    `json:"read_variance"` // where 1 saturates
	RowNoise        Number    `json:"row_noise"`
	BlackLevel      Number    `json:"black_level"`
	Bits            int       `json:"bits"`
	WhiteBalance    [2]Number `json:"white_balance"`
	Matrix          [9]Number `json:"matrix"`
	Demosaicking    string    `json:"demosaicking"`
	Tone            Number    `json:"tone"`
	LumaSmoothing   Number    `json:"luma_smoothing"`
	ChromaSmoothing Number    `json:"chroma_smoothing"`
	Sharpening      Number    `json:"sharpening"`
	Resize          Number    `json:"resize"`
	Resampling      string    `json:"resampling"`
	JPEG            []JPEG    `json:"jpeg"`
}

// JPEG is a compression.
type JPEG struct {
	Quality     int    `json:"quality"`
	Subsampling string `json:"subsampling"`
}

// CameraOf describes a camera.
func CameraOf(c cameranoise.Camera) *Camera {
	o := &Camera{
		Reduction: Number(c.Reduction), Exposure: Number(c.Exposure), Pattern: c.Pattern.String(),
		ISO: Number(c.ISO), FullWell: Number(c.FullWell),
		ShotNoise: Number(c.ShotNoise()), ReadVariance: Number(c.ReadVariance()), RowNoise: Number(c.RowNoise),
		BlackLevel: Number(c.BlackLevel), Bits: c.Bits,
		WhiteBalance: [2]Number{Number(c.WhiteBalance[0]), Number(c.WhiteBalance[1])},
		Demosaicking: c.Demosaicking.String(), Tone: Number(c.Tone),
		LumaSmoothing: Number(c.LumaSmoothing), ChromaSmoothing: Number(c.ChromaSmoothing), Sharpening: Number(c.Sharpening),
		Resize: Number(c.Resize), Resampling: c.Resampling.String(), JPEG: JPEGsOf(c.JPEG),
	}
	for i, v := range c.Matrix {
		o.Matrix[i] = Number(v)
	}
	return o
}

// JPEGsOf describes compressions.
func JPEGsOf(list []cameranoise.JPEG) []JPEG {
	infos := []JPEG{}
	for _, j := range list {
		infos = append(infos, JPEG{j.Quality, j.Subsampling.String()})
	}
	return infos
}

// String says for people what matters most.
func (c *Camera) String() string {
	text := fmt.Sprintf("photographed at ISO %.0f, %s", c.ISO, c.Demosaicking)
	if c.Resize > 1 {
		text += fmt.Sprintf(", resized by %.3g (%s)", c.Resize, c.Resampling)
	}
	for _, j := range c.JPEG {
		text += ", " + j.String()
	}
	return text
}

func (j JPEG) String() string { return fmt.Sprintf("JPEG %d %s", j.Quality, j.Subsampling) }
