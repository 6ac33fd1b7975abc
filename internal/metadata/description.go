package metadata

import (
	"bytes"
	"regexp"
	"strconv"
)

// imagejCount is how many pictures a stack of ImageJ has. They may follow the first without a directory of their own.
var imagejCount = regexp.MustCompile(`(?m)^images=(\d+)\r?$`)

// StackOfImageJ tells whether a description says that there are further pictures.
func StackOfImageJ(description []byte) bool {
	found := imagejCount.FindSubmatch(description)
	if !bytes.HasPrefix(description, []byte("ImageJ=")) || found == nil {
		return false
	}
	n, err := strconv.Atoi(string(found[1]))
	return err != nil || n > 1 // too many for a number
}

// DescribesShape tells whether a description is a program's own, from which it reads the size and the number of pictures:
// that of ImageJ, tifffile or OME-TIFF.
func DescribesShape(description []byte) bool {
	return StackOfImageJ(description) || bytes.HasPrefix(description, []byte(`{"shape":`)) ||
		bytes.Contains(description, []byte("<OME")) && bytes.Contains(description, []byte("SizeX="))
}
