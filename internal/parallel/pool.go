// Package parallel runs loops on a fixed set of worker goroutines.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a fixed number of workers. The zero value is not usable; make one with
// New. Safe for concurrent use: loops of several goroutines share the workers.
type Pool struct {
	threads int
	tasks   chan func()
	stop    *sync.Once
}

// maxThreads is above the processors of any machine: more would only take memory.
const maxThreads = 4096

// New starts a pool that runs loops on the given number of threads, the calling
// goroutine included; 0 or less means as many as runtime.GOMAXPROCS says, and 4096 are the
// max. Close ends its workers; those of a pool that nobody has any more end when the collector finds it.
func New(threads int) *Pool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = min(threads, maxThreads)
	tasks, stop := make(chan func(), threads), new(sync.Once)
	for range threads - 1 {
		go work(tasks) // which does not know the pool, so that the collector can find it unused
	}
	p := &Pool{threads: threads, tasks: tasks, stop: stop}
	runtime.AddCleanup(p, func(tasks chan func()) { stop.Do(func() { close(tasks) }) }, tasks)
	return p
}

// work does tasks until there are no more.
func work(tasks chan func()) {
	for {
		spin(func() bool { return len(tasks) > 0 })
		task, open := <-tasks
		if !open {
			return
		}
		task()
	}
}

// patience is how long a goroutine looks for work before it sleeps. To wake one up
// takes about 50 µs, as long as a whole loop over a photograph: iterations that are
// made of such loops would gain nothing from a second thread.
const patience = 100 * time.Microsecond

// spin returns when the condition holds, or after a time of looking for it.
func spin(holds func() bool) {
	const looks = 32 // between two looks at the clock
	for begin := time.Now(); ; {
		for range looks {
			if holds() {
				return
			}
		}
		if time.Since(begin) > patience {
			return
		}
		runtime.Gosched()
	}
}

// Threads returns how many goroutines a loop can use.
func (p *Pool) Threads() int { return p.threads }

// Close ends the workers. No loop may be running or start later.
func (p *Pool) Close() { p.stop.Do(func() { close(p.tasks) }) }

// For calls body(i) for every i in [0, n) and returns when all calls have. Calls
// run at the same time and in no order, so what they write must not overlap;
// results are the same bits for any number of threads if each call's work depends
// on i alone. After a panic in a body the remaining calls are left out, and the
// panic is raised again in the caller. A body may call For: an inner loop runs on
// its own goroutine and on whatever workers are idle.
func (p *Pool) For(n int, body func(i int)) {
	if n <= 1 || p.threads == 1 {
		for i := range n {
			body(i)
		}
		return
	}
	l := &loop{n: int64(n), body: body, done: make(chan struct{})}
	for range min(p.threads, n) - 1 {
		select {
		case p.tasks <- l.run:
		default:
			// The workers are busy with other loops; this goroutine does the work.
		}
	}
	l.run()
	// A worker that takes the task up only now finds nothing to do: what has to be
	// waited for is the calls, not the workers.
	spin(func() bool { return l.ended.Load() == l.n })
	<-l.done
	runtime.KeepAlive(p)
	if r := l.failed.Load(); r != nil {
		panic(*r)
	}
}

// loop is one For under way.
type loop struct {
	n           int64
	body        func(i int)
	next, ended atomic.Int64
	done        chan struct{} // closed when all n calls have ended
	failed      atomic.Pointer[any]
}

func (l *loop) run() {
	for {
		i := l.next.Add(1) - 1
		if i >= l.n {
			return
		}
		l.call(int(i))
	}
}

func (l *loop) call(i int) {
	defer func() {
		if r := recover(); r != nil {
			l.failed.CompareAndSwap(nil, &r)
		}
		if l.ended.Add(1) == l.n {
			close(l.done)
		}
	}()
	if l.failed.Load() == nil {
		l.body(i)
	}
}

// Range cuts [0, n) into pieces of the given size (the last may be smaller) and
// calls body(lo, hi) for each, as For does. The pieces depend on n and size only.
func (p *Pool) Range(n, size int, body func(lo, hi int)) {
	if size < 1 {
		size = 1
	}
	p.For((n+size-1)/size, func(i int) {
		body(i*size, min((i+1)*size, n))
	})
}
