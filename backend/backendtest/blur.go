package backendtest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
)

var boundaries = []backend.Boundary{backend.Circular, backend.Zero, backend.Reflect, backend.Valid}

// blurKernel is the shape and the centre of a kernel; sparse ones have two weights
// in three that are zero.
type blurKernel struct {
	h, w, cy, cx int
	sparse       bool
}

func blurSpecs() []backend.BlurSpec {
	// Images smaller than the kernel, of one row and of one column among them.
	few := [][2]int{{1, 7}, {16, 24}}
	many := append([][2]int{{1, 1}, {5, 1}, {2, 3}, {5, 4}, {17, 31}}, few...)
	var specs []backend.BlurSpec
	for _, k := range []struct {
		blurKernel
		sizes [][2]int
		auto  bool // AutoBlur is one of the other two methods: a small and a large kernel will do.
	}{
		{blurKernel{h: 1, w: 1}, few, false},
		{blurKernel{h: 3, w: 3, cy: 1, cx: 1}, many, true},
		{blurKernel{h: 1, w: 5, cx: 2}, few, false},
		{blurKernel{h: 4, w: 1, cy: 2}, few, false},
		{blurKernel{h: 4, w: 6, cy: 2, cx: 3}, many, false},
		{blurKernel{h: 4, w: 6}, few, false},
		{blurKernel{h: 4, w: 6, cy: 3, cx: 5}, few, false},
		{blurKernel{h: 9, w: 13, cy: 4, cx: 6, sparse: true}, many, false},
		{blurKernel{h: 25, w: 25, cy: 12, cx: 12, sparse: true}, [][2]int{{33, 40}}, true},
		{blurKernel{h: 11, w: 8, cy: 5, cx: 2}, [][2]int{{37, 67}}, false},
	} {
		for _, s := range k.sizes {
			for _, spec := range blurSpec(k.blurKernel, s[0], s[1]) {
				if spec.Method != backend.AutoBlur || k.auto {
					specs = append(specs, spec)
				}
			}
		}
	}
	return append(specs, varyingSpecs()...)
}

// varyingSpecs are blurs of several kernels: with windows that overlap by two, by three, and that leave samples out.
func varyingSpecs() []backend.BlurSpec {
	var specs []backend.BlurSpec
	for _, k := range []struct{ rows, columns, h, w, kh, kw int }{{1, 1, 5, 4, 3, 2}, {2, 3, 17, 31, 3, 5}, {3, 2, 40, 23, 6, 4}, {3, 4, 61, 83, 9, 7}} {
		windows := func(n, size int, name string) [][]float32 {
			all := make([][]float32, n)
			for i := range all {
				all[i] = random(size, name, fmt.Sprint(k, i))
				for s := range all[i] {
					if at := s * (2*n + 1) / size; at < 2*i-1 || at > 2*i+2 {
						all[i][s] = 0
					}
				}
			}
			return all
		}
		for _, m := range []backend.BlurMethod{backend.AutoBlur, backend.DirectBlur, backend.FourierBlur} {
			specs = append(specs, backend.BlurSpec{
				Kernel: random(k.rows*k.columns*k.kh*k.kw, "kernels", fmt.Sprint(k)), KH: k.kh, KW: k.kw, CY: k.kh / 2, CX: k.kw - 1,
				H: k.h, W: k.w, Boundary: backend.Valid, Method: m, Rows: windows(k.rows, k.h, "rows"), Columns: windows(k.columns, k.w, "columns"),
			})
		}
	}
	return specs
}

// blurSpec returns the blur with every boundary that its sizes allow and every
// method.
func blurSpec(k blurKernel, h, w int) []backend.BlurSpec {
	weights := random(k.h*k.w, "kernel", fmt.Sprint(k))
	for i := range weights {
		if k.sparse && i%3 != 1 {
			weights[i] = 0
		}
	}
	var specs []backend.BlurSpec
	for _, b := range boundaries {
		for _, m := range []backend.BlurMethod{backend.AutoBlur, backend.DirectBlur, backend.FourierBlur} {
			s := backend.BlurSpec{
				Kernel: weights, KH: k.h, KW: k.w, CY: k.cy, CX: k.cx, H: h, W: w, Boundary: b, Method: m,
			}
			if s.Check() == nil {
				specs = append(specs, s)
			}
		}
	}
	return specs
}

var methodNames = map[backend.BlurMethod]string{
	backend.AutoBlur: "auto", backend.DirectBlur: "direct", backend.FourierBlur: "Fourier",
}

func blurCases() []*testCase {
	var cases []*testCase
	for _, adjoint := range []bool{false, true} {
		for i, s := range blurSpecs() {
			// One image or several, one channel or several: in turn, so that every
			// kernel and size meets them all.
			images, channels := 1, 1+i%3
			if i%5 == 4 {
				images = 2
			}
			cases = append(cases, blurCase(images, channels, s, adjoint))
		}
	}
	return cases
}

func timedBlurCases(p Photograph) []*testCase {
	var cases []*testCase
	for _, k := range []blurKernel{{h: 3, w: 3, cy: 1, cx: 1}, {h: 9, w: 9, cy: 4, cx: 4}, {h: 25, w: 25, cy: 12, cx: 12, sparse: true}} {
		for _, s := range blurSpec(k, p.Height, p.Width) {
			cases = append(cases, blurCase(1, 3, s, false))
			if s.Method == backend.AutoBlur {
				cases = append(cases, blurCase(1, 3, s, true))
			}
		}
	}
	return cases
}

func blurCase(images, channels int, s backend.BlurSpec, adjoint bool) *testCase {
	h, w := s.Range()
	domain := backend.Shape{N: images, C: channels, H: s.H, W: s.W}
	result := backend.Shape{N: images, C: channels, H: h, W: w}
	name := fmt.Sprintf("%v %s, %d×%d at (%d,%d), %s", s.Boundary, methodNames[s.Method], s.KH, s.KW, s.CY, s.CX, size(domain))
	if s.Varies() {
		name += fmt.Sprintf(", %d×%d kernels", len(s.Rows), len(s.Columns))
	}
	c := &testCase{
		operation: "ApplyBlur",
		operands:  []operand{{name: "dst", role: destination, shape: result}, {name: "src", shape: domain}},
		reference: silent(func(x []tensor) { referenceBlur(x[0], x[1], s) }),
		fits: func(x []backend.Shape) bool {
			return x[0].N == x[1].N && x[0].C == x[1].C &&
				x[0].H == h && x[0].W == w && x[1].H == s.H && x[1].W == s.W
		},
		limit: fourierSum,
	}
	if adjoint {
		c.operation = "ApplyBlurAdjoint"
		c.operands[0].shape, c.operands[1].shape = domain, result
		c.reference = silent(func(x []tensor) { referenceBlurAdjoint(x[0], x[1], s) })
		c.fits = func(x []backend.Shape) bool {
			return x[0].N == x[1].N && x[0].C == x[1].C &&
				x[1].H == h && x[1].W == w && x[0].H == s.H && x[0].W == s.W
		}
	}
	c.name = name
	if s.Method == backend.DirectBlur {
		c.limit, c.local = directSum, true
		c.flops = 2 * float64(result.Len()) * float64(len(s.Kernel)-zeros(s.Kernel))
	} else {
		c.bytes = 4 * float64(domain.Len()+result.Len())
	}
	c.prepare = func(dev backend.Device) (prepared, error) {
		mine := s.Clone()
		k, err := dev.NewBlur(mine)
		if err != nil {
			return prepared{}, fmt.Errorf("NewBlur: %w", err)
		}
		for _, v := range append(append([][]float32{mine.Kernel}, mine.Rows...), mine.Columns...) {
			poison(v) // all are copied
		}
		if k.Method() != s.Method && s.Method != backend.AutoBlur || k.Method() != backend.DirectBlur && k.Method() != backend.FourierBlur {
			return prepared{}, fmt.Errorf("asked for method %s, got %d", methodNames[s.Method], k.Method())
		}
		apply := dev.ApplyBlur
		if adjoint {
			apply = dev.ApplyBlurAdjoint
		}
		return prepared{
			call: func(b []backend.Buffer) ([]float64, error) { return nil, apply(b[0], b[1], k) },
			free: k.Free,
		}, nil
	}
	return c.complete()
}

func zeros(v []float32) int {
	n := 0
	for _, x := range v {
		if x == 0 {
			n++
		}
	}
	return n
}

func blurChecks() []check {
	return []check{
		{operation: "NewBlur", name: "arguments", run: checkBlurArguments},
		{operation: "NewBlur", name: "lifetime", run: checkBlurLifetime},
		{operation: "ApplyBlurAdjoint", name: "adjointness", run: checkBlurAdjointness},
	}
}

func checkBlurArguments(e *environment) error {
	good := backend.BlurSpec{Kernel: []float32{1, 2, 3, 4, 5, 6}, KH: 2, KW: 3, CY: 1, CX: 1, H: 4, W: 5}
	var err error
	refuse := func(what string, wanted error, change func(s *backend.BlurSpec)) {
		s := good
		change(&s)
		err = errors.Join(err, wantError(what, guarded(func() error {
			_, err := e.dev.NewBlur(s)
			return err
		}), wanted))
	}
	refuse("no kernel", backend.ErrShape, func(s *backend.BlurSpec) { s.Kernel = nil })
	refuse("a kernel of no rows", backend.ErrShape, func(s *backend.BlurSpec) { s.Kernel, s.KH = nil, 0 })
	refuse("too few weights", backend.ErrShape, func(s *backend.BlurSpec) { s.Kernel = s.Kernel[:5] })
	refuse("centre above", backend.ErrArgument, func(s *backend.BlurSpec) { s.CY = -1 })
	refuse("centre below", backend.ErrArgument, func(s *backend.BlurSpec) { s.CY = 2 })
	refuse("centre to the right", backend.ErrArgument, func(s *backend.BlurSpec) { s.CX = 3 })
	refuse("unknown boundary", backend.ErrArgument, func(s *backend.BlurSpec) { s.Boundary = backend.Valid + 1 })
	refuse("unknown method", backend.ErrArgument, func(s *backend.BlurSpec) { s.Method = backend.FourierBlur + 1 })
	vary := func(s *backend.BlurSpec) {
		s.Boundary, s.Rows, s.Columns = backend.Valid, [][]float32{make([]float32, 4)}, [][]float32{make([]float32, 5)}
	}
	refuse("windows beyond an image that continues", backend.ErrArgument, func(s *backend.BlurSpec) { vary(s); s.Boundary = backend.Zero })
	refuse("no windows of columns", backend.ErrArgument, func(s *backend.BlurSpec) { vary(s); s.Columns = nil })
	refuse("a window that is too short", backend.ErrShape, func(s *backend.BlurSpec) { vary(s); s.Rows[0] = s.Rows[0][1:] })
	refuse("more windows than kernels", backend.ErrShape, func(s *backend.BlurSpec) { vary(s); s.Rows = append(s.Rows, s.Rows[0]) })
	refuse("no rows", backend.ErrShape, func(s *backend.BlurSpec) { s.H = 0 })
	refuse("valid, but smaller than the kernel", backend.ErrShape, func(s *backend.BlurSpec) { s.Boundary, s.W = backend.Valid, 2 })
	return err
}

func checkBlurLifetime(e *environment) error {
	spec := backend.BlurSpec{Kernel: []float32{1, 2, 3}, KH: 1, KW: 3, CX: 1, H: 4, W: 5}
	other, err := e.other()
	if err != nil {
		return err
	}
	x, err := e.dev.Alloc(backend.Image(2, 4, 5))
	if err != nil {
		return err
	}
	y, err := e.dev.Alloc(backend.Image(2, 4, 5))
	if err != nil {
		return err
	}
	k, err := e.dev.NewBlur(spec)
	if err != nil {
		return err
	}
	if s := k.Spec(); !slices.Equal(s.Kernel, spec.Kernel) || s.KH != 1 || s.KW != 3 || s.CX != 1 || s.CY != 0 || s.H != 4 || s.W != 5 || s.Boundary != spec.Boundary {
		err = fmt.Errorf("Spec is %+v, made from %+v", s, spec)
	}
	foreign, ferr := other.NewBlur(spec)
	if ferr != nil {
		return ferr
	}
	defer foreign.Free()
	both := func(what string, k backend.Blur, wanted ...error) error {
		return errors.Join(
			wantError("ApplyBlur with a blur "+what, guarded(func() error { return e.dev.ApplyBlur(y, x, k) }), wanted...),
			wantError("ApplyBlurAdjoint with a blur "+what, guarded(func() error { return e.dev.ApplyBlurAdjoint(y, x, k) }), wanted...))
	}
	err = errors.Join(err, both("of another device", foreign, backend.ErrForeign), both("that is nil", nil))
	k.Free()
	k.Free()
	return errors.Join(err, both("after Free", k, backend.ErrFreed))
}

// adjointness is the limit of |⟨Ax,y⟩ − ⟨x,Aᵀy⟩| relative to ‖Ax‖‖y‖, the inner
// products being made in float64 from downloads.
const adjointness = 1e-5

// checkAdjoint compares ⟨forward(x), y⟩ with ⟨x, adjoint(y)⟩.
func checkAdjoint(dev backend.Device, domain, result backend.Shape, forward, adjoint func(dst, src backend.Buffer) error) error {
	x, y := random(domain.Len(), "x"), random(result.Len(), "y")
	apply := func(to, from backend.Shape, v []float32, f func(dst, src backend.Buffer) error) ([]float32, error) {
		src, err := upload(dev, from, v)
		if err != nil {
			return nil, err
		}
		defer src.Free()
		dst, err := dev.Alloc(to)
		if err != nil {
			return nil, err
		}
		defer dst.Free()
		if err := f(dst, src); err != nil {
			return nil, err
		}
		return download(dev, dst)
	}
	ax, err := apply(result, domain, x, forward)
	if err != nil {
		return err
	}
	aty, err := apply(domain, result, y, adjoint)
	if err != nil {
		return err
	}
	left := inner(widen(result, ax), widen(result, y)).value
	right := inner(widen(domain, x), widen(domain, aty)).value
	scale := math.Sqrt(inner(widen(result, ax), widen(result, ax)).value * inner(widen(result, y), widen(result, y)).value)
	if !(math.Abs(left-right) <= adjointness*scale) {
		return fmt.Errorf("⟨Ax,y⟩ = %v and ⟨x,Aᵀy⟩ = %v differ by more than %.0e of ‖Ax‖‖y‖ = %v", left, right, adjointness, scale)
	}
	return nil
}

func checkBlurAdjointness(e *environment) error {
	specs := varyingSpecs()
	for _, k := range []blurKernel{{h: 5, w: 5, cy: 2, cx: 2}, {h: 6, w: 3, cy: 0, cx: 2}, {h: 31, w: 40, cy: 9, cx: 30}} {
		specs = append(specs, blurSpec(k, 37, 41)...)
	}
	for _, s := range specs {
		b, err := e.dev.NewBlur(s)
		if err != nil {
			return err
		}
		h, w := s.Range()
		err = checkAdjoint(e.dev, backend.Image(2, s.H, s.W), backend.Image(2, h, w),
			func(dst, src backend.Buffer) error { return e.dev.ApplyBlur(dst, src, b) },
			func(dst, src backend.Buffer) error { return e.dev.ApplyBlurAdjoint(dst, src, b) })
		b.Free()
		if err != nil {
			return fmt.Errorf("%v %s, %d×%d at (%d,%d): %w", s.Boundary, methodNames[s.Method], s.KH, s.KW, s.CY, s.CX, err)
		}
	}
	return nil
}
