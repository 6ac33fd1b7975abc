package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// Limits bound what the process of a worker takes. They change no bit of a result.
type Limits struct {
	// AtOnce is how many photographs are restored at the same time, 0: one for each processor.
	AtOnce int
	// Memory is how many bytes photographs may take while they are restored, all together; 0:
	// DefaultMemory for each of AtOnce. One that needs more than its share waits until it is
	// alone, and one that needs more than all fails.
	Memory int64
}

// DefaultMemory is the share of one photograph, enough for some 15 megapixels in colour.
const DefaultMemory = 2 << 30

// bytesOfPixel is the most that a photograph takes for each pixel: deblurring by a network takes
// the most, some twelve images of three float32 samples, and it is 46 bytes for each sample.
const bytesOfPixel = 3 * 46

// Validate returns what is wrong with the limits, in one line.
func (l Limits) Validate() error {
	const least = 1 << 20 // a share of some 7600 pixels
	l = l.withDefaults()
	switch {
	case l.AtOnce < 1:
		return fmt.Errorf("%d photographs at once: want 0 (one for each processor) or more", l.AtOnce)
	case l.Memory/int64(l.AtOnce) < least:
		return fmt.Errorf("memory of %d bytes: want %d or more for each of %d photographs at once", l.Memory, least, l.AtOnce)
	}
	return nil
}

// withDefaults replaces limits of 0.
func (l Limits) withDefaults() Limits {
	if l.AtOnce == 0 {
		l.AtOnce = runtime.GOMAXPROCS(0)
	}
	if l.Memory == 0 {
		l.Memory = DefaultMemory * int64(l.AtOnce)
	}
	return l
}

// worker restores photographs. There is one for all DoFns of a process that have the same
// settings, so that a network is loaded once and the memory is bounded for all of them together.
type worker struct {
	settings workerSettings
	restorer *restore.Restorer
	turns    *semaphore.Weighted // AtOnce of them
	users    int                 // guarded by workers.mu
}

type workerSettings struct {
	Options     Options
	Fingerprint string
	Limits      Limits
	Overwrite   bool
}

var workers = struct {
	mu   sync.Mutex
	kept map[workerSettings]*worker
}{kept: map[workerSettings]*worker{}}

// hireWorker returns the worker of the settings; dismiss gives it back.
func hireWorker(s workerSettings) (*worker, error) {
	s.Limits = s.Limits.withDefaults()
	workers.mu.Lock()
	defer workers.mu.Unlock()
	w := workers.kept[s]
	if w == nil {
		r, err := restore.New(s.Options.restoreOptions()...)
		if err != nil {
			return nil, err
		}
		if os.Getenv("GOMEMLIMIT") == "" {
			// Garbage is collected in time; the rest is for what does not depend on photographs.
			debug.SetMemoryLimit(s.Limits.Memory + 256<<20)
		}
		w = &worker{settings: s, restorer: r, turns: semaphore.NewWeighted(int64(s.Limits.AtOnce))}
		workers.kept[s] = w
	}
	w.users++
	return w, nil
}

func (w *worker) dismiss() error {
	workers.mu.Lock()
	defer workers.mu.Unlock()
	if w.users--; w.users > 0 {
		return nil
	}
	delete(workers.kept, w.settings)
	return w.restorer.Close()
}

// do restores a photograph, or finds that it has been done. Its error is that of the context;
// all others are in the record.
func (w *worker) do(ctx context.Context, j Job) (Record, error) {
	r, err := w.inTurn(ctx, j)
	switch {
	case ctx.Err() != nil:
		return Record{}, ctx.Err() // whatever the error is, the photograph is not to blame
	case err != nil:
		return failure(j.Input, j.Output, reason(err)), nil
	}
	return r, nil
}

// reason is what an error says, without the name of the file, which stands beside it.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// inTurn does a job with its share of the memory, or, if that is too little, with all of it.
func (w *worker) inTurn(ctx context.Context, j Job) (Record, error) {
	turns := int64(w.settings.Limits.AtOnce)
	r, err := w.inTurns(ctx, j, 1, turns)
	if turns > 1 && errors.Is(err, errShare) {
		return w.inTurns(ctx, j, turns, turns)
	}
	return r, err
}

// inTurns does a job with the memory of n turns of all.
func (w *worker) inTurns(ctx context.Context, j Job, n, all int64) (Record, error) {
	if err := w.turns.Acquire(ctx, n); err != nil {
		return Record{}, err
	}
	defer w.turns.Release(n)
	return w.within(ctx, j, w.settings.Limits.Memory/all*n)
}

// errShare says that a photograph needs more than its share of the memory.
var errShare = errors.New("needs more memory than is allowed (-memory)")

// within does a job in so many bytes. What panics is a mistake of this program, and is reported as
// the error of this photograph: the others must not suffer.
func (w *worker) within(ctx context.Context, j Job, memory int64) (r Record, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a mistake of this program: %v", p)
		}
	}()
	data, err := readWhole(ctx, j.Input, memory/4)
	if err != nil {
		return Record{}, err
	}
	input := checksum(data)
	if r, done, err := w.done(ctx, j, input); done || err != nil {
		return r, err
	}
	opt := imagefile.ReadOptions{CodingNoise: w.settings.Options.Task == Deblur}
	// The pixels have what the file leaves.
	if most := (memory - int64(len(data))) / bytesOfPixel; most < imagefile.DefaultMaxPixels {
		opt.MaxPixels = most
	}
	m, err := imagefile.DecodeAt(ctx, bytes.NewReader(data), int64(len(data)), opt)
	switch {
	case errors.Is(err, imagefile.ErrTooManyPixels) && opt.MaxPixels != 0:
		return Record{}, fmt.Errorf("%w: %w", errShare, err)
	case err != nil:
		return Record{}, err
	}
	if err := m.CheckMagnitude(); err != nil {
		return Record{}, err
	}
	return w.restore(ctx, j, m, data, input)
}

// done tells whether a job has been done: its record has the checksums of the photograph, of the
// options, and of the result, which is there.
func (w *worker) done(ctx context.Context, j Job, input string) (Record, bool, error) {
	output, exists, err := checksumOf(ctx, j.Output)
	if err != nil || !exists {
		return Record{}, false, err
	}
	var old Record
	const largest = 1 << 20 // of a record, a thousand times what it has
	if text, err := readWhole(ctx, recordOf(j.Output), largest); err == nil && json.Unmarshal(text, &old) != nil {
		old = Record{} // not a record of ours
	} else if ctx.Err() != nil {
		return Record{}, false, ctx.Err()
	}
	same := old.Schema == schema && old.Outcome != nil && old.InputSHA256 == input && old.OptionsSHA256 == w.settings.Fingerprint && old.OutputSHA256 == output
	switch {
	case same:
		old.Input, old.Output, old.Skipped = j.Input, j.Output, true
		return old, true, nil
	case w.settings.Overwrite:
		return Record{}, false, nil
	}
	return Record{}, false, errors.New("its result exists already, and by its record is not of this photograph and these options; -force overwrites it")
}

// restore computes and writes a result, its record first. An image that is not changed has the data of its file.
func (w *worker) restore(ctx context.Context, j Job, m *imagefile.Image, data []byte, input string) (Record, error) {
	began := time.Now()
	format, err := imagefile.FormatOf(j.Output)
	if err != nil {
		return Record{}, err
	}
	opt := imagefile.WriteOptions{Format: format, Threads: 1} // a core for each photograph
	if err := imagefile.CheckWrite(m, opt); err != nil {
		return Record{}, err
	}
	out, report, err := w.solve(ctx, &restore.Planar{Width: m.Width, Height: m.Height, Channels: m.Channels, Pix: m.Pix, Alpha: m.Alpha}, m.CodingNoise())
	if err != nil {
		return Record{}, err
	}
	planar, ok := out.(*restore.Planar)
	if !ok {
		return Record{}, fmt.Errorf("the result is a %T, want a planar image", out)
	}
	m.Pix = planar.Pix
	var encoded bytes.Buffer
	copied := report.Unchanged && imagefile.Recoding(m, opt) == ""
	if copied {
		encoded.Write(data)
	} else if err := imagefile.Encode(ctx, &encoded, m, opt); err != nil {
		return Record{}, err
	}
	o := &Outcome{
		InputSHA256: input, OptionsSHA256: w.settings.Fingerprint, OutputSHA256: checksum(encoded.Bytes()),
		Width: m.Width, Height: m.Height, Channels: m.Channels,
		Task: w.settings.Options.Task, Method: report.Method,
		Sigma: report.Noise.Sigma, Estimated: report.Noise.Estimate != nil,
	}
	if !copied {
		o.Notes = append(o.Notes, m.Warnings...)
	}
	for _, loss := range imagefile.Losses(m, opt) {
		o.Notes = append(o.Notes, fmt.Sprintf("not kept in %s: %s", opt.Format, loss))
	}
	doubts := report.Doubts
	if report.Blur != nil {
		o.Notes = append(o.Notes, "blur estimated: "+report.Blur.String())
		doubts = slices.Concat(report.Blur.Doubts(), doubts)
	}
	for _, doubt := range doubts {
		o.Notes = append(o.Notes, doubt.Text)
	}
	o.Seconds = time.Since(began).Seconds()
	r := Record{Schema: schema, Input: j.Input, Output: j.Output, Outcome: o}
	line, err := r.line()
	if err != nil {
		return Record{}, err
	}
	err = writeWhole(ctx, recordOf(j.Output), true, func(to io.Writer) error {
		_, err := io.WriteString(to, line+"\n")
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("its record cannot be written: %w", err)
	}
	err = writeWhole(ctx, j.Output, w.settings.Overwrite, func(to io.Writer) error {
		_, err := to.Write(encoded.Bytes())
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("its result cannot be written: %w", err)
	}
	return r, nil
}

func (w *worker) solve(ctx context.Context, p *restore.Planar, codingNoise float64) (image.Image, *restore.Report, error) {
	if w.settings.Options.Task == Denoise {
		return w.restorer.Denoise(ctx, p)
	}
	return w.restorer.DeblurBlind(ctx, p, nil, restore.Compressed(restore.Compression{Noise: codingNoise}))
}
