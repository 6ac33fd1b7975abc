package denoise

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/denoise/normbound"
)

// CertificateAt returns the certificate of At(sigma) that follows from c, the one of m. It does not bound any norm
// again, so it proves as much as c does (Verify). The numbers of steps are those of c. The constants may be smaller,
// since the norm of each block is multiplied by its largest √g.
func (m Model) CertificateAt(c Certificate, sigma float64) (Certificate, error) {
	r, err := m.radius()
	if err != nil {
		return Certificate{}, err
	}
	sum, err := m.Checksum()
	if err != nil {
		return Certificate{}, err
	}
	if c.Proven && (c.Weights != sum || len(c.Blocks) != len(m.Blocks) || len(c.Wrappers) > 0) {
		return Certificate{}, fmt.Errorf("%w: it is not for these weights", ErrCertificate)
	}
	_, c, err = m.derive(r, c, sigma)
	return c, err
}

// derive returns At(sigma) and its certificate. c has been verified, or proves nothing.
func (m Model) derive(r float64, c Certificate, sigma float64) (Model, Certificate, error) {
	plain, err := m.at(sigma)
	if err != nil || !c.Proven {
		return plain, c, err
	}
	norms, steps := make([]normbound.Bound, len(m.Blocks)), make([]int, len(m.Blocks))
	at := m.between(sigma)
	for i, b := range m.Blocks {
		shape := m.filterShape(b)
		top := 0.0
		for _, root := range at.roots(b.Gain, shape.N) {
			top = max(top, root)
		}
		norms[i].Upper = above(top, c.Blocks[i].Norm.Upper)
		norms[i].Lower = min(normbound.LongestRow(plain.Blocks[i].Filter, shape.N), norms[i].Upper)
		steps[i] = c.Blocks[i].Steps
	}
	derived, err := plain.assemble(r, norms, steps)
	if err != nil {
		return Model{}, Certificate{}, err
	}
	derived.Origin = fmt.Sprintf("for the noise level %.6g, follows from the one for every noise level, of which the map in float32 has %s", sigma, c.Weights)
	if c.Origin != "" {
		derived.Origin += ", " + c.Origin
	}
	return plain, derived, nil
}

// above returns a·b, both 0 or more, rounded up.
func above(a, b float64) float64 {
	if a == 1 || b == 0 {
		return b
	}
	return math.Nextafter(a*b, math.Inf(1))
}
