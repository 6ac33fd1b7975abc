//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall/js"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/spread"
)

// reportEvery is how often progress is reported: people see no more.
const reportEvery = 100 * time.Millisecond

// computePieces computes the jobs that messages bring, one at a time.
func computePieces() {
	dev, fault := cpu.Open(cpu.Threads(1))
	self := js.Global()
	listen(self, func() { post(self, map[string]any{"ready": true}) }, func(m js.Value) {
		reported := time.Now()
		ctx, free := backend.WithProgress(context.Background(), func(p backend.Progress) error {
			if time.Since(reported) >= reportEvery {
				reported = time.Now()
				post(self, map[string]any{"fraction": p.Fraction})
			}
			return nil
		})
		defer free()
		var result []float32
		err := fault
		if err == nil {
			result, err = jobOf(ctx, m, dev)
		}
		if err != nil {
			post(self, map[string]any{"failed": err.Error()})
			return
		}
		data := giveFloats(result)
		post(self, map[string]any{"result": data}, data)
	})
}

func jobOf(ctx context.Context, m js.Value, dev backend.Device) ([]float32, error) {
	var j spread.Job
	if err := json.Unmarshal([]byte(m.Get("job").String()), &j); err != nil {
		return nil, err
	}
	arrays := m.Get("arrays")
	for i := range j.Arrays {
		j.Arrays[i].Data = takeFloats(arrays.Index(i))
	}
	return j.Run(ctx, dev)
}

// worker is an instance in a worker of the browser.
type worker struct {
	js       js.Value
	messages <-chan js.Value
	dead     error
}

// newWorkers starts workers that run the script at url and the compiled module, and waits for them.
func newWorkers(count int, url, module js.Value) ([]spread.Worker, error) {
	started := make([]*worker, count)
	for i := range started {
		w := &worker{js: js.Global().Get("Worker").New(url)}
		w.messages = receive(w.js)
		post(w.js, map[string]any{"role": "piece", "module": module})
		started[i] = w
	}
	var workers []spread.Worker
	for _, w := range started {
		if m := <-w.messages; m.Get("ready").IsUndefined() {
			return nil, failure(m)
		}
		workers = append(workers, w)
	}
	return workers, nil
}

func failure(m js.Value) error {
	return errors.New("a worker of this page failed: " + m.Get("failed").String())
}

// Do implements spread.Worker. What ends early ends with the page's worker, and this one with it.
func (w *worker) Do(_ context.Context, j *spread.Job, progress func(float64)) ([]float32, error) {
	if w.dead != nil {
		return nil, w.dead
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("a job: %w", err)
	}
	arrays, transfer := make([]any, len(j.Arrays)), make([]js.Value, len(j.Arrays))
	for i, a := range j.Arrays {
		transfer[i] = giveFloats(a.Data)
		arrays[i] = transfer[i]
	}
	post(w.js, map[string]any{"job": string(text), "arrays": arrays}, transfer...)
	for m := range w.messages {
		switch {
		case !m.Get("result").IsUndefined():
			return takeFloats(m.Get("result")), nil
		case !m.Get("fraction").IsUndefined():
			progress(m.Get("fraction").Float())
		default:
			err := failure(m)
			if m.Get("ended").Truthy() {
				w.dead = err
			}
			return nil, err
		}
	}
	return nil, errors.New("a worker says nothing more") // receive never ends
}
