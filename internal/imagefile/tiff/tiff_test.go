package tiff

import (
	"github.com/averaged/imaging/internal/imagefile/imagetest"
)

// read decodes a file, decode one that is whole.
var read, decode = imagetest.Reading(Decode)
