package restore_test

import (
	"context"
	"errors"
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/inpaint"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// Solve with the mask of Inpaint is about as good as Inpaint, whose rules are fitted, whatever the
// units of the measurements, and gives its memory back.
func TestSolveAMask(t *testing.T) {
	x := picture(3, 48, 56)
	y := noisy(x, 0.05, 7)
	mask := image.NewGray(image.Rect(0, 0, 56, 48))
	known := make([]bool, 48*56)
	for i := range known {
		if known[i] = i*i%7 < 3; !known[i] {
			mask.Pix[i] = 0xff
			for c := range 3 {
				y.Plane(c)[i] = 0
			}
		}
	}
	for _, method := range []string{"tv", weights.Small} {
		filled, _, err := restore.Inpaint(t.Context(), y, mask, restore.Method(method), restore.Sigma(0.05))
		require.NoError(t, err)
		on := func(dev backend.Device) (operator.Linear, error) { return inpaint.NewMask(dev, known, 48, 56) }
		solved, report, err := restore.Solve(t.Context(), on, y, restore.Method(method), restore.Sigma(0.05))
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.Converges())
		require.Greater(t, psnr(t, x, solved), psnr(t, x, filled.(*restore.Planar))-1, method)
		if method == weights.Small {
			require.InDelta(t, restore.SolveLevel(0.05, 1), report.Network.Level, 1e-12)
		}

		const unit = 8 // exact in float32
		scaled := restore.NewPlanar(3, 48, 56)
		for i, v := range y.Pix {
			scaled.Pix[i] = unit * v
		}
		host := operator.Host{
			DomainH: 48, DomainW: 56, RangeH: 48, RangeW: 56, Norm: unit, Reason: "a mask, times 8",
			Apply: func(dst, src []float32) error {
				for i, v := range src {
					if dst[i] = 0; known[i] {
						dst[i] = unit * v
					}
				}
				return nil
			},
		}
		host.Adjoint = host.Apply
		again, _, err := restore.Solve(t.Context(), host.On, scaled, restore.Method(method), restore.Sigma(unit*0.05))
		require.NoError(t, err)
		require.InDeltaSlice(t, solved.Pix, again.Pix, 2e-3, method)
	}
}

func TestSolveRefuses(t *testing.T) {
	y := picture(1, 8, 8)
	fine := operator.Host{
		DomainH: 8, DomainW: 8, RangeH: 8, RangeW: 8, Norm: 1, Reason: "identity",
		Apply: func(dst, src []float32) error { copy(dst, src); return nil }, Adjoint: func(dst, src []float32) error { copy(dst, src); return nil },
	}
	refused := func(text string, on func(backend.Device) (operator.Linear, error), y *restore.Planar, o ...restore.Option) {
		t.Helper()
		_, _, err := restore.Solve(t.Context(), on, y, append(o, restore.Method("tv"), restore.Iterations(2))...)
		require.ErrorContains(t, err, text)
	}
	_, _, err := restore.Solve(t.Context(), fine.On, y, restore.Method("tv"), restore.Iterations(2))
	require.NoError(t, err)
	refused("the operator is nil", nil, y)
	refused("the measurements are nil", fine.On, nil)
	refused("8 samples, and the range of the operator", fine.On, picture(1, 9, 8))
	refused("2 channels", fine.On, &restore.Planar{Width: 1, Height: 1, Channels: 2, Pix: []float32{0, 0}})
	refused("SigmaAuto is no option of Solve", fine.On, y, restore.SigmaAuto())
	refused("the operator is nil", func(backend.Device) (operator.Linear, error) { return nil, nil }, y)
	for text, norm := range map[string]float64{"norm of at most 0,": 0, "norm of at most 1e-100,": 1e-100, "norm of at most 1e+100,": 1e100} {
		nothing := fine
		nothing.Norm = norm
		refused(text, nothing.On, y)
	}
	small := fine
	small.Norm = 0.99
	refused("an image is stretched by 1, the norm is said to be at most 0.99 (identity)", small.On, y)
	for _, spoil := range []func(dst []float32){
		func(dst []float32) { dst[0], dst[1] = dst[1], dst[0] },
		func(dst []float32) { dst[0] *= -1 },
		func(dst []float32) { clear(dst) },
		func(dst []float32) {
			for i := range dst {
				dst[i] *= 1.01
			}
		},
	} {
		wrong := fine
		wrong.Adjoint = func(dst, src []float32) error { copy(dst, src); spoil(dst); return nil }
		refused("operator: the adjoint is not one: ⟨Kx, y⟩ is", wrong.On, y)
	}
	offset := fine
	offset.Apply = func(dst, src []float32) error { copy(dst, src); dst[9]++; return nil }
	refused("operator: the adjoint is not one", offset.On, y)
	infinite := fine
	infinite.Apply = func(dst, src []float32) error { copy(dst, src); dst[9] = float32(math.NaN()); return nil }
	refused("Apply gives a NaN or an infinity for a finite image", infinite.On, y)
	huge := fine
	huge.DomainH, huge.DomainW = math.MaxInt32, 1<<20
	_, _, err = restore.Solve(t.Context(), huge.On, y, restore.MemoryLimit(1<<30))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	_, _, err = restore.Deblur(t.Context(), y, deblur.Kernel{H: 1, W: 1, Weights: []float32{0}}, restore.Sigma(0.01))
	require.ErrorContains(t, err, "norm of at most 0,")
	broken := errors.New("broken")
	failing := fine
	failing.Apply = func(dst, src []float32) error { return broken }
	_, _, err = restore.Solve(t.Context(), failing.On, y, restore.Method("tv"))
	require.ErrorIs(t, err, broken)
}

// claim is the averagedness that a denoiser says is proven of it.
type claim float64

func (c claim) Averagedness() (float64, bool) { return float64(c), true }

func (claim) Apply(context.Context, backend.Buffer, backend.Buffer) error { return nil }

// halving is a denoiser of one's own, ½·x + ¼, which is proven to be averaged.
type halving struct{ dev backend.Device }

func (h halving) Averagedness() (float64, bool) { return 0.25, true }

func (h halving) Apply(_ context.Context, dst, src backend.Buffer) error {
	if err := h.dev.Fill(dst, 0.5); err != nil {
		return err
	}
	return h.dev.LinearCombination(dst, backend.Term{A: 0.5, X: dst}, backend.Term{A: 0.5, X: src})
}

// A denoiser of one's own serves every task, on the device or on plain numbers, with the same result,
// and what it says of itself is in the certificate.
func TestPrior(t *testing.T) {
	dev := newCPU(t)
	x := picture(3, 16, 20)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	mask := image.NewGray(image.Rect(0, 0, 20, 16))
	mask.Pix[77] = 0xff
	own := restore.Prior(halving{dev})
	onHost := func(_ context.Context, dst, src *restore.Planar) error {
		for i, v := range src.Pix {
			dst.Pix[i] = 0.5*v + 0.25
		}
		return nil
	}
	plain, proven := restore.PriorFunc(onHost), restore.AveragedPriorFunc(0.25, onHost)
	r, err := restore.New(restore.Device(dev))
	require.NoError(t, err)
	defer r.Close()
	for name, call := range map[string]func(o ...restore.Option) (image.Image, *restore.Report, error){
		"Denoise": func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return r.Denoise(t.Context(), x, o...)
		},
		"Deblur": func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return r.Deblur(t.Context(), x, k, o...)
		},
		"Inpaint": func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return r.Inpaint(t.Context(), x, mask, o...)
		},
		"Upscale": func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return r.Upscale(t.Context(), x, 2, o...)
		},
	} {
		out, report, err := call(own)
		require.NoError(t, err, name)
		require.Equal(t, "prior", report.Method)
		require.True(t, report.Certified)
		require.Equal(t, 0.25, report.Averagedness)
		if report.Iteration.Run != nil {
			require.True(t, report.Iteration.Run.Certificate.Converges(), name)
		}
		again, report, err := call(plain)
		require.NoError(t, err, name)
		require.False(t, report.Certified)
		if name == "Denoise" {
			for i, v := range pixels(out) {
				require.InDelta(t, 0.5*x.Pix[i]+0.25, v, 1e-6)
			}
		}
		require.InDeltaSlice(t, pixels(out), pixels(again), 1e-3, name)
		again, report, err = call(proven)
		require.NoError(t, err, name)
		require.True(t, report.Certified)
		require.Equal(t, 0.25, report.Averagedness)
		if report.Iteration.Run != nil {
			require.True(t, report.Iteration.Run.Certificate.Converges(), name)
		}
		require.InDeltaSlice(t, pixels(out), pixels(again), 1e-3, name)

		_, _, err = call(own, restore.Method("tv"))
		require.EqualError(t, err, "restore: Method is no option of "+name+" with a Prior, but of the methods of the library")
		_, _, err = call(own, restore.Strength(2))
		require.ErrorContains(t, err, "Strength is no option")
		wrong := errors.New("wrong")
		_, _, err = call(restore.PriorFunc(func(context.Context, *restore.Planar, *restore.Planar) error { return wrong }))
		require.ErrorIs(t, err, wrong, name)
		_, _, err = call(restore.PriorFunc(func(_ context.Context, dst, _ *restore.Planar) error { dst.Pix[3] = float32(math.NaN()); return nil }))
		require.ErrorContains(t, err, "is NaN", name)
	}
	require.ErrorContains(t, restore.Validate(restore.Prior(nil)), "nil")
	for _, alpha := range []float64{math.NaN(), -1, 0, 1.5} {
		var option *restore.OptionError
		require.ErrorAs(t, restore.Validate(restore.Prior(claim(alpha))), &option)
		require.Equal(t, "Prior", option.Option)
		require.ErrorAs(t, restore.Validate(restore.AveragedPriorFunc(alpha, onHost)), &option)
		require.Equal(t, "AveragedPriorFunc", option.Option)
	}
	require.ErrorContains(t, restore.Validate(restore.PriorFunc(nil)), "nil")
	require.ErrorContains(t, restore.Validate(restore.AveragedPriorFunc(1, nil)), "nil")
}

// The samples of an image are what Denoise computes with.
func TestFromImage(t *testing.T) {
	img := image.NewGray(image.Rect(2, 3, 5, 5))
	for i := range img.Pix {
		img.Pix[i] = uint8(50 * i)
	}
	p, err := restore.FromImage(img)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, []int{p.Channels, p.Height, p.Width})
	for i, v := range p.Pix {
		require.InDelta(t, float64(img.Pix[i])/255, v, 1e-7)
	}
	again, err := restore.FromImage(p)
	require.NoError(t, err)
	require.Same(t, p, again)
	_, err = restore.FromImage(nil)
	require.Error(t, err)
	_, err = restore.FromImage(&restore.Planar{})
	require.Error(t, err)
}
