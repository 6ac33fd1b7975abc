package terminal

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgressBar(t *testing.T) {
	var b bytes.Buffer
	p := &Bar{w: &b, label: "photo.png", terminal: true, columns: 80, began: time.Now().Add(-10 * time.Second)}
	p.Show(0.5, 1.5e-3)
	require.Equal(t, "\rphoto.png [############------------]  50%  0:", b.String()[:46])
	require.Contains(t, b.String(), " left  residual 1.5e-03")

	now := time.Now()
	p.began = now.Add(-30 * time.Second)
	require.Equal(t, " 25%  1:30 left", p.state(0.25, 0, now))
	require.Equal(t, "  1%", p.state(0.01, -1, now))
	for d, want := range map[time.Duration]string{0: "0:00", 400 * time.Millisecond: "0:01", 61 * time.Second: "1:01", 3723 * time.Second: "1:02:03"} {
		require.Equal(t, want, Clock(d))
	}
	require.Equal(t, "…long-name.png", shorten("a-very-long-name.png", 14))
	require.Equal(t, "", shorten("a-very-long-name.png", 7))

	// Each stage has a name and a clock of its own.
	p = &Bar{w: &b, label: "photo.png", columns: 80, began: now.Add(-time.Hour)}
	b.Reset()
	p.Show(1, 0)
	p.Begin("estimating the blur")
	p.Show(0.5, 0)
	p.Begin("")
	p.Show(0.5, 0)
	require.Equal(t, "restore: photo.png: 100%  0:00 left\n"+
		"restore: photo.png: estimating the blur:   0%\nrestore: photo.png: estimating the blur:  50%  0:01 left\n"+
		"restore: photo.png:   0%\nrestore: photo.png:  50%  0:01 left\n", b.String())

	var none *Bar
	none.Show(1, 1)
	none.Begin("estimating the blur")
	none.Clear()
}
