package reportpage

import (
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/htmlreport"
	"github.com/averaged/imaging/pnp"
)

// residualChart draws the residuals of an iteration beside their bound, root mean squares.
func residualChart(r pnp.Report) *htmlreport.Chart {
	root := math.Sqrt(r.Samples)
	residual := htmlreport.Series{Name: "residual ‖x − T(x)‖"}
	bound := htmlreport.Series{Name: "proven bound of the smallest so far"}
	for k, v := range r.Residuals {
		x := float64(k + 1)
		residual.X, residual.Y = append(residual.X, x), append(residual.Y, v/root)
		bound.X, bound.Y = append(bound.X, x), append(bound.Y, r.Bound(k)/root)
	}
	c := &htmlreport.Chart{
		Title: "Residuals of the last run", X: "iteration", Y: "root mean square, 1 is white", LogY: true,
		Series: []htmlreport.Series{residual},
	}
	if r.Certificate.Converges() {
		c.Series = append(c.Series, bound)
		c.Note = "The bound holds for every image, whatever it shows; most runs are far below it."
	} else {
		c.Note = "Of this iteration nothing is proven, so there is no bound."
	}
	switch n := len(r.Rejected); n {
	case 0:
	case 1:
		c.Note += " One point was given up by the safeguard."
	default:
		c.Note += fmt.Sprintf(" %d points were given up by the safeguard.", n)
	}
	return c
}

// gapChart draws the duality gaps of total variation.
func gapChart(gaps []htmlreport.Series, tolerance float64) *htmlreport.Chart {
	if len(gaps) == 1 {
		gaps[0].Name = "relative duality gap"
	}
	last := 0.0
	for _, g := range gaps {
		last = math.Max(last, slices.Max(g.X))
	}
	return &htmlreport.Chart{
		Title: "Duality gaps", X: "iteration", Y: "relative gap", LogY: true,
		Series: append(gaps, htmlreport.Series{Name: "tolerance", X: []float64{1, last}, Y: []float64{tolerance, tolerance}}),
		Note:   "The gap is a proven bound itself: the result is no further from the exact one than √(2·gap). Axes of colour that are solved apart have one each.",
	}
}
