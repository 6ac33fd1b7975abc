package jpeg

import (
	"bytes"
	"context"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// decode returns the picture of a file that is whole, and all warnings.
func decode(t testing.TB, data []byte) (*picture.Image, []string) {
	t.Helper()
	m, others, err := Decode(source.File(context.Background(), bytes.NewReader(data), int64(len(data)), 0), false)
	require.NoError(t, err)
	require.NoError(t, m.Validate())
	return m, append(m.Warnings, others.Dropped(&metadata.Followed{})...)
}

func pictureOf(t testing.TB, data []byte) *picture.Image {
	t.Helper()
	m, _ := decode(t, data)
	return m
}
