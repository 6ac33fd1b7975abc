package tv_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/tv"
)

// BenchmarkROF solves a 321×481 colour picture with noise of 0.15, and reports
// the iterations of all groups together.
func BenchmarkROF(b *testing.B) {
	s := backend.Image(3, 321, 481)
	for _, c := range []tv.Coupling{tv.PerChannel(), tv.Coupled(), tv.Opponent(0)} {
		for _, gap := range []float64{1e-3, 1e-4, 1e-5, 1e-6} {
			b.Run(fmt.Sprintf("%v/gap %g", c, gap), func(b *testing.B) {
				f := newFixture(b, device(b, 0), s, tv.Options{Alpha: tv.Alpha(0.15, c), Coupling: c, RelativeGap: gap})
				require.NoError(b, f.dev.Upload(f.src, picture(s, 0.15, 1)))
				for b.Loop() {
					if err := f.Apply(context.Background(), f.dst, f.src); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(f.Report().Iterations), "iterations")
			})
		}
	}
}
