package backend

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressOfParts(t *testing.T) {
	ReportProgress(context.Background(), 0.5) // to nobody
	var got []float64
	ctx, free := WithProgress(context.Background(), func(p Progress) error { got = append(got, p.Fraction); return nil })
	defer free()
	for i := range 2 {
		half := PartOfProgress(ctx, i, 2)
		for j := range 2 {
			ReportProgress(PartOfProgress(half, j, 2), 1)
		}
	}
	ReportProgress(PartOfProgress(ctx, 0, 1), 1)
	ReportProgress(WithoutProgress(ctx), 0.5)
	require.Equal(t, []float64{0.25, 0.5, 0.75, 1, 1}, got)
	require.Equal(t, context.Background(), PartOfProgress(context.Background(), 0, 2))
}

func TestProgressEndsTheContext(t *testing.T) {
	enough := errors.New("enough")
	ctx, free := WithProgress(context.Background(), func(p Progress) error {
		if p.Fraction > 0.5 {
			return enough
		}
		return nil
	})
	defer free()
	ReportProgress(ctx, 0.4)
	require.NoError(t, ctx.Err())
	ReportProgress(PartOfProgress(ctx, 1, 2), 0.4)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.Equal(t, enough, context.Cause(ctx))
}

func TestTowardsATolerance(t *testing.T) {
	at := func(residual float64) float64 { return Progress{Residual: residual, Tolerance: 1e-4}.Towards(1e-2) }
	require.Zero(t, at(1))
	require.Zero(t, at(1e-2))
	require.InDelta(t, 0.5, at(1e-3), 1e-12)
	require.Equal(t, 1.0, at(1e-4))
	require.Equal(t, 1.0, at(0))
	require.Zero(t, Progress{Residual: 1, Tolerance: 0.1}.Towards(0.05), "the first was below the tolerance")
}
