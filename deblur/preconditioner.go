package deblur

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/operator"
)

// preconditioner is a convolution with a kernel q, of images that are zero beyond their frame. q is
// near the one that undoes the convolution with response 1 + τ|k̂(θ)|²: the inverse transform of F =
// 1/(1+τ|k̂|²) on a torus of N×N frequencies, times a window for each axis.
//
// The window's transform is not negative, so that the response of q is a mean of values of F with
// weights that are not negative, and sum to 1, because the window is 1 at 0 and 0 at all other
// multiples of N. So it lies between 1/(1+τ·max|k̂|²) and 1, and so do the eigenvalues of its
// compression to the images of a frame.
type preconditioner struct {
	device backend.Device
	blur   backend.Blur
}

// Preconditioner implements operator.Preconditioned. It is nil unless transforms compute the blur. It
// approximates worse at the frame, where K is not a convolution.
func (o *Operator) Preconditioner(tau float64) (operator.Preconditioner, error) {
	if o.blur.Method() != backend.FourierBlur {
		return nil, nil
	}
	norm, _ := o.Norm()
	h, w := o.Domain()
	return newPreconditioner(o.device, o.kernel, tau, norm, h, w)
}

// newPreconditioner returns that of a blur by k of at most that norm, for unknown images of h×w samples.
func newPreconditioner(device backend.Device, k Kernel, tau, norm float64, h, w int) (operator.Preconditioner, error) {
	if !(tau > 0) || math.IsInf(tau*norm*norm, 0) {
		return nil, fmt.Errorf("deblur: preconditioner for τ = %v, want a finite number above 0", tau)
	}
	q, err := inverseKernel(k, tau, torusSide(k.H, h), torusSide(k.W, w))
	if err != nil {
		return nil, err
	}
	spec := backend.BlurSpec{
		Kernel: q.Weights, KH: q.H, KW: q.W, CY: q.CY, CX: q.CX, H: h, W: w,
		Boundary: backend.Zero, Method: backend.FourierBlur,
	}
	blur, err := device.NewBlur(spec)
	if err != nil {
		return nil, fmt.Errorf("deblur: preconditioner: %w", err)
	}
	return &preconditioner{device: device, blur: blur}, nil
}

func (p *preconditioner) Apply(dst, src backend.Buffer) error {
	return p.device.ApplyBlur(dst, src, p.blur)
}

func (p *preconditioner) Free() { p.blur.Free() }

// torusSide is N along an axis of n samples, for a kernel of that size: some times as long as the
// kernel, since the window blurs the response, but a quarter of the axis where it can be, since q
// makes the transforms longer by N.
func torusSide(size, n int) int { return fft.GoodSize(max(size, min(4*size, n/4))) }

// inverseKernel returns q for tori of ny×nx frequencies.
func inverseKernel(k Kernel, tau float64, ny, nx int) (Kernel, error) {
	plan, err := fft.New(ny, nx)
	if err != nil {
		return Kernel{}, err
	}
	pool := parallel.New(1)
	defer pool.Close()
	image := make([]float32, ny*nx)
	for i, v := range k.Weights {
		image[wrap(i/k.W-k.CY, ny)*nx+wrap(i%k.W-k.CX, nx)] += v
	}
	spectrum, err := plan.Forward(pool, image)
	if err != nil {
		return Kernel{}, err
	}
	spectrum.Each(func(_, _ int, k complex64) complex64 {
		re, im := float64(real(k)), float64(imag(k))
		return complex(float32(1/(1+tau*(re*re+im*im))), 0)
	})
	if err := spectrum.Inverse(pool, image); err != nil {
		return Kernel{}, err
	}
	q := Kernel{H: 2*ny - 1, W: 2*nx - 1, CY: ny - 1, CX: nx - 1}
	q.Weights = make([]float32, q.H*q.W)
	for i := range q.Weights {
		y, x := i/q.W-q.CY, i%q.W-q.CX
		window := bohman(float64(y)/float64(ny)) * bohman(float64(x)/float64(nx))
		q.Weights[i] = float32(window * float64(image[wrap(y, ny)*nx+wrap(x, nx)]))
	}
	return q, nil
}

// bohman is the correlation of half a period of a cosine with itself (Bohman 1961), 1 at 0 and 0 at
// −1 and 1: of all correlations of that length the one whose transform has the least variance.
func bohman(t float64) float64 {
	t = math.Abs(t)
	return (1-t)*math.Cos(math.Pi*t) + math.Sin(math.Pi*t)/math.Pi
}
