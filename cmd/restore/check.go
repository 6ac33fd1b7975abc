package main

import (
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/restore"
)

// checkRecord is the JSON object of check.
type checkRecord struct {
	Schema      int                 `json:"schema"`
	Command     string              `json:"command"`
	Input       string              `json:"input,omitempty"`
	Method      string              `json:"method"`
	Denoiser    []string            `json:"denoiser"` // the prior's certificate, line by line
	Network     *checkedNetwork     `json:"network,omitempty"`
	Certificate *record.Certificate `json:"certificate"`
	Rows        []checkRow          `json:"rows,omitempty"`
	Expansion   record.Number       `json:"expansion"`
	Holds       bool                `json:"holds"`
	ExactOnly   bool                `json:"exact_arithmetic_only"`
	Violations  []string            `json:"violations"`
	Exact       record.Names        `json:"names_base64,omitempty"`
}

// checkedNetwork is what was found of a network.
type checkedNetwork struct {
	*record.Network
	Certificate *denoise.Certificate `json:"certificate"`
	// Rounding bounds what float32 adds to an image in [0, 1], and Measured is what it added to one,
	// both root mean squares; null where they are not known.
	Rounding record.Number `json:"rounding"`
	Measured record.Number `json:"rounding_measured"`
	Attack   attacked      `json:"attack"`
	Repeated *repeated     `json:"repeated,omitempty"`
}

// attacked is the pair of images that the attack found.
type attacked struct {
	Width       int           `json:"width"`
	Height      int           `json:"height"`
	Channels    int           `json:"channels"`
	Constant    record.Number `json:"constant"`   // α, 1 where nothing is proven
	Ratio       record.Number `json:"ratio"`      // ‖T(x) − T(y)‖/‖x − y‖, where Φ = (1−α)·id + α·T
	Rounding    record.Number `json:"rounding"`   // how much of it may be rounding
	Separation  record.Number `json:"separation"` // root mean square
	Evaluations int           `json:"evaluations"`
	NotFinite   bool          `json:"not_finite,omitempty"`
	Gradients   bool          `json:"gradients"`
}

// repeated is the prior applied to the image again and again.
type repeated struct {
	Rows     []repetition `json:"rows"`
	Diverged bool         `json:"diverged"` // the iterates left the range of float32
}

type repetition struct {
	Iteration int           `json:"iteration"`
	Residual  record.Number `json:"residual"`
	Bound     record.Number `json:"bound"` // null where nothing is proven
}

type checkRow struct {
	Iteration int              `json:"iteration"`
	Residuals [2]record.Number `json:"residuals"`
	Bound     record.Number    `json:"bound"`
	Distance  record.Number    `json:"distance"`
}

func (a *app) checkCommand() *cobra.Command {
	var r restoration
	var reads reading
	var kernelFile string
	var boundary choice
	c := &cobra.Command{
		Use:   "check [IN]",
		Short: "Print the certificate of a prior, and test it on an image",
		Long: `Prints what is proven about a prior and about the iteration with it. Given an image,
it also runs the iteration from two starts and compares the residuals with their
bounds. A network is proven anew, and attacked.

The default prior is ` + defaultPrior() + `, tv is total variation, and the others are
networks.
` + embeddedNetworks() + `
The exit status is 0 only if everything that the certificate claims holds.
'restore man check' says what is tested.`,
		Annotations: manual.Story(`The iteration runs from two different starts. The residual of each is printed beside
its proven bound, and the distance of the two, which must never grow. Residuals and
distances are Euclidean norms over all samples.

--weights FILE names another network. The attack is a gradient ascent that looks for
two images that contradict its constant α: it moves them apart, or it is averaged, but
with a larger constant. It prints the largest ratio of distances that it found, of the
map T with prior = (1−α)·identity + α·T. That must not be above 1 by more than
rounding. A network with a guide is frozen for the image, as in the first run of deblur,
and attacked with radii of several kinds. Given an image, the network is applied to it
again and again, without clipping: residuals never grow if it is nonexpansive, and go
to 0 if it is averaged and has a fixed point. --uncertified takes a network as its weights say, without a
certificate, to see what happens then.

Exit status 1: something was contradicted, or nothing is proven.`),
		Example: `  restore check
  restore check --prior tv --kernel motion.png --sigma 0.05 photo.png
  restore check --prior ` + exampleNetwork() + `
  restore check --weights run/weights.safetensors
  restore check photo.png --iterations 50 --json`,
		Args: inputs(0, 1, "one image at most"),
	}
	c.Flags().StringVarP(&kernelFile, "kernel", "k", "", "image `FILE` of the blur kernel; default: a motion blur")
	bindBoundary(c, &boundary, "what lies beyond the frame")
	r.bind(c, selectPrior, "")
	c.Flags().BoolVar(&r.uncertified, "uncertified", false, "take the network as its weights are, and prove nothing of it")
	reads.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		r.prove = true
		opts, err := r.settings(a, c)
		if err != nil {
			return err
		}
		if err := reads.check(); err != nil {
			return err
		}
		if r.uncertified && !r.isNetwork() {
			return usagef("--uncertified is about a network; name one with --prior, or its file with --weights FILE")
		}
		if err := readOnce(append(args, kernelFile, r.weights)...); err != nil {
			return err
		}
		r.Gradients = r.isNetwork() // for the attack
		// Files first: a network takes a while to prove.
		var kernel deblur.Kernel
		if kernelFile != "" {
			k, err := a.readKernel(ctx, kernelFile, reads)
			if err != nil {
				return err
			}
			kernel = k
		}
		var img image.Image
		path, label := "", "check"
		if len(args) == 1 {
			path, label = args[0], args[0]
			m, err := a.read(ctx, path, reads)
			if err != nil {
				return err
			}
			a.measureInRange(path, m)
			img = planarOf(m)
		}
		device, err := a.start(&r.computing, func(dev backend.Device) ([]restore.Option, func(), error) { return r.use(ctx, a, dev) })
		if err != nil {
			return err
		}
		defer device.End()
		bar := a.newProgress(label)
		bar.Show(0, 0)
		defer bar.Clear()
		opts = append(opts, restore.Boundary(boundaryOf(boundary)),
			restore.Progress(func(p backend.Progress) error {
				bar.Show(p.Fraction, p.Residual)
				return ctx.Err()
			}))
		var report *restore.CheckReport
		err = device.Run(opts, func(opts []restore.Option) (err error) {
			report, err = restore.Check(ctx, img, kernel, opts...)
			return err
		})
		if err != nil {
			if path == "" {
				return err
			}
			return fileError{path, err}
		}
		bar.Clear()
		if err := a.printCheck(path, report, r.networkInfo()); err != nil {
			return err
		}
		return judge(report)
	}
	return c
}

// judge is the exit status of check.
func judge(r *restore.CheckReport) error {
	switch {
	case r.Holds:
		return nil
	case len(r.Violations) == 0 && r.Attack != nil && r.Attack.Expansive():
		return fmt.Errorf("check: %s has no certificate, and the attack found two images that it moves apart by a factor of %.4g", r.Method, r.Attack.Ratio)
	case len(r.Violations) == 0 && r.Certificate.Proven:
		return fmt.Errorf("check: no proof for %s in float32: rounding could change a pixel by %.3g/255 (RMS; %.3g measured)",
			r.Method, 255*r.NetworkRounding, 255*r.MeasuredRounding)
	case len(r.Violations) == 0:
		return fmt.Errorf("check: %s has no certificate, so there is nothing to check", r.Method)
	case len(r.Violations) == 1:
		return fmt.Errorf("check: a claim is contradicted: %s", r.Violations[0])
	}
	return fmt.Errorf("check: %d claims are contradicted, the first: %s", len(r.Violations), r.Violations[0])
}

func (a *app) printCheck(path string, r *restore.CheckReport, network *record.Network) error {
	if a.json {
		rec := checkRecord{
			Schema: record.Schema, Command: "check", Input: path, Method: r.Method,
			Denoiser:    lines(r.Denoiser),
			Network:     checkedNetworkOf(r, network),
			Certificate: checkedCertificateOf(r),
			Expansion:   record.Number(r.Expansion), Holds: r.Holds, ExactOnly: r.ExactOnly(), Violations: append([]string{}, r.Violations...),
			Exact: record.ExactNames("input", path),
		}
		for _, row := range r.Rows {
			rec.Rows = append(rec.Rows, checkRow{
				Iteration: row.Iteration, Residuals: [2]record.Number{record.Number(row.Residuals[0]), record.Number(row.Residuals[1])},
				Bound: record.Number(row.Bound), Distance: record.Number(row.Distance),
			})
		}
		return a.printJSON(rec)
	}
	if a.Quiet {
		return nil
	}
	if network == nil {
		a.result("prior %s", r.Method)
	} else {
		a.result("prior %s, weights %q for noise of sigma %.4g", r.Method, network.Name, network.Sigma)
		a.result("  checksum of the file, as in 'restore info': %s", network.Checksum)
	}
	for _, l := range lines(r.Denoiser) {
		a.result("  %s", l)
	}
	a.printNetworkRounding(r)
	a.printAttack(r)
	a.printRepeated(r)
	a.result("iteration T(x) = clip(prior(data step(x)))")
	for _, l := range lines(r.Certificate.String()) {
		a.result("  %s", l)
	}
	a.printRounding(r)
	if len(r.Rows) > 0 {
		a.result("run from two starts, a and b")
		a.result("  %9s  %12s  %12s  %12s  %12s", "iteration", "residual a", "residual b", "bound", "distance")
		for i, row := range r.Rows {
			if a.Verbose || i == len(r.Rows)-1 || isMilestone(row.Iteration) {
				a.result("  %9d  %12.6g  %12.6g  %12s  %12.6g", row.Iteration, row.Residuals[0], row.Residuals[1], bound(row.Bound), row.Distance)
			}
		}
		a.result("  largest ratio of successive distances, errors of computing T included: %.9g", r.Expansion)
	}
	for _, v := range r.Violations {
		a.result("contradicted: %s", v)
	}
	switch {
	case !r.Holds:
		a.result("holds: no")
	case r.ExactOnly():
		a.result("holds: in exact arithmetic only")
	default:
		a.result("holds: yes")
	}
	return nil
}

// printNetworkRounding prints what float32 adds to the network.
func (a *app) printNetworkRounding(r *restore.CheckReport) {
	switch {
	case r.Attack == nil:
	case math.IsInf(r.NetworkRounding, 1):
		a.result("  rounding: no proven bound of what float32 adds")
	default:
		a.result("  rounding: float32 adds at most %.3g of 255 to an image in [0, 1] (proven), root mean square", 255*r.NetworkRounding)
	}
	if r.Attack != nil && !math.IsNaN(r.MeasuredRounding) {
		a.result("  rounding: %.3g of 255 on one image of noise, against float64 (measured)", 255*r.MeasuredRounding)
	}
}

// printRounding prints down to what residual convergence is proven with rounding. In the box no
// residual is above 1.
func (a *app) printRounding(r *restore.CheckReport) {
	switch {
	case !r.Certificate.Converges():
	case math.IsInf(r.Rounding, 1):
		a.result("  rounding       no proven bound of what float32 adds: all of this is about exact arithmetic")
	case !(r.Floor < 1):
		a.result("  rounding       float32 adds at most %.3g of 255 to T(x): too much to prove convergence of what is computed", 255*r.Rounding)
	default:
		a.result("  rounding       float32 adds at most %.3g of 255 to T(x): convergence is proven down to a residual of %.3g of 255, root mean square",
			255*r.Rounding, 255*r.Floor)
	}
}

// printAttack prints what the attack on a network found.
func (a *app) printAttack(r *restore.CheckReport) {
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
	a.result("attack by %s, to find two images %s", way, aim)
	a.result("  %d channels, %d×%d pixels, %d evaluations", r.AttackShape.C, r.AttackShape.W, r.AttackShape.H, r.Attack.Evaluations)
	if r.Attack.NotFinite {
		a.result("  what it makes of an image is not finite")
	}
	verdict := "up to %.6g would be rounding"
	if r.Attack.Ratio > 1+r.Attack.Rounding {
		verdict = "more than the %.6g that would be rounding: " + refuted
	}
	if r.Attack.Constant < 1 {
		a.result("  Φ = (1−α)·id + α·T with α = %.6g is averaged with that constant if T moves no images apart", r.Attack.Constant)
	}
	a.result("  largest ratio ‖%s(x) − %s(y)‖/‖x − y‖ found: %.6g; "+verdict, of, of, r.Attack.Ratio, 1+r.Attack.Rounding)
}

// printRepeated prints what became of an image that a network was applied to again and
// again.
func (a *app) printRepeated(r *restore.CheckReport) {
	if r.Repeated == nil {
		return
	}
	a.result("applied again and again, x ← Φ(x), without clipping")
	a.result("  %9s  %12s  %12s", "iteration", "residual", "bound")
	rows := r.Repeated.Rows
	for i, row := range rows {
		if n := row.Iteration + 1; a.Verbose || i == len(rows)-1 || isMilestone(n) {
			a.result("  %9d  %12.6g  %12s", n, row.Residual, bound(row.Bound))
		}
	}
	switch last := len(rows) - 1; {
	case r.Repeated.Diverged:
		a.result("  after %d iterations the image is not finite: it diverges", last+2)
	case rows[0].Residual > 0:
		a.result("  last residual over the first: %.4g", rows[last].Residual/rows[0].Residual)
	}
}

// bound writes a bound, or that there is none.
func bound(v float64) string {
	if math.IsInf(v, 1) {
		return "none"
	}
	return fmt.Sprintf("%.6g", v)
}

func checkedCertificateOf(r *restore.CheckReport) *record.Certificate {
	c := record.IterationCertificate(r.Certificate)
	c.Rounding, c.ProvenResidual = record.Number(r.Rounding), record.Number(r.Floor)
	c.RoundingCovered = r.Floor < 1
	return c
}

func checkedNetworkOf(r *restore.CheckReport, network *record.Network) *checkedNetwork {
	if network == nil || r.Network == nil || r.Attack == nil {
		return nil
	}
	c := &checkedNetwork{
		Network: network, Certificate: r.Network,
		Rounding: record.Number(r.NetworkRounding), Measured: record.Number(r.MeasuredRounding),
		Attack: attacked{
			Width: r.AttackShape.W, Height: r.AttackShape.H, Channels: r.AttackShape.C,
			Constant: record.Number(r.Attack.Constant), Ratio: record.Number(r.Attack.Ratio), Rounding: record.Number(r.Attack.Rounding), Separation: record.Number(r.Attack.Separation),
			Evaluations: r.Attack.Evaluations, Gradients: r.Attack.Gradients, NotFinite: r.Attack.NotFinite,
		},
	}
	if r.Repeated != nil {
		c.Repeated = &repeated{Rows: []repetition{}, Diverged: r.Repeated.Diverged}
		for _, row := range r.Repeated.Rows {
			c.Repeated.Rows = append(c.Repeated.Rows, repetition{row.Iteration + 1, record.Number(row.Residual), record.Number(row.Bound)})
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

func lines(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n")
}
