package batch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/averaged/imaging/internal/imagefile"
)

// Plan says which photographs are restored, how, and where results go.
type Plan struct {
	Inputs []string // names or patterns of photographs, on any file system of Beam
	Lists  []string // files with a name or pattern in each line
	// Base is the folder below which results keep the folders that their photographs are in; for
	// those that are not there, or if it is empty, it is the folder before a pattern's first
	// wildcard, and of a name nothing is kept but its last element.
	Base      string
	Output    string // folder
	Options   Options
	Limits    Limits
	Overwrite bool // results that exist and are not of these photographs and options
}

// The files in the output folder that have a line for each photograph: the restored ones and the
// skipped ones, and those that failed.
const (
	ResultsFile  = "results.jsonl"
	FailuresFile = "failures.jsonl"
)

// What a runner shows while it runs. Runners differ in how exact they are: Tally is.
var (
	doneCounter    = beam.NewCounter("restore-beam", "done")
	failedCounter  = beam.NewCounter("restore-beam", "failed")
	skippedCounter = beam.NewCounter("restore-beam", "skipped")
)

// Source is a photograph that was found, and what its result is called in the output folder.
type Source struct{ Input, Relative string }

// Claim says of a file that it is a photograph to be restored, or that it is to be the result of
// one.
type Claim struct {
	Input, Output string
	Reads         bool
}

// Job is one photograph, and where its result goes.
type Job struct{ Input, Output string }

func init() {
	register.DoFn3x1[context.Context, string, func(string), error](&listFn{})
	register.DoFn4x1[context.Context, string, func(Source), func(string), error](&findFn{})
	register.DoFn3x0[context.Context, Source, func(string, Claim)](&claimFn{})
	register.DoFn5x1[context.Context, string, func(*Claim) bool, func(Job), func(string), error](&settleFn{})
	register.DoFn4x1[context.Context, Job, func(string), func(string), error](&restoreFn{})
	register.DoFn3x1[context.Context, int, func(*string) bool, error](&writeFn{})
	register.Emitter1[Source]()
	register.Emitter1[Job]()
	register.Emitter1[string]()
	register.Emitter2[string, Claim]()
	register.Iter1[Claim]()
	register.Iter1[string]()
}

// Build adds the pipeline of a plan, which must be valid, to a scope.
func Build(s beam.Scope, p Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	fingerprint, err := p.Options.fingerprint()
	if err != nil {
		return err
	}
	s = s.Scope("restore")
	var patterns []beam.PCollection
	if len(p.Inputs) > 0 {
		patterns = append(patterns, beam.CreateList(s, p.Inputs))
	}
	if len(p.Lists) > 0 {
		patterns = append(patterns, beam.ParDo(s, &listFn{}, beam.CreateList(s, p.Lists)))
	}
	sources, lost := beam.ParDo2(s, &findFn{Base: p.Base}, beam.Flatten(s, patterns...))
	claims := beam.GroupByKey(s, beam.ParDo(s, &claimFn{Output: p.Output}, sources))
	jobs, refused := beam.ParDo2(s, &settleFn{}, claims)
	done, failed := beam.ParDo2(s, &restoreFn{Settings: workerSettings{p.Options, fingerprint, p.Limits, p.Overwrite}}, jobs)
	writeLines(s, join(p.Output, ResultsFile), done)
	writeLines(s, join(p.Output, FailuresFile), beam.Flatten(s, lost, refused, failed))
	return nil
}

// Validate returns what is wrong with a plan, in one line.
func (p Plan) Validate() error {
	switch {
	case len(p.Inputs)+len(p.Lists) == 0:
		return errors.New("no input: give a name or a pattern of photographs, or a list of them")
	case slices.Contains(slices.Concat(p.Inputs, p.Lists), ""):
		return errors.New("an input is empty: want the name or pattern of photographs")
	case p.Output == "":
		return errors.New("no output: want a folder for the results")
	}
	for _, name := range slices.Concat(p.Inputs, p.Lists, []string{p.Output}) {
		if !utf8.ValidString(name) {
			return fmt.Errorf("the name %q is not UTF-8, in which names are passed between machines", name)
		}
		if err := checkScheme(name); err != nil {
			return err
		}
	}
	if err := p.Options.Validate(); err != nil {
		return err
	}
	return p.Limits.Validate()
}

// listFn reads lists: a name or pattern in each line.
type listFn struct{}

func (*listFn) ProcessElement(ctx context.Context, list string, emit func(string)) error {
	fs, err := fileSystemOf(ctx, list)
	if err != nil {
		return err
	}
	r, err := fs.OpenRead(ctx, list)
	if err != nil {
		return fmt.Errorf("the list %s: %w", list, err)
	}
	defer r.Close() // nothing was written, so closing cannot lose anything
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if line := strings.TrimSuffix(lines.Text(), "\r"); line != "" {
			emit(line)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the list %s: %w", list, err)
	}
	return nil
}

// findFn finds the photographs of a pattern.
type findFn struct{ Base string }

func (fn *findFn) ProcessElement(ctx context.Context, pattern string, emit func(Source), fail func(string)) error {
	found, err := find(ctx, pattern)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return tellFailure(ctx, failure(pattern, "", err.Error()), fail)
	}
	relative := func(name string) string { return relativeTo(fn.Base, name) }
	switch {
	case fn.Base == "" && slices.Equal(found, []string{pattern}):
		relative = base
	case fn.Base == "":
		folder := globFolder(pattern)
		relative = func(name string) string { return relativeTo(folder, name) }
	}
	for _, name := range found {
		if !utf8.ValidString(name) {
			if err := tellFailure(ctx, failure(name, "", "its name is not UTF-8, in which names are passed between machines"), fail); err != nil {
				return err
			}
			continue
		}
		emit(Source{name, relative(name)})
	}
	return nil
}

// find lists the photographs of a pattern, by their extensions. A pattern without a wildcard, or
// that is the name of a file, is that name, whether there is such a file or not.
func find(ctx context.Context, pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, `*?[`) || isLocal(pattern) && isFile(pattern) {
		return []string{pattern}, nil
	}
	fs, err := fileSystemOf(ctx, pattern)
	if err != nil {
		return nil, err
	}
	names, err := fs.List(ctx, pattern)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := imagefile.FormatOf(name)
		return err != nil || strings.HasPrefix(base(name), ".")
	})
	if len(names) == 0 {
		return nil, errors.New("no image is found")
	}
	return names, nil
}

// claimFn says where the result of a photograph goes.
type claimFn struct{ Output string }

func (fn *claimFn) ProcessElement(_ context.Context, s Source, emit func(string, Claim)) {
	stem := strings.TrimSuffix(s.Relative, path.Ext(s.Relative))
	output := join(fn.Output, stem+imagefile.WritableExtension(s.Input))
	emit(identity(s.Input), Claim{Input: s.Input, Output: output, Reads: true})
	emit(identity(output), Claim{Input: s.Input, Output: output})
}

// settleFn makes jobs of those claims that do not contradict each other. A photograph that was
// found twice is done once.
type settleFn struct{}

func (*settleFn) ProcessElement(ctx context.Context, _ string, claims func(*Claim) bool, emit func(Job), fail func(string)) error {
	var writers []Claim
	isInput := ""
	for c := (Claim{}); claims(&c); {
		if c.Reads {
			isInput = c.Input
			continue
		}
		same := func(w Claim) bool { return identity(w.Input) == identity(c.Input) }
		if !slices.ContainsFunc(writers, same) {
			writers = append(writers, c)
		}
	}
	slices.SortFunc(writers, func(a, b Claim) int { return strings.Compare(a.Input, b.Input) })
	for i, w := range writers {
		why := ""
		switch {
		case isInput != "" && identity(isInput) == identity(w.Input):
			why = "the result would take the place of its input; name another folder for the results"
		case isInput != "":
			why = fmt.Sprintf("the result would take the place of %s, which is another input; name another folder for the results", isInput)
		case len(writers) > 1:
			other := writers[(i+1)%len(writers)].Input
			why = fmt.Sprintf("this and %s would both become %s; give them different names or do them apart", other, w.Output)
		}
		if why == "" {
			emit(Job{w.Input, w.Output})
			continue
		}
		if err := tellFailure(ctx, failure(w.Input, w.Output, why), fail); err != nil {
			return err
		}
	}
	return nil
}

// restoreFn does jobs, as many at a time as its worker takes: runners differ in how many bundles
// they have under way.
type restoreFn struct {
	Settings workerSettings

	worker   *worker
	running  int
	finished chan finished
}

type finished struct {
	record Record
	err    error
}

func (fn *restoreFn) Setup(context.Context) (err error) {
	fn.worker, err = hireWorker(fn.Settings)
	return err
}

func (fn *restoreFn) StartBundle(context.Context, func(string), func(string)) {
	// What is left of a bundle that was given up ends in a channel of its own.
	fn.finished, fn.running = make(chan finished, fn.worker.settings.Limits.AtOnce), 0
}

func (fn *restoreFn) ProcessElement(ctx context.Context, j Job, emit, fail func(string)) error {
	for fn.running == cap(fn.finished) || len(fn.finished) > 0 {
		if err := fn.finishOne(ctx, emit, fail); err != nil {
			return err
		}
	}
	fn.running++
	go func(to chan<- finished) {
		r, err := fn.worker.do(ctx, j)
		to <- finished{r, err}
	}(fn.finished)
	return nil
}

func (fn *restoreFn) FinishBundle(ctx context.Context, emit, fail func(string)) error {
	for fn.running > 0 {
		if err := fn.finishOne(ctx, emit, fail); err != nil {
			return err
		}
	}
	return nil
}

// finishOne waits for a job to end, and tells what became of it.
func (fn *restoreFn) finishOne(ctx context.Context, emit, fail func(string)) error {
	f := <-fn.finished
	fn.running--
	switch {
	case f.err != nil:
		return f.err
	case f.record.Error != "":
		return tellFailure(ctx, f.record, fail)
	case f.record.Skipped:
		skippedCounter.Inc(ctx, 1)
	default:
		doneCounter.Inc(ctx, 1)
	}
	line, err := f.record.line()
	if err == nil {
		emit(line)
	}
	return err
}

func (fn *restoreFn) Teardown(context.Context) error { return fn.worker.dismiss() }

// tellFailure counts a failure, and tells it in the log at once and in its line at the end.
func tellFailure(ctx context.Context, r Record, fail func(string)) error {
	failedCounter.Inc(ctx, 1)
	log.Warnf(ctx, "%s: %s", oneLine(r.Input), r.Error)
	line, err := r.line()
	if err == nil {
		fail(line)
	}
	return err
}

// writeLines writes lines to a file, which is there even if there is none.
func writeLines(s beam.Scope, file string, lines beam.PCollection) {
	all := beam.GroupByKey(s, beam.AddFixedKey(s, beam.Flatten(s, lines, beam.Create(s, ""))))
	beam.ParDo0(s, &writeFn{File: file}, all)
}

type writeFn struct{ File string }

func (fn *writeFn) ProcessElement(ctx context.Context, _ int, lines func(*string) bool) error {
	return writeWhole(ctx, fn.File, true, func(to io.Writer) error {
		w := bufio.NewWriter(to)
		for line := ""; lines(&line); {
			if line == "" {
				continue // the one that makes the file be
			}
			if _, err := w.WriteString(line + "\n"); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}
