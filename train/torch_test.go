package train

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// torchTask is what the script is asked to compute.
type torchTask struct {
	task   map[string]any
	arrays []array
	// want are the results by name, as this package computes them.
	want map[string][]float32
}

// TestPyTorchAgrees: gradients of all parameters, through steps, budget and batch
// normalisation, and the steps of the optimisers, are those that PyTorch's automatic
// differentiation finds in float64, within the rounding of float32.
func TestPyTorchAgrees(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import torch").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skip("no Python 3 with PyTorch on this machine")
	}
	tasks := map[string]torchTask{
		"sgd": optimiserTask(t, Optimiser{Name: SGD, Momentum: 0.9, WeightDecay: 0.01}, "SGD",
			map[string]any{"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
		"adamw": optimiserTask(t, Optimiser{Name: Adam, Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-6, WeightDecay: 0.3}, "AdamW",
			map[string]any{"lr": 0.1, "betas": []float64{0.8, 0.95}, "eps": 1e-6, "weight_decay": 0.3}),
	}
	for _, integrator := range []string{"euler", "heun", "rk4"} {
		for _, constraint := range []Constraint{Adaptive, Budget} {
			tasks[fmt.Sprint(integrator, "-", constraint)] = averagedTask(t, integrator, constraint)
		}
	}
	tasks["dncnn"] = dncnnTask(t)
	folder := t.TempDir()
	arguments := []string{"testdata/check_training.py"}
	for name, task := range tasks {
		b, err := json.Marshal(task.task)
		require.NoError(t, err)
		f := &weights.File{Metadata: map[string]string{"task": string(b)}}
		for _, a := range task.arrays {
			tensor, err := a.tensor()
			require.NoError(t, err)
			f.Tensors = append(f.Tensors, tensor)
		}
		b, err = f.Encode()
		require.NoError(t, err)
		input := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(input, b, 0o600))
		arguments = append(arguments, input, input+"-output")
	}
	said, err := exec.Command(python, arguments...).CombinedOutput()
	require.NoError(t, err, string(said))
	t.Logf("%s", said)
	for name, task := range tasks {
		f, err := weights.ReadFile(filepath.Join(folder, name+"-output"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(f.Tensors), len(task.want), name)
		for of, got := range task.want {
			tensor, err := f.Tensor(of)
			require.NoError(t, err)
			want, err := tensor.Float32s()
			require.NoError(t, err)
			t.Run(name+"/"+of, func(t *testing.T) { requireClose(t, want, got, 2e-5) })
		}
	}
}

func optimiserTask(t *testing.T, o Optimiser, class string, arguments map[string]any) torchTask {
	const n, steps, rate = 5, 7, 0.1
	g := newGenerator(1)
	p := newParameter("values", true, n)
	for i := range p.values {
		p.values[i] = float32(g.uniform() - 0.5)
	}
	initial := array{"values", []int{n}, append([]float32(nil), p.values...)}
	gradients := array{"gradients", []int{steps, n}, nil}
	m := newTestOptimiser(t, o, []*Parameter{p})
	for k := range steps {
		for i := range p.gradient {
			p.gradient[i] = float32(g.uniform() - 0.3)
		}
		gradients.values = append(gradients.values, p.gradient...)
		require.NoError(t, m.step(k, rate, 1))
	}
	return torchTask{
		map[string]any{"kind": "optimiser", "class": class, "arguments": arguments},
		[]array{initial, gradients}, map[string][]float32{"values": p.values},
	}
}

// imagesTask adds noisy and clean images to a task for a network, and what the network
// makes of them.
func imagesTask(t *testing.T, dev backend.Device, c Config, n network, task map[string]any) torchTask {
	s := c.batchShape()
	noisy, clean := gaussianBuffer(t, dev, s, 5), gaussianBuffer(t, dev, s, 6)
	shape := []int{s.N, s.C, s.H, s.W}
	r := torchTask{task: task, want: map[string][]float32{}, arrays: []array{
		{"noisy", shape, downloaded(t, dev, noisy)}, {"clean", shape, downloaded(t, dev, clean)},
	}}
	state, err := n.state()
	require.NoError(t, err)
	r.arrays = append(r.arrays, state...)
	trainer := &trainer{dev: dev, config: c, network: n, batch: &batch{noisy: noisy, clean: clean}}
	trainer.result, err = dev.Alloc(s)
	require.NoError(t, err)
	require.NoError(t, n.zeroGradients())
	loss, err := trainer.pass(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, n.gradients())
	r.want["loss"] = []float32{float32(loss)}
	var names []string
	for _, p := range n.parameters() {
		names = append(names, p.name)
		r.arrays = append(r.arrays, p.array)
		r.want[p.name] = p.gradient
	}
	task["parameters"] = names
	return r
}

func averagedTask(t *testing.T, integrator string, constraint Constraint) torchTask {
	dev := processor(t)
	c := smallConfig()
	c.Integrator, c.Constraint, c.Length, c.Width, c.Accumulate = integrator, constraint, 0.9, 17, 1
	n := newTestAveraged(t, dev, c)
	for _, p := range n.parameters() {
		for i := range p.values {
			p.values[i] *= 1.6
		}
	}
	require.NoError(t, n.update())
	task := map[string]any{
		"kind": "averaged", "integrator": integrator, "constraint": constraint, "slope": c.Slope,
		"length": c.Length, "limit": c.NormLimit,
	}
	var steps []int
	for _, b := range n.blockMetrics() {
		steps = append(steps, b.Steps)
	}
	task["steps"] = steps
	return imagesTask(t, dev, c, n, task)
}

func dncnnTask(t *testing.T) torchTask {
	dev := processor(t)
	c := smallDnCNN()
	c.Width = 17
	n, err := newDnCNN(dev, c)
	require.NoError(t, err)
	t.Cleanup(n.release)
	require.NoError(t, n.initialise(newGenerator(1)))
	g := newGenerator(2)
	for _, b := range n.norms { // away from where training begins
		for i := range b.width() {
			b.scale.values[i] = float32(0.5 + g.uniform())
			b.shift.values[i] = float32(g.uniform() - 0.5)
			b.mean.values[i] = float32(0.2 * g.uniform())
			b.variance.values[i] = float32(0.5 + g.uniform())
		}
	}
	require.NoError(t, n.prepare())
	task := imagesTask(t, dev, c, n, map[string]any{"kind": "dncnn", "layers": c.Blocks, "momentum": runningMomentum})
	for i, b := range n.norms {
		// Mathematically 0; PyTorch's is rounding.
		delete(task.want, fmt.Sprintf("convs.%d.bias", i))
		b.update()
		for _, a := range b.running() {
			task.want[a.name] = a.values
		}
	}
	return task
}
