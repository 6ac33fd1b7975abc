package record

import (
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// Kernel is what is said of a kernel that was estimated.
type Kernel struct {
	Kind   string `json:"kind"` // shake, motion, disk, gaussian, turn or none
	Length Number `json:"length,omitempty"`
	Angle  Number `json:"angle,omitempty"`
	Radius Number `json:"radius,omitempty"`
	Std    Number `json:"std,omitempty"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Trust is good, fair or doubtful; it follows from the agreement of parts of the photograph.
	Trust     string   `json:"trust"`
	Agreement Number   `json:"agreement,omitempty"`
	Parts     []Number `json:"parts,omitempty"`
	Varies    bool     `json:"varies"`
	Variation Number   `json:"variation"`         // 0: none seen
	Spreads   []Number `json:"spreads,omitempty"` // of the two parts that differ most, in pixels
	// Point is what the camera turned about: column and row. Angle is then by how much, in degrees.
	Point []Number `json:"point,omitempty"`
	// LinearLight says that the kernel is one of light, and not of samples as they are stored.
	LinearLight bool `json:"linear_light,omitempty"`
	// Rows and Columns are those of kernels that were estimated for parts of the frame.
	Rows    int    `json:"rows,omitempty"`
	Columns int    `json:"columns,omitempty"`
	Written string `json:"written,omitempty"` // the file of --write-kernel
}

// NoBlur is the kind of a kernel that is none.
const NoBlur = "none"

// KernelOf describes an estimated kernel.
func KernelOf(k deblur.Kernel, r *restore.KernelReport) *Kernel {
	info := &Kernel{
		Kind: r.Kind, Length: Number(r.Length), Angle: Number(r.Angle), Radius: Number(r.Radius), Std: Number(r.Std),
		Width: k.W, Height: k.H, Trust: r.Trust, Agreement: Number(r.Agreement), Varies: r.Varies, Variation: Number(r.Variation), LinearLight: r.LinearLight,
	}
	if r.Variation > 0 {
		info.Spreads = []Number{Number(r.Spreads[0]), Number(r.Spreads[1])}
	}
	for _, p := range r.Parts {
		info.Parts = append(info.Parts, Number(p))
	}
	return info
}

// BlurOf is what is said of a blur. The trust of a turn is fair: parts of the photograph are not compared.
func BlurOf(b *restore.Blur) *Kernel {
	k, t := b.Grid.Typical(), b.Turn
	if t == nil {
		return KernelOf(k, b.Kernel)
	}
	return &Kernel{
		Kind: "turn", Angle: Number(t.Degrees), Point: []Number{Number(t.X), Number(t.Y)},
		Width: k.W, Height: k.H, Trust: "fair", Varies: true, LinearLight: b.LinearLight, Rows: b.Grid.Rows, Columns: b.Grid.Columns,
	}
}

// KernelFile is the JSON object of kernel.
type KernelFile struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	Shape   string `json:"shape"`
	Output  string `json:"output"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	// Rows and Columns are those of a sheet.
	Rows    int `json:"rows,omitempty"`
	Columns int `json:"columns,omitempty"`
	// Input and Estimate are those of a kernel that was estimated.
	Input    string   `json:"input,omitempty"`
	Estimate *Kernel  `json:"estimate,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Exact    Names    `json:"names_base64,omitempty"`
}
