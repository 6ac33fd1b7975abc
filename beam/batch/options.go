package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// The tasks.
const (
	Denoise = "denoise"
	Deblur  = "deblur" // the kernel is estimated from each photograph
)

// Options say what becomes of a photograph. They have the names and the meaning that the flags of
// the command restore have, and with the same ones the results are the same bytes. The zero value
// of a field leaves the choice to package restore.
type Options struct {
	Task     string  `json:"task"`               // Denoise or Deblur
	Method   string  `json:"method,omitempty"`   // of restore.Methods, those that need no weight file
	Sigma    float64 `json:"sigma,omitempty"`    // standard deviation of the noise, where 1 is white
	Strength float64 `json:"strength,omitempty"` // a factor on the strength that follows from the noise
}

// Validate returns what is wrong with the options, in one line.
func (o Options) Validate() error {
	if o.Task != Denoise && o.Task != Deblur {
		return fmt.Errorf("task %q: want %s or %s", o.Task, Denoise, Deblur)
	}
	if names := methods(); o.Method != "" && !slices.Contains(names, o.Method) {
		return fmt.Errorf("method %q: want one of %s", o.Method, strings.Join(names, ", "))
	}
	err := restore.Validate(o.restoreOptions()...)
	var wrong *restore.OptionError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s %v: want %s", strings.ToLower(wrong.Option), wrong.Value, wrong.Want)
	}
	return err
}

// methods are the names of the methods that need no weight file.
func methods() []string {
	var names []string
	for _, m := range restore.Methods() {
		if !m.NeedsWeights {
			names = append(names, m.Name)
		}
	}
	return names
}

func (o Options) restoreOptions() []restore.Option {
	var options []restore.Option
	if o.Method != "" {
		options = append(options, restore.Method(o.Method))
	}
	if o.Sigma != 0 {
		options = append(options, restore.Sigma(o.Sigma))
	}
	if o.Strength != 0 {
		options = append(options, restore.Strength(o.Strength))
	}
	return options
}

// computation is raised whenever the code makes other results of the same options and weights.
const computation = 1

// fingerprint is a checksum of all but the photograph that a result follows from: the options, and
// the weights that this program has.
func (o Options) fingerprint() (string, error) {
	of := struct {
		Computation int               `json:"computation"`
		Options     Options           `json:"options"`
		Weights     map[string]string `json:"weights"`
	}{computation, o, map[string]string{}}
	for _, name := range weights.Embedded() {
		f, err := weights.Open(name)
		if err != nil {
			return "", err
		}
		card, err := f.Card()
		if err != nil {
			return "", err
		}
		of.Weights[name] = card.Checksum
	}
	text, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	return checksum(text), nil
}

// checksum is the SHA-256 of bytes, in hexadecimal digits.
func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
