package evaluation

import (
	"context"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// Pixels are missing where the mask is white, or by the seed of the image, and an image stays as it is.
func TestInpaint(t *testing.T) {
	dev := cputest.Open(t)
	clean := &imagefile.Image{Width: 8, Height: 6, Channels: 3, Pix: make([]float32, 8*6*3)}
	for i := range clean.Pix {
		clean.Pix[i] = 0.5
	}
	task := &Task{Name: Inpaint, Missing: 0.5, Seed: 3}
	first, err := task.Degrade(dev, clean, 0, 0)
	require.NoError(t, err)
	second, err := task.Degrade(dev, clean, 1, 0)
	require.NoError(t, err)
	require.NotEqual(t, first.Given.Pix, second.Given.Pix)
	again, err := (&Task{Name: Inpaint, Missing: 0.5, Seed: 4}).Degrade(dev, clean, 0, 0)
	require.NoError(t, err)
	require.Equal(t, second.Given.Pix, again.Given.Pix)
	require.NotContains(t, clean.Pix, float32(0))

	task.Mask = image.NewGray(image.Rect(0, 0, 8, 6))
	task.Mask.Pix[9] = 255
	p, err := task.Degrade(dev, clean, 0, 0)
	require.NoError(t, err)
	for i, v := range p.Given.Pix {
		require.Equal(t, i%48 == 9, v == 0, i)
	}
	out, _, err := task.Restore(context.Background(), p, 0, restore.Method("tv"))
	require.NoError(t, err)
	require.InDelta(t, 0.5, out.(*restore.Planar).Pix[9], 0.05)

	task.Mask = image.NewGray(image.Rect(0, 0, 8, 5))
	task.MaskFile = "m.png"
	_, err = task.Degrade(dev, clean, 0, 0)
	require.EqualError(t, err, "the mask m.png has 8×5 pixels and the image 8×6; give one of its size, or --missing SHARE")
}
