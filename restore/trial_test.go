package restore_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/methodnoise"
	"github.com/averaged/imaging/restore"
)

// gravel is a picture of stones of all sizes under a slanting light.
func gravel(h, w int) *restore.Planar {
	r := rand.New(rand.NewPCG(5, 5))
	height := make([]float64, h*w)
	for range h * w / 12 {
		y, x, radius := r.Float64()*float64(h), r.Float64()*float64(w), 0.8/math.Sqrt(0.02+r.Float64())
		for dy := -7; dy <= 7; dy++ {
			for dx := -7; dx <= 7; dx++ {
				py, px := int(y)+dy, int(x)+dx
				if py < 0 || px < 0 || py >= h || px >= w {
					continue
				}
				d := math.Hypot(float64(py)-y, float64(px)-x)
				if d < radius {
					height[py*w+px] = math.Max(height[py*w+px], math.Sqrt(radius*radius-d*d))
				}
			}
		}
	}
	p := restore.NewPlanar(3, h, w)
	for y := range h {
		for x := range w {
			i := y*w + x
			slope := height[i] - height[max(y-1, 0)*w+max(x-1, 0)]
			for c := range 3 {
				p.Plane(c)[i] = float32(min(max(0.45+0.03*float64(c)+0.12*slope, 0), 1))
			}
		}
	}
	return p
}

// plaster is a picture of smooth areas with edges.
func plaster(h, w int) *restore.Planar {
	p := restore.NewPlanar(3, h, w)
	for i := range h * w {
		y, x := i/w, i%w
		for c := range 3 {
			v := 0.25 + 0.3*float64(x)/float64(w)
			if (y/40+x/60+c)%3 == 0 {
				v += 0.2
			}
			p.Plane(c)[i] = float32(v)
		}
	}
	return p
}

// shot is what a camera makes of a scene: with noise, and without.
func shot(t *testing.T, scene *restore.Planar, iso float64) (noisy, clean *restore.Planar) {
	c := cameranoise.Typical()
	c.ISO, c.LumaSmoothing = iso, 0.7
	var err error
	n, f := *scene, *scene
	n.Pix, err = c.Apply(scene.Pix, scene.Height, scene.Width, 3)
	require.NoError(t, err)
	f.Pix, err = c.Clean(scene.Pix, scene.Height, scene.Width)
	require.NoError(t, err)
	return &n, &f
}

// told is an estimate of coarse noise as a camera leaves it.
func told(sigma float64) restore.NoiseEstimate {
	e := restore.NoiseEstimate{Kind: restore.CoarseNoise, Sigma: sigma, Low: sigma, High: sigma, Reliable: true}
	for _, b := range []struct{ period, share float64 }{{12, 1.1}, {5.9, 1}, {3.5, 0.6}, {2.1, 0.2}} {
		e.Bands = append(e.Bands, restore.NoiseBand{Period: b.period, Brightness: b.share * sigma, Colour: 0.6 * b.share * sigma})
	}
	return e
}

func trialOf(t *testing.T, p *restore.Planar, options ...restore.Option) *restore.TrialReport {
	trial, err := restore.Trial(t.Context(), p, options...)
	require.NoError(t, err)
	return trial
}

// What is taken from gravel that was told to be noise has its structure, and little is taken then; of noise that is there as
// much is taken as it was told.
func TestTrialTellsGravelFromNoise(t *testing.T) {
	stones, _ := shot(t, gravel(240, 320), 100)
	wall, clean := shot(t, plaster(240, 320), 6400)
	noise := restore.Noise(told(0.08))
	texture, right := trialOf(t, stones, noise), trialOf(t, wall, noise)
	t.Logf("%+v %+v", texture, right)
	require.Less(t, texture.Factor, 0.5)
	require.Greater(t, right.Factor, 0.6)
	require.Greater(t, texture.Along, right.Along+0.2)
	before := psnr(t, clean, wall)
	out, report, err := restore.Denoise(t.Context(), wall, noise)
	require.NoError(t, err)
	require.Greater(t, psnr(t, clean, out.(*restore.Planar)), before+3)
	require.Equal(t, right, report.Estimate.Trial)
	require.True(t, report.Certified)
}

// The factor is one on the strength, and nothing else.
func TestTrialIsStrength(t *testing.T) {
	stones, _ := shot(t, gravel(240, 320), 400)
	e := told(0.07)
	out, report, err := restore.Denoise(t.Context(), stones, restore.Noise(e), restore.Strength(1.2))
	require.NoError(t, err)
	trial := trialOf(t, stones, restore.Noise(e), restore.Strength(0.3))
	require.Equal(t, trial, report.Estimate.Trial, "a trial is at a strength of 1")
	require.Equal(t, trial.Factor, report.Adaptation)
	require.Equal(t, 2, report.Guide.Looks)

	same, without, err := restore.Denoise(t.Context(), stones, restore.Noise(e), restore.Strength(1.2*trial.Factor), restore.Adaptation(false))
	require.NoError(t, err)
	require.Equal(t, pixels(same), pixels(out))
	require.Zero(t, without.Adaptation)
	require.Nil(t, without.Estimate.Trial)
	require.Equal(t, 1, without.Guide.Looks)

	// One that is given is not made again.
	e.Trial = &restore.TrialReport{Factor: 0.5}
	_, given, err := restore.Denoise(t.Context(), stones, restore.Noise(e))
	require.NoError(t, err)
	require.Equal(t, 0.5, given.Adaptation)
	require.Equal(t, 1, given.Guide.Looks)
}

// No trial is made of white noise, where the level is given, and by networks that there is no rule for.
func TestNoTrial(t *testing.T) {
	stones, _ := shot(t, gravel(200, 200), 400)
	white := told(0.05)
	white.Kind = restore.WhiteNoise
	noise := restore.Noise(told(0.05))
	for name, options := range map[string][]restore.Option{
		"white": {restore.Noise(white)}, "given": {restore.Sigma(0.05)}, "grain": {restore.Grain(0.02)},
		"method": {noise, restore.Method(restore.Guided)}, "total variation": {noise, restore.Method(restore.TV)},
		"adaptation": {noise, restore.Adaptation(false)}, "colour": {noise, restore.SigmaChroma(0.1)},
	} {
		require.Nil(t, trialOf(t, stones, options...), name)
	}
	require.NotNil(t, trialOf(t, stones, noise))
	small := &restore.Planar{Width: 20, Height: 20, Channels: 3, Pix: stones.Pix[:1200]}
	require.Nil(t, trialOf(t, small, noise), "there is too little to say anything")
}

// What is tried is a part of the photograph and what the network makes of it, and it is shown to who asks.
func TestTrialIsShown(t *testing.T) {
	wall, _ := shot(t, plaster(240, 320), 3200)
	var shown []methodnoise.Trial
	ctx := methodnoise.WithObserver(t.Context(), func(seen methodnoise.Trial) { shown = append(shown, seen) })
	trial, err := restore.Trial(ctx, wall, restore.Noise(told(0.06)))
	require.NoError(t, err)
	require.Len(t, shown, 1)
	require.Equal(t, methodnoise.NewSample(wall.Pix, 3, 240, 320), shown[0].Sample)
	require.Equal(t, 0.06, shown[0].Known.Level)
	signs, ok := methodnoise.Measure(shown[0].Sample, shown[0].Denoised, shown[0].Known)
	require.True(t, ok)
	require.Equal(t, trial.Share, signs.Share)
	require.Equal(t, trial.Factor, methodnoise.Factor(signs))
}

// An interrupted trial ends with the reason.
func TestTrialIsInterrupted(t *testing.T) {
	stones, _ := shot(t, gravel(200, 200), 400)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := restore.Trial(ctx, stones, restore.Noise(told(0.05)))
	require.ErrorIs(t, err, context.Canceled)
}

// A factor that is no factor is refused.
func TestTrialThatIsGivenIsChecked(t *testing.T) {
	for _, f := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		e := told(0.05)
		e.Trial = &restore.TrialReport{Factor: f}
		require.Error(t, restore.Validate(restore.Noise(e)), "%v", f)
	}
}

// Grey pictures are tried as well: as one plane, and as three that are equal.
func TestTrialOfGrey(t *testing.T) {
	stones, _ := shot(t, gravel(240, 320), 100)
	wall, _ := shot(t, plaster(240, 320), 6400)
	noise := restore.Noise(told(0.08))
	grey := func(p *restore.Planar) *restore.Planar {
		return &restore.Planar{Width: p.Width, Height: p.Height, Channels: 1, Pix: p.Plane(1)}
	}
	texture, right := trialOf(t, grey(stones), noise), trialOf(t, grey(wall), noise)
	t.Logf("%+v %+v", texture, right)
	require.Less(t, texture.Factor, right.Factor)
	require.Greater(t, texture.Along, right.Along+0.2)
	require.Zero(t, right.Quiet)
	copies := restore.NewPlanar(3, 240, 320)
	for c := range 3 {
		copy(copies.Plane(c), wall.Plane(1))
	}
	require.Equal(t, right, trialOf(t, copies, noise))
}

// Of grey pictures what guided takes is tried as well, of white noise too: noise that is there stays as it was told, to the bit,
// and gravel that was told to be noise is denoised less.
func TestTrialOfGuidedInGrey(t *testing.T) {
	grey := func(p *restore.Planar) *restore.Planar {
		return &restore.Planar{Width: p.Width, Height: p.Height, Channels: 1, Pix: p.Plane(1)}
	}
	wall, stones := grey(plaster(240, 320)), grey(gravel(240, 320))
	const sigma = 0.05
	r := rand.New(rand.NewPCG(9, 9))
	for i := range wall.Pix {
		wall.Pix[i] = min(max(wall.Pix[i]+float32(sigma*r.NormFloat64()), 0), 1)
	}
	e, err := restore.EstimateNoise(wall)
	require.NoError(t, err)
	require.Equal(t, restore.WhiteNoise, e.Kind)
	right := trialOf(t, wall, restore.Noise(e))
	require.NotNil(t, right)
	require.Equal(t, 1.0, right.Factor)
	out, report, err := restore.Denoise(t.Context(), wall)
	require.NoError(t, err)
	require.Equal(t, restore.Guided, report.Method)
	require.Equal(t, right, report.Estimate.Trial)
	as, _, err := restore.Denoise(t.Context(), wall, restore.Adaptation(false))
	require.NoError(t, err)
	require.Equal(t, pixels(as), pixels(out))

	white := told(sigma)
	white.Kind = restore.WhiteNoise
	require.Less(t, trialOf(t, stones, restore.Noise(white), restore.Method(restore.Guided)).Factor, 0.5)
	require.Nil(t, trialOf(t, stones, restore.Noise(white), restore.Method(restore.Camera)), "its rule is of coarse noise")
}
