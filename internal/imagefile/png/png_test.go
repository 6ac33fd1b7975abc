package png

import (
	"bytes"
	"context"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/stretchr/testify/require"
)

// read decodes a file, decode one that is whole.
var read, decode = imagetest.Reading(Decode)

// salvage reads what is there of a file that is not whole.
func salvage(t require.TestingT, data []byte) (*picture.Image, error) {
	_, err := read(data)
	require.ErrorIs(t, err, format.ErrMalformed)
	return Salvage(source.File(context.Background(), bytes.NewReader(data), int64(len(data)), 0))
}
