package denoise

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/normbound"
)

// certificateSchema is the version of the JSON. One that a reader of this version
// would misunderstand needs another number.
const certificateSchema = 1

// certificateJSON is a Certificate as JSON. An infinite radius is null, which JSON has
// instead of numbers it has no words for.
type certificateJSON struct {
	Schema       int           `json:"schema"`
	Weights      string        `json:"weights"`
	Integrator   string        `json:"integrator"`
	Radius       *float64      `json:"radius"`
	Activation   string        `json:"activation"`
	Slope        float64       `json:"slope"`
	Lipschitz    float64       `json:"lipschitz"`
	Shuffle      int           `json:"shuffle,omitempty"`
	Sigmas       []float64     `json:"sigmas,omitempty"`
	Blocks       []blockJSON   `json:"blocks"`
	Uniform      float64       `json:"uniform_averagedness"`
	Composition  float64       `json:"composition_averagedness"`
	Wrappers     []wrapperJSON `json:"wrappers,omitempty"`
	Proven       bool          `json:"proven"`
	Averagedness float64       `json:"averagedness"`
	Reason       string        `json:"reason,omitempty"`
}

type blockJSON struct {
	Upper        float64 `json:"norm"`
	Lower        float64 `json:"norm_at_least"`
	Cells        int     `json:"cells"`
	Length       float64 `json:"length"`
	Steps        int     `json:"steps"`
	Averagedness float64 `json:"step_averagedness"`
}

type wrapperJSON struct {
	Name         string  `json:"name"`
	Theorem      string  `json:"theorem"`
	Averagedness float64 `json:"averagedness"`
}

// MarshalJSON returns the only form that UnmarshalJSON accepts, which weights.Card.Certificate holds. A number that
// is not finite is an error, except for the radius.
func (c Certificate) MarshalJSON() ([]byte, error) {
	j := certificateJSON{
		Schema: certificateSchema, Weights: c.Weights, Integrator: c.Integrator,
		Activation: c.Activation.Name, Slope: c.Activation.Slope, Lipschitz: c.Lipschitz,
		Shuffle: c.Shuffle, Sigmas: c.Sigmas,
		Blocks: []blockJSON{}, Uniform: c.Uniform, Composition: c.Composition,
		Proven: c.Proven, Averagedness: c.Averagedness, Reason: c.Reason,
	}
	if !math.IsInf(c.Radius, 1) {
		j.Radius = &c.Radius
	}
	for _, b := range c.Blocks {
		j.Blocks = append(j.Blocks, blockJSON{b.Norm.Upper, b.Norm.Lower, b.Norm.Cells, b.Length, b.Steps, b.Averagedness})
	}
	for _, w := range c.Wrappers {
		j.Wrappers = append(j.Wrappers, wrapperJSON(w))
	}
	return json.Marshal(j)
}

// UnmarshalJSON sets c to what MarshalJSON wrote. It is strict: every key must be in its place, once, no other key
// may appear, and numbers must have their shortest form. Only white space is free. It checks the form alone;
// Model.Verify checks the content.
func (c *Certificate) UnmarshalJSON(data []byte) error {
	var j certificateJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if j.Schema != certificateSchema {
		return fmt.Errorf("certificate of schema %d, this program reads schema %d", j.Schema, certificateSchema)
	}
	read := Certificate{
		Weights: j.Weights, Integrator: j.Integrator, Radius: math.Inf(1),
		Activation: activation.Function{Name: j.Activation, Slope: j.Slope}, Lipschitz: j.Lipschitz,
		Shuffle: j.Shuffle, Sigmas: j.Sigmas,
		Uniform: j.Uniform, Composition: j.Composition,
		Proven: j.Proven, Averagedness: j.Averagedness, Reason: j.Reason,
	}
	if j.Radius != nil {
		read.Radius = *j.Radius
	}
	for _, b := range j.Blocks {
		read.Blocks = append(read.Blocks, BlockCertificate{
			Norm:   normbound.Bound{Upper: b.Upper, Lower: b.Lower, Cells: b.Cells},
			Length: b.Length, Steps: b.Steps, Averagedness: b.Averagedness,
		})
	}
	for _, w := range j.Wrappers {
		read.Wrappers = append(read.Wrappers, WrapperCertificate(w))
	}
	var given bytes.Buffer
	if err := json.Compact(&given, data); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	again, err := json.Marshal(read)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if !bytes.Equal(given.Bytes(), again) {
		return errors.New("certificate: a key is unknown, missing, twice there or out of its place, or a number is not in its shortest form")
	}
	*c = read
	return nil
}
