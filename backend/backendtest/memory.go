package backendtest

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/averaged/imaging/backend"
)

func memoryChecks() []check {
	checks := []check{
		{operation: "Description", name: "names the device", run: checkDescription},
		{operation: "Alloc", name: "zeros", run: checkZeros},
		{operation: "Alloc", name: "shapes", run: checkAllocShapes},
		{operation: "Alloc", name: "out of memory", run: checkOutOfMemory},
		{operation: "Upload", name: "every kind of number", run: checkRoundTrip},
		{operation: "Upload", name: "lengths", run: checkUploadLengths},
		{operation: "Upload", name: "lifetimes", run: checkUploadLifetimes},
		{operation: "Download", name: "lengths", run: checkDownloadLengths},
		{operation: "Download", name: "lifetimes", run: checkDownloadLifetimes},
		{operation: "Channels", name: "views", run: checkViews},
		{operation: "Channels", name: "ranges", run: checkChannelRanges},
		{operation: "Channels", name: "lifetimes", run: checkViewLifetimes},
		{operation: "Overlaps", name: "arrays and views", run: checkOverlaps},
		{operation: "Overlaps", name: "lifetimes", run: checkOverlapsLifetimes},
		{operation: "Sync", name: "order", run: checkOrder},
		{operation: "Sync", name: "free with work under way", run: checkFreeUnderWay},
		{operation: "Close", name: "closed", run: checkClose},
	}
	for i := range checks {
		checks[i].memory = true
	}
	return append(checks, check{operation: "Wrap", name: "host memory", run: checkHostMemory})
}

func checkDescription(e *environment) error {
	d := e.dev.Description()
	if d.Name == "" || d.Model == "" || d.Threads < 0 || d.Memory < 0 {
		return fmt.Errorf("the description says too little: %+v", d)
	}
	return nil
}

// checkZeros allocates again and again what was full of other numbers.
func checkZeros(e *environment) error {
	for round := range 4 {
		for _, s := range plainShapes {
			b, err := e.dev.Alloc(s)
			if err != nil {
				return err
			}
			if b.Shape() != s {
				return fmt.Errorf("the shape is %v, want %v", b.Shape(), s)
			}
			got, err := download(e.dev, b)
			if err != nil {
				return err
			}
			if err := checkBits("a new buffer", s, got, make([]float32, s.Len())); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			poison(got)
			if err := e.dev.Upload(b, got); err != nil {
				return err
			}
			b.Free()
		}
	}
	return nil
}

func checkAllocShapes(e *environment) error {
	var err error
	for _, s := range []backend.Shape{
		{}, {N: 1, C: 1, H: 1}, {C: 1, H: 1, W: 1}, {N: 1, C: -1, H: 2, W: 2}, {N: -1, C: 1, H: -1, W: 2},
		{N: 1, C: 1, H: math.MaxInt / 2, W: 3}, {N: 1 << (bits.UintSize/2 - 1), C: 1 << (bits.UintSize/2 - 1), H: 1, W: 1},
	} {
		err = errors.Join(err, wantError(fmt.Sprintf("shape %v", s), guarded(func() error {
			_, err := e.dev.Alloc(s)
			return err
		}), backend.ErrShape))
	}
	return err
}

// checkOutOfMemory asks for more than any machine has, and, where the device has a
// limit, for more than that: an error each time, and the device works on.
func checkOutOfMemory(e *environment) error {
	var shapes []backend.Shape
	if bits.UintSize > 32 { // less than an int of 32 bits counts is not more than any machine has
		shapes = append(shapes, backend.Image(1<<18, 1<<20, 1<<20))
	}
	limit := e.dev.Description().Memory
	if limit > 0 {
		shapes = append(shapes, backend.Image(1, 1, int(limit/4)+1))
	}
	for _, s := range shapes {
		_, err := e.dev.Alloc(s)
		if err := wantError(fmt.Sprintf("Alloc of %v", s), err, backend.ErrOutOfMemory); err != nil {
			return err
		}
	}
	// The room of freed buffers is given out again, however often.
	half := backend.Image(1, 1, 1<<12)
	if limit > 0 && limit <= 1<<30 {
		half.W = max(1, int(limit/4)*2/3)
	}
	for range 5 {
		b, err := e.dev.Alloc(half)
		if err != nil {
			return err
		}
		if limit > 0 && limit <= 1<<30 {
			_, err := e.dev.Alloc(half)
			if err := wantError("two thirds of the memory twice", err, backend.ErrOutOfMemory); err != nil {
				return err
			}
		}
		if err := e.dev.Fill(b, 1); err != nil && !errors.Is(err, backend.ErrUnsupported) {
			return err
		}
		b.Free()
		b.Free() // does not give the room back twice
	}
	return nil
}

// checkRoundTrip moves every kind of float32 there and back, with the source
// changed as soon as Upload returns.
func checkRoundTrip(e *environment) error {
	want := []float32{
		0, float32(math.Copysign(0, -1)), 1, -0.1, math.SmallestNonzeroFloat32, -0x1p-127,
		math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), nan, 0x1p-126, 1 + 0x1p-23,
	}
	want = append(want, random(3*67*129-len(want), "round trip")...)
	s := backend.Image(3, 67, 129)
	b, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	src := append([]float32(nil), want...)
	if err := e.dev.Upload(b, src); err != nil {
		return err
	}
	for i := range src {
		src[i] = 77
	}
	got, err := download(e.dev, b)
	if err != nil {
		return err
	}
	return checkBits("downloaded", s, got, want)
}

func checkUploadLengths(e *environment) error {
	b, err := e.dev.Alloc(backend.Image(2, 3, 4))
	if err != nil {
		return err
	}
	for _, n := range []int{0, 1, 23, 25, 48} {
		err = errors.Join(err, wantError(fmt.Sprintf("%d numbers for 24", n), guarded(func() error {
			return e.dev.Upload(b, make([]float32, n))
		}), backend.ErrShape))
	}
	return err
}

func checkDownloadLengths(e *environment) error {
	b, err := e.dev.Alloc(backend.Image(2, 3, 4))
	if err != nil {
		return err
	}
	for _, n := range []int{0, 1, 23, 25, 48} {
		err = errors.Join(err, wantError(fmt.Sprintf("room for %d numbers of 24", n), guarded(func() error {
			return e.dev.Download(make([]float32, n), b)
		}), backend.ErrShape))
	}
	return err
}

func checkUploadLifetimes(e *environment) error {
	return e.checkBufferLifetimes(func(b backend.Buffer) error { return e.dev.Upload(b, make([]float32, 4)) })
}

func checkDownloadLifetimes(e *environment) error {
	return e.checkBufferLifetimes(func(b backend.Buffer) error { return e.dev.Download(make([]float32, 4), b) })
}

// checkBufferLifetimes calls something with buffers of 1×2×2 that may not be used.
func (e *environment) checkBufferLifetimes(use func(b backend.Buffer) error) error {
	other, err := e.other()
	if err != nil {
		return err
	}
	s := backend.Image(1, 2, 2)
	foreign, err := other.Alloc(s)
	if err != nil {
		return err
	}
	freed, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	view, err := e.dev.Channels(freed, 0, 1)
	if err != nil {
		return err
	}
	if err := use(freed); err != nil {
		return fmt.Errorf("before Free: %w", err)
	}
	freed.Free()
	freed.Free()
	if freed.Shape() != s {
		return fmt.Errorf("the shape after Free is %v, want %v", freed.Shape(), s)
	}
	return errors.Join(
		wantError("after Free", guarded(func() error { return use(freed) }), backend.ErrFreed),
		wantError("view of a freed array", guarded(func() error { return use(view) }), backend.ErrFreed),
		wantError("buffer of another device", guarded(func() error { return use(foreign) }), backend.ErrForeign),
		wantError("nil", guarded(func() error { return use(nil) })))
}

// checkViews reads and writes through views, and views of views.
func checkViews(e *environment) error {
	s := backend.Image(7, 3, 5)
	want := random(s.Len(), "views")
	b, err := upload(e.dev, s, want)
	if err != nil {
		return err
	}
	for from := range s.C {
		for count := 1; from+count <= s.C; count++ {
			v, err := e.dev.Channels(b, from, count)
			if err != nil {
				return err
			}
			vs := backend.Image(count, s.H, s.W)
			if v.Shape() != vs {
				return fmt.Errorf("channels [%d,%d): shape %v, want %v", from, from+count, v.Shape(), vs)
			}
			got, err := download(e.dev, v)
			if err != nil {
				return err
			}
			if err := checkBits(fmt.Sprintf("channels [%d,%d)", from, from+count), vs, got, want[from*s.Plane():(from+count)*s.Plane()]); err != nil {
				return err
			}
			inner, err := e.dev.Channels(v, count-1, 1)
			if err != nil {
				return err
			}
			fresh := random(s.Plane(), "write", fmt.Sprint(from, count))
			if err := e.dev.Upload(inner, fresh); err != nil {
				return err
			}
			copy(want[(from+count-1)*s.Plane():], fresh)
			got, err = download(e.dev, b)
			if err != nil {
				return err
			}
			if err := checkBits("the array after a write through a view of a view", s, got, want); err != nil {
				return err
			}
			v.Free()
		}
	}
	return nil
}

func checkChannelRanges(e *environment) error {
	b, err := e.dev.Alloc(backend.Image(4, 2, 2))
	if err != nil {
		return err
	}
	for _, r := range [][2]int{{-1, 2}, {0, 0}, {0, -1}, {0, 5}, {4, 1}, {3, 2}, {2, math.MaxInt}, {math.MaxInt, 1}} {
		_, verr := e.dev.Channels(b, r[0], r[1])
		err = errors.Join(err, wantError(fmt.Sprintf("channels from %d, %d of them, of 4", r[0], r[1]), verr, backend.ErrShape))
	}
	batch, aerr := e.dev.Alloc(backend.Shape{N: 2, C: 4, H: 2, W: 2})
	if aerr != nil {
		return aerr
	}
	_, verr := e.dev.Channels(batch, 0, 1)
	return errors.Join(err, wantError("channels of a batch", verr, backend.ErrShape))
}

func checkViewLifetimes(e *environment) error {
	if err := e.checkBufferLifetimes(func(b backend.Buffer) error {
		_, err := e.dev.Channels(b, 0, 1)
		return err
	}); err != nil {
		return err
	}
	// A freed view leaves the array alone.
	s := backend.Image(2, 2, 2)
	want := random(s.Len(), "array")
	b, err := upload(e.dev, s, want)
	if err != nil {
		return err
	}
	for range 3 {
		v, err := e.dev.Channels(b, 0, 2)
		if err != nil {
			return err
		}
		v.Free()
		v.Free()
		if err := wantError("a freed view", e.dev.Upload(v, want), backend.ErrFreed); err != nil {
			return err
		}
	}
	got, err := download(e.dev, b)
	if err != nil {
		return err
	}
	return checkBits("the array after its views were freed", s, got, want)
}

// checkOverlaps asks about every pair of views of an array, the array itself among them,
// and about another array of the same shape.
func checkOverlaps(e *environment) error {
	s := backend.Image(4, 3, 5)
	array, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	other, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	// What holds the channels [from, to) of the array.
	type part struct {
		from, to int
		buffer   backend.Buffer
	}
	parts := []part{{0, s.C, array}}
	for from := range s.C {
		for to := from + 1; to <= s.C; to++ {
			v, err := e.dev.Channels(array, from, to-from)
			if err != nil {
				return err
			}
			inner, err := e.dev.Channels(v, to-from-1, 1)
			if err != nil {
				return err
			}
			parts = append(parts, part{from, to, v}, part{to - 1, to, inner})
		}
	}
	ask := func(what string, a, b backend.Buffer, want bool) error {
		got, err := e.dev.Overlaps(a, b)
		if err == nil && got != want {
			err = fmt.Errorf("%s: Overlaps says %v", what, got)
		}
		return err
	}
	for _, a := range parts {
		for _, b := range parts {
			what := fmt.Sprintf("channels [%d,%d) and [%d,%d)", a.from, a.to, b.from, b.to)
			if err := ask(what, a.buffer, b.buffer, a.from < b.to && b.from < a.to); err != nil {
				return err
			}
		}
		if err := errors.Join(
			ask("another array", a.buffer, other, false),
			ask("another array, asked the other way", other, a.buffer, false)); err != nil {
			return err
		}
	}
	return nil
}

func checkOverlapsLifetimes(e *environment) error {
	b, err := e.dev.Alloc(backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	return errors.Join(
		e.checkBufferLifetimes(func(x backend.Buffer) error { _, err := e.dev.Overlaps(x, b); return err }),
		e.checkBufferLifetimes(func(x backend.Buffer) error { _, err := e.dev.Overlaps(b, x); return err }))
}

// checkHostMemory checks devices that can compute in the host's memory.
func checkHostMemory(e *environment) error {
	host, ok := e.dev.(backend.HostMemory)
	if !ok {
		return fmt.Errorf("%w: it has no backend.HostMemory", backend.ErrUnsupported)
	}
	s := backend.Image(2, 3, 5)
	data := random(s.Len(), "wrapped")
	want := append([]float32(nil), data...)
	b, err := host.Wrap(s, data)
	if err != nil {
		return err
	}
	if b.Shape() != s {
		return fmt.Errorf("the shape is %v, want %v", b.Shape(), s)
	}
	got, err := download(e.dev, b)
	if err != nil {
		return err
	}
	if err := checkBits("wrapped", s, got, want); err != nil {
		return err
	}
	second, err := e.dev.Channels(b, 1, 1)
	if err != nil {
		return err
	}
	if err := errors.Join(e.dev.Upload(second, make([]float32, s.Plane())), e.dev.Sync()); err != nil {
		return err
	}
	clear(want[s.Plane():])
	if err := checkBits("the caller's memory after a write", s, data, want); err != nil {
		return err
	}
	// A second buffer over the same memory is an alias like any other.
	again, err := host.Wrap(s, data)
	if err != nil {
		return err
	}
	shifted, err := e.dev.Channels(again, 0, 1)
	if err != nil {
		return err
	}
	if err := e.dev.Clip(shifted, second, 0, 1); err != nil && !errors.Is(err, backend.ErrUnsupported) {
		return fmt.Errorf("two channels that only touch: %w", err)
	}
	for _, v := range []struct {
		name   string
		other  backend.Buffer
		shared bool
	}{{"twice the same memory", b, true}, {"two channels that only touch", second, false}} {
		if got, err := e.dev.Overlaps(shifted, v.other); err != nil || got != v.shared {
			return fmt.Errorf("%s: Overlaps says %v, %w", v.name, got, err)
		}
	}
	b.Free()
	b.Free()
	_, short := host.Wrap(s, data[1:])
	_, empty := host.Wrap(backend.Shape{}, nil)
	if err := errors.Join(
		wantError("Wrap of too few numbers", short, backend.ErrShape),
		wantError("Wrap of an empty shape", empty, backend.ErrShape),
		wantError("use after Free", e.dev.Upload(b, want), backend.ErrFreed)); err != nil {
		return err
	}
	return errors.Join(e.dev.Sync(), checkBits("the caller's memory after Free", backend.Image(1, s.H, s.W), data[s.Plane():], want[s.Plane():]))
}

// checkOrder puts operations that depend on each other on the stream without
// waiting, and looks at the end.
func checkOrder(e *environment) error {
	s := backend.Image(3, 67, 129)
	a, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	b, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	want := float32(1)
	if err := e.dev.Fill(a, 1); err != nil {
		return err
	}
	for k := range 40 {
		if err := errors.Join(
			e.dev.LinearCombination(b, backend.Term{A: 0.5, X: a}),
			e.dev.Fill(a, float32(k)),
			e.dev.LinearCombination(a, backend.Term{A: 1, X: a}, backend.Term{A: 1, X: b})); err != nil {
			return err
		}
		want = float32(k) + 0.5*want
	}
	if err := e.dev.Sync(); err != nil {
		return err
	}
	got, err := download(e.dev, a)
	if err != nil {
		return err
	}
	for i, v := range got {
		if math.Abs(float64(v-want)) > 1e-4 {
			return fmt.Errorf("element %d is %v, want %v", i, v, want)
		}
	}
	return nil
}

// checkFreeUnderWay frees sources right after the call that reads them, and fills
// the room with something else.
func checkFreeUnderWay(e *environment) error {
	s := backend.Image(3, 67, 129)
	dst, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	for k := range 20 {
		src, err := e.dev.Alloc(s)
		if err != nil {
			return err
		}
		if err := errors.Join(
			e.dev.Fill(src, 1),
			e.dev.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: 1, X: src})); err != nil {
			return err
		}
		src.Free()
		junk, err := e.dev.Alloc(s)
		if err != nil {
			return err
		}
		if err := e.dev.Fill(junk, float32(-k)); err != nil {
			return err
		}
		junk.Free()
	}
	got, err := download(e.dev, dst)
	if err != nil {
		return err
	}
	for i, v := range got {
		if v != 20 {
			return fmt.Errorf("element %d is %v, want 20", i, v)
		}
	}
	return nil
}

// checkClose checks what is no table case: the operations themselves are called on
// a closed device by the cases.
func checkClose(e *environment) error {
	dev, err := e.fresh()
	if err != nil {
		return err
	}
	defer func() { _ = dev.Close() }() // once more, where all goes well
	b, err := dev.Alloc(backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	blur := backend.BlurSpec{Kernel: []float32{1}, KH: 1, KW: 1, H: 2, W: 2}
	if err := dev.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	if err := dev.Close(); err != nil {
		return fmt.Errorf("second Close: %w", err)
	}
	closed := func(what string, f func() error) error {
		return wantError(what+" after Close", guarded(f), backend.ErrClosed)
	}
	return errors.Join(
		closed("Alloc", func() error { _, err := dev.Alloc(backend.Image(1, 2, 2)); return err }),
		closed("Channels", func() error { _, err := dev.Channels(b, 0, 1); return err }),
		closed("Overlaps", func() error { _, err := dev.Overlaps(b, b); return err }),
		closed("Upload", func() error { return dev.Upload(b, make([]float32, 4)) }),
		closed("Download", func() error { return dev.Download(make([]float32, 4), b) }),
		closed("Sync", dev.Sync),
		closedOrUnsupported("NewBlur", func() error { _, err := dev.NewBlur(blur); return err }),
		closedOrUnsupported("NewFilter", func() error { _, err := dev.NewFilter(b); return err }),
		guarded(func() error { b.Free(); dev.Description(); return nil }))
}

func closedOrUnsupported(what string, f func() error) error {
	return wantError(what+" after Close", guarded(f), backend.ErrClosed, backend.ErrUnsupported)
}
