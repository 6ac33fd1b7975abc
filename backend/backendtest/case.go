package backendtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
)

// role says what an operation does with an operand.
type role uint8

const (
	source      role = iota // read
	destination             // written, its old contents not read
	updated                 // read and written
)

// operand is one buffer argument of an operation.
type operand struct {
	name  string
	role  role
	shape backend.Shape
	// adjust changes the contents, uniform in [−1, 1), into what the operation asks
	// for; nil leaves them.
	adjust func(x tensor)
	// quiet: a NaN in this operand has no defined effect.
	quiet bool
	// region: the pixels of a destination that the operation writes, all others it
	// leaves alone; nil for all pixels.
	region *backend.Region
}

// testCase is one call of one operation: the table entry that the accuracy, misuse,
// NaN and concurrency checks and the benchmarks are all made of.
type testCase struct {
	operation string
	name      string
	operands  []operand
	// prepare makes what the call needs besides its buffers.
	prepare func(dev backend.Device) (prepared, error)
	// reference overwrites the operands that the operation writes and returns the
	// numbers that the call returns.
	reference func(x []tensor) []number
	limit     float64 // of the normalised mean squared error
	numbers   float64 // of the numbers, relative to their scale
	// fits is the operation's rule about the shapes of its operands; nil leaves
	// ErrShape untested.
	fits func(s []backend.Shape) bool
	// inPlace lists pairs of operands (written, read) that may be one buffer.
	inPlace [][2]int
	// apart: no two operands may share memory, not even two sources.
	apart bool
	// local: a NaN in a source must not reach a sample whose definition does not
	// contain it.
	local bool
	// tiled is reference with NaN spread as far as it may be where convolutions are
	// made on tiles of so many rows and columns; nil where local says all.
	tiled func(x []tensor, grid int)
	// memory: the operation may not be unsupported.
	memory bool
	// flops and bytes of one call, at least one of them positive for a benchmark.
	flops, bytes float64

	contents func() [][]float32 // before the call
	expected func() ([]tensor, []number)
}

// prepared is an operation ready to be called on buffers in the order of the
// case's operands; it may be called often and from several goroutines.
type prepared struct {
	call func(b []backend.Buffer) ([]float64, error)
	free func()
}

// simple prepares an operation that needs nothing but its buffers.
func simple(call func(dev backend.Device, b []backend.Buffer) error) func(backend.Device) (prepared, error) {
	return counted(func(dev backend.Device, b []backend.Buffer) ([]float64, error) { return nil, call(dev, b) })
}

// counted prepares an operation that returns numbers.
func counted(call func(dev backend.Device, b []backend.Buffer) ([]float64, error)) func(backend.Device) (prepared, error) {
	return func(dev backend.Device) (prepared, error) {
		return prepared{
			call: func(b []backend.Buffer) ([]float64, error) { return call(dev, b) },
			free: func() {},
		}, nil
	}
}

// silent makes a reference that returns no numbers.
func silent(f func(x []tensor)) func([]tensor) []number {
	return func(x []tensor) []number { f(x); return nil }
}

// complete fills in what follows from the rest of the case.
func (c *testCase) complete() *testCase {
	c.contents = sync.OnceValue(func() [][]float32 {
		v := make([][]float32, len(c.operands))
		for i := range v {
			v[i] = c.make(i)
		}
		return v
	})
	c.expected = sync.OnceValues(func() ([]tensor, []number) {
		x := make([]tensor, len(c.operands))
		for i, o := range c.operands {
			x[i] = widen(o.shape, c.contents()[i])
		}
		return x, c.reference(x)
	})
	return c
}

func (c *testCase) title() string { return c.operation + " " + c.name }

// initial returns a copy of the contents of operand i before the call.
func (c *testCase) initial(i int) []float32 { return slices.Clone(c.contents()[i]) }

// make makes the contents of operand i: always the same numbers, NaN for what the
// operation must not read.
func (c *testCase) make(i int) []float32 {
	o := c.operands[i]
	v := make([]float32, o.shape.Len())
	if o.role == destination && o.region == nil {
		poison(v)
		return v
	}
	copy(v, random(len(v), c.operation, c.name, o.name))
	if o.role == destination {
		eachElement(o.shape, func(n, c, y, x int) {
			if holds(*o.region, y, x) {
				v[offset(o.shape, n, c, y, x)] = nan
			}
		})
	}
	if o.adjust != nil {
		x := widen(o.shape, v)
		o.adjust(x)
		for k := range v {
			v[k] = float32(x.v[k])
		}
	}
	return v
}

func poison(v []float32) {
	for i := range v {
		v[i] = float32(math.NaN())
	}
}

// seeded returns a generator whose numbers depend on the names only.
func seeded(names ...string) *rand.Rand {
	h := fnv.New64a()
	for _, n := range names {
		h.Write([]byte(n))
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

// random returns n numbers, uniform in [−1, 1), that depend on the names only.
func random(n int, names ...string) []float32 {
	r := seeded(names...)
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

// placement is where a case's operands lie in a device's memory.
type placement struct {
	buffers []backend.Buffer
	owned   []backend.Buffer // what has to be freed
}

func (p *placement) free() {
	for _, b := range p.owned {
		b.Free()
	}
}

// upload allocates a buffer and fills it.
func upload(dev backend.Device, s backend.Shape, v []float32) (backend.Buffer, error) {
	b, err := dev.Alloc(s)
	if err != nil {
		return nil, fmt.Errorf("Alloc: %w", err)
	}
	if err := dev.Upload(b, v); err != nil {
		b.Free()
		return nil, fmt.Errorf("Upload: %w", err)
	}
	return b, nil
}

// download returns the contents of a buffer.
func download(dev backend.Device, b backend.Buffer) ([]float32, error) {
	v := make([]float32, b.Shape().Len())
	if err := dev.Download(v, b); err != nil {
		return nil, fmt.Errorf("Download: %w", err)
	}
	return v, nil
}

// place puts every operand into a buffer of its own.
func (c *testCase) place(dev backend.Device) (placement, error) {
	return c.placeContents(dev, c.contents())
}

func (c *testCase) placeContents(dev backend.Device, contents [][]float32) (placement, error) {
	var p placement
	for i, o := range c.operands {
		b, err := upload(dev, o.shape, contents[i])
		if err != nil {
			p.free()
			return placement{}, err
		}
		p.buffers = append(p.buffers, b)
		p.owned = append(p.owned, b)
	}
	return p, nil
}

// outcome is what a call left behind: the contents of all operands, and numbers.
type outcome struct {
	arrays  [][]float32
	numbers []float64
}

// collect calls the operation and downloads all operands.
func (c *testCase) collect(dev backend.Device, op prepared, p placement) (outcome, error) {
	numbers, err := op.call(p.buffers)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{numbers: numbers}
	for _, b := range p.buffers {
		v, err := download(dev, b)
		if err != nil {
			return outcome{}, err
		}
		out.arrays = append(out.arrays, v)
	}
	return out, nil
}

// run places the operands plainly, calls and collects.
func (c *testCase) run(dev backend.Device, op prepared) (outcome, error) {
	p, err := c.place(dev)
	if err != nil {
		return outcome{}, err
	}
	defer p.free()
	return c.collect(dev, op, p)
}

// checkSame compares two outcomes bit for bit.
func (c *testCase) checkSame(got, want outcome) error {
	for i, o := range c.operands {
		if err := checkBits(o.name, o.shape, got.arrays[i], want.arrays[i]); err != nil {
			return err
		}
	}
	for i, w := range want.numbers {
		if g := got.numbers[i]; math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
			return fmt.Errorf("number %d is %v, want the bits of %v", i, g, w)
		}
	}
	return nil
}

// checkReference compares an outcome with the reference.
func (c *testCase) checkReference(got outcome) error {
	want, numbers := c.expected()
	for i, o := range c.operands {
		limit := c.limit
		if o.role == source {
			limit = exact
		}
		array, expected := got.arrays[i], want[i]
		if o.region != nil {
			if err := checkOutside(o.name, *o.region, o.shape, array, c.contents()[i]); err != nil {
				return err
			}
			array, expected = cut(o.shape, array, *o.region), tensor{regionShape(o.shape, *o.region), cut(o.shape, expected.v, *o.region)}
		}
		if err := checkArray(o.name, array, expected, limit); err != nil {
			return err
		}
	}
	return checkNumbers(got.numbers, numbers, c.numbers)
}

// check puts the case through everything that holds for every operation.
func (c *testCase) check(e *environment) error {
	op, err := c.prepare(e.dev)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	defer op.free()
	first, err := c.run(e.dev, op)
	if err != nil {
		return err
	}
	if err := c.checkReference(first); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(*environment, prepared, outcome) error
		any  bool // at any size; else where the case is small
	}{
		{"repeated", c.checkRepetition, true},
		{"through views", c.checkViews, true},
		{"in place", c.checkInPlace, true},
		{"with one buffer for two sources", c.checkSharedSources, false},
		{"aliases", c.checkAliases, false},
		{"shapes", c.checkShapes, false},
		{"lifetimes", c.checkLifetimes, false},
		{"NaN", c.checkNaN, false},
	} {
		if !step.any && !c.small() {
			continue
		}
		if err := step.run(e, op, first); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// small reports whether the case goes through the checks that more elements and
// more work do not make any harder.
func (c *testCase) small() bool {
	n := 0
	for _, o := range c.operands {
		n += o.shape.Len()
	}
	return n <= 1<<13 && c.flops <= 2e6
}

func (c *testCase) checkRepetition(e *environment, op prepared, first outcome) error {
	again, err := c.run(e.dev, op)
	if err != nil {
		return err
	}
	return c.checkSame(again, first)
}

// band is the number of channels around a view that must not change.
const band = 2

// checkViews makes every operand that has N = 1 a view inside a larger array. The
// channels around it hold NaN where it is read only, so that a sum that strays
// out of its operand shows, and a pattern where it is written.
func (c *testCase) checkViews(e *environment, op prepared, first outcome) error {
	var p placement
	defer func() { p.free() }()
	guards := make([][]float32, len(c.operands))
	parents := make([]backend.Buffer, len(c.operands))
	for i, o := range c.operands {
		contents := c.initial(i)
		if o.shape.N != 1 {
			b, err := upload(e.dev, o.shape, contents)
			if err != nil {
				return err
			}
			p.buffers, p.owned = append(p.buffers, b), append(p.owned, b)
			continue
		}
		s := backend.Image(o.shape.C+2*band, o.shape.H, o.shape.W)
		guards[i] = random(s.Len(), "guard", o.name)
		if o.role == source {
			poison(guards[i])
		}
		copy(guards[i][band*s.Plane():], contents)
		parent, err := upload(e.dev, s, guards[i])
		if err != nil {
			return err
		}
		parents[i] = parent
		p.owned = append(p.owned, parent)
		view, err := e.dev.Channels(parent, band, o.shape.C)
		if err != nil {
			return fmt.Errorf("Channels: %w", err)
		}
		p.buffers = append(p.buffers, view)
	}
	got, err := c.collect(e.dev, op, p)
	if err != nil {
		return err
	}
	if err := c.checkSame(got, first); err != nil {
		return err
	}
	for i, parent := range parents {
		if parent == nil {
			continue
		}
		all, err := download(e.dev, parent)
		if err != nil {
			return err
		}
		copy(guards[i][band*parent.Shape().Plane():], got.arrays[i])
		if err := checkBits("around "+c.operands[i].name, parent.Shape(), all, guards[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkSharedSources gives one buffer to two sources of the same shape.
func (c *testCase) checkSharedSources(e *environment, op prepared, _ outcome) error {
	if c.apart {
		return nil
	}
	for i, a := range c.operands {
		for j, b := range c.operands[:i] {
			if a.role != source || b.role != source || a.shape != b.shape || a.quiet != b.quiet {
				continue
			}
			contents := make([][]float32, len(c.operands))
			x := make([]tensor, len(c.operands))
			for k, o := range c.operands {
				contents[k] = c.initial(k)
				if k == i {
					contents[k] = c.initial(j)
				}
				x[k] = widen(o.shape, contents[k])
			}
			p, err := c.placeContents(e.dev, contents)
			if err != nil {
				return err
			}
			defer p.free()
			p.buffers[i] = p.buffers[j]
			got, err := c.collect(e.dev, op, p)
			if err != nil {
				return fmt.Errorf("%s is %s: %w", a.name, b.name, err)
			}
			shared := *c
			shared.expected = func() ([]tensor, []number) { return x, c.reference(x) }
			want, numbers := shared.expected()
			shared.expected = func() ([]tensor, []number) { return want, numbers }
			if err := shared.checkReference(got); err != nil {
				return fmt.Errorf("%s is %s: %w", a.name, b.name, err)
			}
		}
	}
	return nil
}

// errPanic marks what should have been an error: no error that is wanted is one.
var errPanic = errors.New("panic")

// guarded runs f and turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return f()
}

// wantError says what is wrong unless err is one of the wanted errors; where none
// is named, any will do.
func wantError(what string, err error, wanted ...error) error {
	for _, w := range wanted {
		if errors.Is(err, w) {
			return nil
		}
	}
	if errors.Is(err, backend.ErrUnsupported) {
		return err
	}
	if len(wanted) == 0 && err != nil && !errors.Is(err, errPanic) {
		return nil
	}
	if len(wanted) == 0 {
		return fmt.Errorf("%s: got %v, want an error", what, errorOrNone(err))
	}
	return fmt.Errorf("%s: got %v, want %v", what, errorOrNone(err), errors.Join(wanted...))
}

func errorOrNone(err error) any {
	if err == nil {
		return "no error"
	}
	return err
}
