package backend

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressOfParts(t *testing.T) {
	ReportProgress(context.Background(), 0.5) // to nobody
	var got []float64
	ctx := WithProgress(context.Background(), func(f float64) { got = append(got, f) })
	for i := range 2 {
		half := PartOfProgress(ctx, i, 2)
		for j := range 2 {
			ReportProgress(PartOfProgress(half, j, 2), 1)
		}
	}
	ReportProgress(PartOfProgress(ctx, 0, 1), 1)
	require.Equal(t, []float64{0.25, 0.5, 0.75, 1, 1}, got)
	require.Equal(t, context.Background(), PartOfProgress(context.Background(), 0, 2))
}
