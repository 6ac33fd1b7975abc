// Package research registers the trained weights that were learned from the photographs of BSDS500, which are
// for non-commercial research and education: general, deblur, small, euler, heun, rk4 and dncnn, under
// LicenseRef-BSDS500-research. A program that may use them imports only the package:
//
//	import _ "github.com/averaged/imaging/weights/research"
//
// README.md in the folder above describes each of them and its training.
package research

import (
	"embed"

	"github.com/averaged/imaging/weights"
)

//go:embed *.safetensors
var files embed.FS

func init() { weights.Register(files) }
