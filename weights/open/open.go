// Package open registers the trained weights that may be used for any purpose, under Apache-2.0. Package
// restore imports it.
package open

import (
	"embed"

	"github.com/averaged/imaging/weights"
)

// All files of the folder, so that there may be none of weights.
//
//go:embed *
var files embed.FS

func init() { weights.Register(files) }
