package batch

import (
	"encoding/json"
	"strings"
)

// schema is the version of Record in JSON.
const schema = 1

// Record is what is said of a photograph in a line of JSON. The fields that the command restore
// has with --json have the same names and meaning here.
type Record struct {
	Schema  int    `json:"schema"`
	Input   string `json:"input"`
	Output  string `json:"output,omitempty"`
	Skipped bool   `json:"skipped,omitempty"` // it had been done before
	Error   string `json:"error,omitempty"`   // why it failed; the outcome is not set then
	*Outcome
}

// Outcome is what is said of a photograph that was restored.
type Outcome struct {
	// Checksums, SHA-256: of the photograph's file, of the options, and of the result.
	InputSHA256   string `json:"input_sha256,omitempty"`
	OptionsSHA256 string `json:"options_sha256,omitempty"`
	OutputSHA256  string `json:"output_sha256,omitempty"`

	Width     int      `json:"width,omitempty"`
	Height    int      `json:"height,omitempty"`
	Channels  int      `json:"channels,omitempty"`
	Task      string   `json:"task,omitempty"`
	Method    string   `json:"method,omitempty"`
	Sigma     float64  `json:"sigma"`
	Estimated bool     `json:"sigma_estimated"`
	Seconds   float64  `json:"seconds,omitempty"` // of computing, beside other photographs
	Notes     []string `json:"notes,omitempty"`   // what may be doubtful, or was not kept
}

// line is the record as one line of JSON, without its end.
func (r Record) line() (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// failure is the record of a photograph that is not restored.
func failure(input, output, why string) Record {
	return Record{Schema: schema, Input: input, Output: output, Error: oneLine(why)}
}

// oneLine makes one line of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// recordOf is where the record of a result stands.
func recordOf(output string) string { return output + ".json" }
