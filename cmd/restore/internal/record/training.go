package record

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/train"
)

// Training is the JSON object about a report of train.
type Training struct {
	Schema     int    `json:"schema"`
	Command    string `json:"command"`
	Run        string `json:"run"`
	Iterations int    `json:"iterations"` // in all
	// SecondsLeft is an estimate.
	SecondsLeft Number `json:"seconds_left"`
	*train.Metrics
}

// Trained is the JSON object about a run that has ended.
type Trained struct {
	Schema      int                  `json:"schema"`
	Command     string               `json:"command"`
	Run         string               `json:"run"`
	Done        bool                 `json:"done"`
	Iterations  int                  `json:"iterations"`
	Weights     string               `json:"weights"`
	Curves      string               `json:"curves"`
	Name        string               `json:"name"`
	Licence     string               `json:"licence"`
	Proven      bool                 `json:"proven"`
	Averaged    Number               `json:"averagedness"` // null if not proven
	Certificate *denoise.Certificate `json:"certificate,omitempty"`
	Seconds     Number               `json:"seconds"`
}

// TrainingLine is a report of train for people.
func TrainingLine(p train.Step) string {
	m := p.Metrics
	digits := len(fmt.Sprint(p.Iterations))
	parts := []string{
		fmt.Sprintf("%*d/%d", digits, m.Iteration, p.Iterations),
		fmt.Sprintf("loss %.6f", m.Loss),
		fmt.Sprintf("PSNR %.2f dB", m.PSNR),
		fmt.Sprintf("rate %.2e", m.LearningRate),
		fmt.Sprintf("%.1f images/s", m.ImagesPerSecond),
	}
	if len(m.Blocks) > 0 {
		least, most, steps := math.Inf(1), 0.0, 0
		for _, b := range m.Blocks {
			least, most, steps = min(least, b.Norm), max(most, b.Norm), steps+b.Steps
		}
		parts = append(parts, fmt.Sprintf("norms %.2f to %.2f, %s", least, most, message.Count(steps, "step")))
	}
	for _, v := range m.Validation {
		parts = append(parts, fmt.Sprintf("validation %.2f dB (sigma %.4g)", v.PSNR, v.Sigma))
	}
	return strings.Join(append(parts, terminal.Clock(p.Remaining)+" left"), "  ")
}

// CertificateSummary is what a certificate proves, in a line.
func CertificateSummary(c denoise.Certificate) string {
	if len(c.Blocks) == 0 {
		return "a network without constraint, nothing is proven"
	}
	norm, steps := 0.0, 0
	for _, b := range c.Blocks {
		norm, steps = max(norm, b.Norm.Upper), steps+b.Steps
	}
	claim := "nothing is proven: " + c.Reason
	switch {
	case c.Proven && c.Averagedness < 1:
		claim = fmt.Sprintf("proven to be %.6g-averaged", c.Averagedness)
	case c.Proven:
		claim = "proven to be nonexpansive"
	}
	return fmt.Sprintf("%s; %s in %s, norms at most %.4g", claim, message.Count(steps, "step"), message.Count(len(c.Blocks), "block"), norm)
}

// RangeTest is the JSON object about a range test.
type RangeTest struct {
	Schema    int          `json:"schema"`
	Command   string       `json:"command"`
	RangeTest rangeOutcome `json:"range_test"`
	Picture   string       `json:"picture,omitempty"`
	Seconds   Number       `json:"seconds"`
}

type rangeOutcome struct {
	Minimum  Number       `json:"minimum"`
	Maximum  Number       `json:"maximum"`
	Diverged bool         `json:"diverged"`
	Points   []rangePoint `json:"points"`
}

type rangePoint struct {
	LearningRate Number `json:"learning_rate"`
	Loss         Number `json:"loss"`
	Smoothed     Number `json:"smoothed"`
}

// RangeTestOf describes a range test, which took so long, and of which there may be a picture.
func RangeTestOf(r train.RangeReport, picture string, took time.Duration) *RangeTest {
	o := rangeOutcome{Minimum: Number(r.Minimum), Maximum: Number(r.Maximum), Diverged: r.Diverged}
	for _, p := range r.Points {
		o.Points = append(o.Points, rangePoint{Number(p.LearningRate), Number(p.Loss), Number(p.Smoothed)})
	}
	return &RangeTest{Schema, "train", o, picture, Number(took.Seconds())}
}
