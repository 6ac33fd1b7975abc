package tiff

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
)

// A file of several strips has the same bytes for any number of threads, and the image that went in. A run that is
// stopped leaves nothing.
func TestEncodeOnThreads(t *testing.T) {
	for _, depth := range []int{8, 16, 32} {
		m := imagetest.Random(701, 1600/depth, 3, depth, true) // three strips, the last one shorter
		var one bytes.Buffer
		require.NoError(t, Encode(t.Context(), &one, m, depth, 1))
		require.Equal(t, m.Pix, decode(t, one.Bytes()).Pix)
		for _, threads := range []int{2, 7} {
			var b bytes.Buffer
			require.NoError(t, Encode(t.Context(), &b, m, depth, threads))
			require.Equal(t, one.Bytes(), b.Bytes())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var none bytes.Buffer
		require.ErrorIs(t, Encode(ctx, &none, m, depth, 2), context.Canceled)
		require.Zero(t, none.Len())
	}
}
