package record

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/restore"
)

// Check is the JSON object of check.
type Check struct {
	Schema      int             `json:"schema"`
	Command     string          `json:"command"`
	Input       string          `json:"input,omitempty"`
	Method      string          `json:"method"`
	Denoiser    []string        `json:"denoiser"` // the prior's certificate, line by line
	Network     *checkedNetwork `json:"network,omitempty"`
	Certificate *Certificate    `json:"certificate"`
	Rows        []checkRow      `json:"rows,omitempty"`
	Expansion   Number          `json:"expansion"`
	Holds       bool            `json:"holds"`
	ExactOnly   bool            `json:"exact_arithmetic_only"`
	Violations  []string        `json:"violations"`
	Exact       Names           `json:"names_base64,omitempty"`
}

// checkedNetwork is what was found of a network.
type checkedNetwork struct {
	*Network
	Certificate *denoise.Certificate `json:"certificate"`
	// Rounding bounds what float32 adds to an image in [0, 1], and Measured is what it added to one,
	// both root mean squares; null where they are not known.
	Rounding Number    `json:"rounding"`
	Measured Number    `json:"rounding_measured"`
	Attack   attacked  `json:"attack"`
	Repeated *repeated `json:"repeated,omitempty"`
}

// attacked is the pair of images that the attack found.
type attacked struct {
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	Channels    int    `json:"channels"`
	Constant    Number `json:"constant"`   // α, 1 where nothing is proven
	Ratio       Number `json:"ratio"`      // ‖T(x) − T(y)‖/‖x − y‖, where Φ = (1−α)·id + α·T
	Rounding    Number `json:"rounding"`   // how much of it may be rounding
	Separation  Number `json:"separation"` // root mean square
	Evaluations int    `json:"evaluations"`
	NotFinite   bool   `json:"not_finite,omitempty"`
	Gradients   bool   `json:"gradients"`
}

// repeated is the prior applied to the image again and again.
type repeated struct {
	Rows     []repetition `json:"rows"`
	Diverged bool         `json:"diverged"` // the iterates left the range of float32
}

type repetition struct {
	Iteration int    `json:"iteration"`
	Residual  Number `json:"residual"`
	Bound     Number `json:"bound"` // null where nothing is proven
}

type checkRow struct {
	Iteration int       `json:"iteration"`
	Residuals [2]Number `json:"residuals"`
	Bound     Number    `json:"bound"`
	Distance  Number    `json:"distance"`
}

// CheckOf describes what was found of a prior, and of an image, which has a path then.
func CheckOf(path string, r *restore.CheckReport, network *Network) *Check {
	rec := &Check{
		Schema: Schema, Command: "check", Input: path, Method: r.Method,
		Denoiser:    message.Lines(r.Denoiser),
		Network:     checkedNetworkOf(r, network),
		Certificate: checkedCertificateOf(r),
		Expansion:   Number(r.Expansion), Holds: r.Holds, ExactOnly: r.ExactOnly(), Violations: append([]string{}, r.Violations...),
		Exact: ExactNames("input", path),
	}
	for _, row := range r.Rows {
		rec.Rows = append(rec.Rows, checkRow{
			Iteration: row.Iteration, Residuals: [2]Number{Number(row.Residuals[0]), Number(row.Residuals[1])},
			Bound: Number(row.Bound), Distance: Number(row.Distance),
		})
	}
	return rec
}

// lines are a text for people.
type lines []string

func (found *lines) say(format string, args ...any) {
	*found = append(*found, fmt.Sprintf(format, args...))
}

// CheckLines say for people what was found, with a row of every iteration if verbose.
func CheckLines(r *restore.CheckReport, network *Network, verbose bool) []string {
	var found lines
	if network == nil {
		found.say("prior %s", r.Method)
	} else {
		found.say("prior %s, weights %q for noise of sigma %.4g", r.Method, network.Name, network.Sigma)
		found.say("  checksum of the file, as in 'restore info': %s", network.Checksum)
	}
	for _, l := range message.Lines(r.Denoiser) {
		found.say("  %s", l)
	}
	found.sayNetworkRounding(r)
	found.sayAttack(r)
	found.sayRepeated(r, verbose)
	found.say("iteration T(x) = clip(prior(data step(x)))")
	for _, l := range message.Lines(r.Certificate.String()) {
		found.say("  %s", l)
	}
	found.sayRounding(r)
	if len(r.Rows) > 0 {
		found.say("run from two starts, a and b")
		found.say("  %9s  %12s  %12s  %12s  %12s", "iteration", "residual a", "residual b", "bound", "distance")
		for i, row := range r.Rows {
			if verbose || i == len(r.Rows)-1 || isMilestone(row.Iteration) {
				found.say("  %9d  %12.6g  %12.6g  %12s  %12.6g", row.Iteration, row.Residuals[0], row.Residuals[1], bound(row.Bound), row.Distance)
			}
		}
		found.say("  largest ratio of successive distances, errors of computing T included: %.9g", r.Expansion)
	}
	for _, v := range r.Violations {
		found.say("contradicted: %s", v)
	}
	switch {
	case !r.Holds:
		found.say("holds: no")
	case r.ExactOnly():
		found.say("holds: in exact arithmetic only")
	default:
		found.say("holds: yes")
	}
	return found
}

// sayNetworkRounding says what float32 adds to the network.
func (found *lines) sayNetworkRounding(r *restore.CheckReport) {
	switch {
	case r.Attack == nil:
	case math.IsInf(r.NetworkRounding, 1):
		found.say("  rounding: no proven bound of what float32 adds")
	default:
		found.say("  rounding: float32 adds at most %.3g of 255 to an image in [0, 1] (proven), root mean square", 255*r.NetworkRounding)
	}
	if r.Attack != nil && !math.IsNaN(r.MeasuredRounding) {
		found.say("  rounding: %.3g of 255 on one image of noise, against float64 (measured)", 255*r.MeasuredRounding)
	}
}

// sayRounding says down to what residual convergence is proven with rounding. In the box no
// residual is above 1.
func (found *lines) sayRounding(r *restore.CheckReport) {
	switch {
	case !r.Certificate.Converges():
	case math.IsInf(r.Rounding, 1):
		found.say("  rounding       no proven bound of what float32 adds: all of this is about exact arithmetic")
	case !(r.Floor < 1):
		found.say("  rounding       float32 adds at most %.3g of 255 to T(x): too much to prove convergence of what is computed", 255*r.Rounding)
	default:
		found.say("  rounding       float32 adds at most %.3g of 255 to T(x): convergence is proven down to a residual of %.3g of 255, root mean square",
			255*r.Rounding, 255*r.Floor)
	}
}

// sayAttack says what the attack on a network found.
func (found *lines) sayAttack(r *restore.CheckReport) {
	if r.Attack == nil {
		return
	}
	way := "gradient ascent"
	if !r.Attack.Gradients {
		way = "random ascent"
	}
	of, aim, refuted := "Φ", "that the network moves apart", "it moves images apart"
	if r.Attack.Constant < 1 {
		of, aim, refuted = "T", "that contradict the constant", "the constant is refuted"
	}
	found.say("attack by %s, to find two images %s", way, aim)
	found.say("  %d channels, %d×%d pixels, %d evaluations", r.AttackShape.C, r.AttackShape.W, r.AttackShape.H, r.Attack.Evaluations)
	if r.Attack.NotFinite {
		found.say("  what it makes of an image is not finite")
	}
	verdict := "up to %.6g would be rounding"
	if r.Attack.Ratio > 1+r.Attack.Rounding {
		verdict = "more than the %.6g that would be rounding: " + refuted
	}
	if r.Attack.Constant < 1 {
		found.say("  Φ = (1−α)·id + α·T with α = %.6g is averaged with that constant if T moves no images apart", r.Attack.Constant)
	}
	found.say("  largest ratio ‖%s(x) − %s(y)‖/‖x − y‖ found: %.6g; "+verdict, of, of, r.Attack.Ratio, 1+r.Attack.Rounding)
}

// sayRepeated says what became of an image that a network was applied to again and
// again.
func (found *lines) sayRepeated(r *restore.CheckReport, verbose bool) {
	if r.Repeated == nil {
		return
	}
	found.say("applied again and again, x ← Φ(x), without clipping")
	found.say("  %9s  %12s  %12s", "iteration", "residual", "bound")
	rows := r.Repeated.Rows
	for i, row := range rows {
		if n := row.Iteration + 1; verbose || i == len(rows)-1 || isMilestone(n) {
			found.say("  %9d  %12.6g  %12s", n, row.Residual, bound(row.Bound))
		}
	}
	switch last := len(rows) - 1; {
	case r.Repeated.Diverged:
		found.say("  after %d iterations the image is not finite: it diverges", last+2)
	case rows[0].Residual > 0:
		found.say("  last residual over the first: %.4g", rows[last].Residual/rows[0].Residual)
	}
}

// bound writes a bound, or that there is none.
func bound(v float64) string {
	if math.IsInf(v, 1) {
		return "none"
	}
	return fmt.Sprintf("%.6g", v)
}

func checkedCertificateOf(r *restore.CheckReport) *Certificate {
	c := iterationCertificateOf(r.Certificate)
	c.Rounding, c.ProvenResidual = Number(r.Rounding), Number(r.Floor)
	c.RoundingCovered = r.Floor < 1
	return c
}

func checkedNetworkOf(r *restore.CheckReport, network *Network) *checkedNetwork {
	if network == nil || r.Network == nil || r.Attack == nil {
		return nil
	}
	c := &checkedNetwork{
		Network: network, Certificate: r.Network,
		Rounding: Number(r.NetworkRounding), Measured: Number(r.MeasuredRounding),
		Attack: attacked{
			Width: r.AttackShape.W, Height: r.AttackShape.H, Channels: r.AttackShape.C,
			Constant: Number(r.Attack.Constant), Ratio: Number(r.Attack.Ratio), Rounding: Number(r.Attack.Rounding), Separation: Number(r.Attack.Separation),
			Evaluations: r.Attack.Evaluations, Gradients: r.Attack.Gradients, NotFinite: r.Attack.NotFinite,
		},
	}
	if r.Repeated != nil {
		c.Repeated = &repeated{Rows: []repetition{}, Diverged: r.Repeated.Diverged}
		for _, row := range r.Repeated.Rows {
			c.Repeated.Rows = append(c.Repeated.Rows, repetition{row.Iteration + 1, Number(row.Residual), Number(row.Bound)})
		}
	}
	return c
}

// isMilestone picks 1…10, 20, 30 … 100, 200 …: a table to read, where -v prints
// all rows.
func isMilestone(n int) bool {
	for n > 10 {
		if n%10 != 0 {
			return false
		}
		n /= 10
	}
	return true
}
