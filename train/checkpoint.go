package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/averaged/imaging/weights"
)

// checkpointKey is the metadata key of a checkpoint's numbers that are not tensors.
const checkpointKey = "averaged.training"

// The prefixes of the tensors of a checkpoint.
const (
	parameterPrefix = "parameter."
	optimiserPrefix = "optimiser."
	statePrefix     = "state."
	averagePrefix   = "average."
)

// checkpoint is what stands in the metadata.
type checkpoint struct {
	Schema    int          `json:"schema"`
	Iteration int          `json:"iteration"`
	Generator string       `json:"generator"`
	Data      string       `json:"data"`   // digest of the pictures
	Config    string       `json:"config"` // as JSON
	Pending   progressSums `json:"pending"`
}

const checkpointSchema = 1

// arraysOf returns the arrays of a checkpoint by prefix. The state is given.
func (t *trainer) arraysOf(state []array) map[string][]array {
	return map[string][]array{
		parameterPrefix: arraysOf(t.network.parameters()), optimiserPrefix: t.optimiser.arrays(),
		statePrefix: state, averagePrefix: t.average,
	}
}

// encode returns a checkpoint file.
func (t *trainer) encode() ([]byte, error) {
	state, err := t.network.state()
	if err != nil {
		return nil, err
	}
	c := checkpoint{Schema: checkpointSchema, Iteration: t.iteration, Data: t.set.digest, Pending: t.pending}
	if c.Generator, err = t.generator.state(); err != nil {
		return nil, err
	}
	config, err := json.Marshal(t.config)
	if err != nil {
		return nil, err
	}
	c.Config = string(config)
	numbers, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	f := &weights.File{Metadata: map[string]string{checkpointKey: string(numbers)}}
	for prefix, arrays := range t.arraysOf(state) {
		if err := addArrays(f, prefix, arrays); err != nil {
			return nil, err
		}
	}
	return f.Encode()
}

// decode takes up the state of a checkpoint file. After an error the trainer is of no
// use.
func (t *trainer) decode(f *weights.File) error {
	c, err := readCheckpoint(f)
	if err != nil {
		return err
	}
	config, err := json.Marshal(t.config)
	if err != nil {
		return err
	}
	if c.Config != string(config) {
		return errors.New("the checkpoint is of another configuration than config.json says: put back what it was")
	}
	if c.Data != t.set.digest {
		return errors.New("the checkpoint is of a run on other pictures: their folder has changed, or it is another one")
	}
	if err := t.generator.restore(c.Generator); err != nil {
		return err
	}
	t.iteration, t.pending = c.Iteration, c.Pending
	if t.config.AverageDecay > 0 {
		t.average = t.network.effective()
	}
	state, err := t.network.state()
	if err != nil {
		return err
	}
	want := 0
	for prefix, arrays := range t.arraysOf(state) {
		if err := loadArrays(f, prefix, arrays); err != nil {
			return err
		}
		want += len(arrays)
	}
	if want != len(f.Tensors) {
		return fmt.Errorf("the checkpoint has %d tensors, must have %d", len(f.Tensors), want)
	}
	return t.network.restore(state)
}

// readCheckpoint returns the numbers of a checkpoint file.
func readCheckpoint(f *weights.File) (checkpoint, error) {
	text, ok := f.Metadata[checkpointKey]
	if !ok {
		return checkpoint{}, errors.New("the file is not a checkpoint of a training")
	}
	var c checkpoint
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	switch {
	case c.Schema != checkpointSchema:
		return checkpoint{}, fmt.Errorf("checkpoint of schema %d, this program reads schema %d", c.Schema, checkpointSchema)
	case c.Iteration < 0 || c.Iteration > maxCount || c.Pending.Iterations < 0 || c.Pending.Iterations > c.Iteration:
		return checkpoint{}, fmt.Errorf("checkpoint of iteration %d, %d of them unreported", c.Iteration, c.Pending.Iterations)
	}
	return c, nil
}
