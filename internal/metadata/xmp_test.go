package metadata

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzXMP(f *testing.F) {
	attributes, err := os.ReadFile("testdata/lightroom.xmp")
	require.NoError(f, err)
	f.Add(attributes, 6, 2)
	f.Add([]byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>é</a></x:xmpmeta>`), 1, 1)
	f.Add([]byte(`<a xmlns:t="http://ns.adobe.com/tiff/1.0/"><t:Orientation><b t:ImageWidth="3"/></t:Orientation></a>`), 6, 2)
	f.Fuzz(func(t *testing.T, packet []byte, orientation, factor int) {
		c := Change{Orientation: 1 + orientation&7, Upright: true, From: [2]int{40, 30}}
		c.To = [2]int{c.Shown()[0] * (1 + factor&3), c.Shown()[1] * (1 + factor&3)}
		mended, err := c.followXMP(packet, &Followed{})
		if err != nil {
			require.Nil(t, mended)
			return
		}
		// What was mended needs no more.
		same := Change{Orientation: 1, Upright: true, From: c.To, To: c.To}
		f := &Followed{}
		again, err := same.followXMP(mended, f)
		require.NoError(t, err)
		require.Equal(t, string(mended), string(again))
		require.Empty(t, f.Announced)
	})
}
