package reportpage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/htmlreport"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// Pictures and gaps are those of the input under way, and an input that fails has none.
func TestPage(t *testing.T) {
	m := &imagefile.Image{Width: 4, Height: 3, Channels: 1, Pix: make([]float32, 12)}
	p := New(htmlreport.Page{Title: "a batch"}, 2)
	require.True(t, p.Empty())
	begin := func() {
		require.NoError(t, p.Before(&restore.Planar{Width: 4, Height: 3, Channels: 1, Pix: m.Pix}, m))
		for k := range 3 {
			p.Progress(backend.Progress{Iteration: k + 1, Residual: 0.1})
		}
	}
	begin()
	p.Left(htmlreport.Entry{Name: "broken.png", Failure: "no picture"})
	require.True(t, p.Empty())
	begin()
	require.NoError(t, p.After(m, deblur.Kernel{}, &restore.Report{Iteration: restore.IterationReport{Tolerance: 1e-4}}))
	p.Restored(htmlreport.Entry{Name: "a.png", Summary: "done"})
	require.False(t, p.Empty())

	var b strings.Builder
	require.NoError(t, p.Write(&b))
	require.Equal(t, 2, strings.Count(b.String(), "data:image/png;base64,"))
	require.Contains(t, b.String(), "Duality gaps")
	require.NotContains(t, b.String(), "relative duality gap 2", "those of the input before do not count")

	var none *Page
	require.NoError(t, none.Before(nil, nil))
	none.Progress(backend.Progress{Iteration: 1})
	require.NoError(t, none.After(nil, deblur.Kernel{}, nil))
	none.Restored(htmlreport.Entry{})
	none.Left(htmlreport.Entry{})
	require.True(t, none.Empty())
}
