package denoise

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/averaged/imaging/denoise/normbound"
)

// Work is what a network asks for, estimated before anything is computed.
type Work struct {
	// Pixel is the number of multiplications for each pixel of an image. Reading and writing of arrays is counted as
	// multiplications.
	Pixel float64
	// Proof is the max number of float64 multiplications that a proof of the norms takes.
	Proof float64
	// Memory is the number of bytes for each pixel of the part of an image that is computed at a time, or 0 if the
	// device bounds its memory itself.
	Memory float64
}

// DefaultWorkLimit is the default of WorkLimit, in multiplications. It is several times what the largest network of
// the library takes, and minutes on one core of a processor.
const DefaultWorkLimit = 5e13

// maxMemory is the Work.Memory that DefaultWorkLimit goes with.
const maxMemory = 8 << 10

// Total returns the number that WorkLimit limits: the multiplications for a megapixel, plus ten times those of the
// proof, each of which takes about ten times as long.
func (w Work) Total() float64 { return 1e6*w.Pixel + 10*w.Proof }

// Time estimates how long a proof and one application to a megapixel take together on one core.
func (w Work) Time() time.Duration {
	const perSecond = 1e11 // measured with filters of 1 to 64 channels: 0.7e11 to 1.6e11
	return time.Duration(min(w.Total()/perSecond*float64(time.Second), math.MaxInt64/2))
}

// ErrWork is wrapped by every *WorkError.
var ErrWork = errors.New("the network asks for too much work")

// WorkError says that a network asks for more than WorkLimit allows.
type WorkError struct {
	Work  Work
	Limit float64 // of WorkLimit
}

func (e *WorkError) Unwrap() error { return ErrWork }

func (e *WorkError) Error() string {
	if e.Work.Total() <= e.Limit {
		return fmt.Sprintf("%v: %.0f KB of memory for a pixel, at most %.0f KB go with a limit of %.2g multiplications",
			ErrWork, math.Ceil(e.Work.Memory/1024), e.allowedMemory()/1024, e.Limit)
	}
	return fmt.Sprintf("%v: %.2g multiplications to prove it and for a megapixel, about %s on one core; at most %.2g are allowed",
		ErrWork, e.Work.Total(), e.Work.InWords(), e.Limit)
}

func (e *WorkError) allowedMemory() float64 { return maxMemory * max(1, e.Limit/DefaultWorkLimit) }

// InWords returns Time in a suitable unit, such as "3 minutes".
func (w Work) InWords() string {
	d := w.Time()
	switch h := d.Hours(); {
	case h >= 48:
		return fmt.Sprintf("%.0f days", h/24)
	case h >= 2:
		return fmt.Sprintf("%.0f hours", h)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.0f seconds", d.Seconds())
}

// WorkLimit makes New and Load refuse a network, with a *WorkError and before any work, if its proof and one
// application to a megapixel take more than the given number of multiplications (Work.Total). A file of a few
// kilobytes can ask for any number of steps. The limit must be above 0; +Inf allows everything. It also limits the
// memory for each pixel, to 8 KB at DefaultWorkLimit, the default, and in proportion at higher limits.
func WorkLimit(multiplications float64) Option {
	return func(o *options) error {
		if !(multiplications > 0) {
			return fmt.Errorf("a limit of %v multiplications, must be above 0", multiplications)
		}
		o.workLimit = multiplications
		return nil
	}
}

func (o options) checkWork(w Work) error {
	e := &WorkError{Work: w, Limit: o.workLimit}
	if w.Total() > o.workLimit || w.Memory > e.allowedMemory() {
		return e
	}
	return nil
}

// What a stage costs beside its convolutions, in multiplications for a pixel: for each channel, which is read and
// written, and for the calls that it is made of. Measured as Time was.
const (
	perChannel = 256
	perStage   = 1024
)

// Work estimates what a network on a device asks for, without a proof.
func (n *Network) Work() Work { return n.work }

// Work estimates what the network asks for, including a proof of all norms. The numbers of steps are those of c, or
// those of the blocks if c is the zero Certificate.
func (m Model) Work(c Certificate) (Work, error) {
	r, err := m.radius()
	if err != nil {
		return Work{}, err
	}
	w := m.work(r, c, nil)
	if c.Proven {
		return w.verifying(m), nil
	}
	return w.certifying(m), nil
}

// work is without a proof. norms are those of the blocks; nil where they are those of the certificate, or not
// known and taken as 0.
func (m Model) work(r float64, c Certificate, norms []float64) Work {
	w := Work{}
	widest, total := 0, 0
	for i, b := range m.Blocks {
		steps, norm := max(1, b.Steps), 0.0
		if i < len(c.Blocks) {
			steps, norm = max(1, c.Blocks[i].Steps), c.Blocks[i].Norm.Upper
		}
		if norms != nil {
			norm = norms[i]
		}
		stages := max(1, m.Integrator.Stages())
		if m.implicit() {
			kappa := min(1+b.length(r)/float64(steps)*norm*norm, maxCondition)
			list, _ := innerIterations(kappa, 1, DefaultInnerError/kappa)
			stages = len(list) + 1 // and the gradient at the end
		}
		total += min(steps, maxTotalSteps+1)
		hidden := m.filterShape(b).N
		widest = max(widest, hidden)
		w.Pixel += float64(steps) * float64(stages) * float64(2*len(b.Filter)+perChannel*(hidden+m.Width)+perStage)
	}
	if total > maxTotalSteps {
		w.Pixel = 0 // no limit allows it: Verify, Certify and New refuse it for what it is
	}
	q := float64(m.factor())
	w.Pixel /= q * q
	if m.implicit() {
		w.Memory = 4 * float64(4*m.Width+widest+m.aroundBlocks()) / (q * q)
	}
	if m.Guide != nil {
		w.Pixel += m.Guide.Multiplications() / (q * q)
	}
	return w
}

// certifying adds the cost of Certify, verifying that of Verify.
func (w Work) certifying(m Model) Work {
	for _, b := range m.Blocks {
		w.Proof += normbound.ProveCost(m.filterShape(b), 0)
	}
	return w
}

func (w Work) verifying(m Model) Work {
	for _, b := range m.Blocks {
		w.Proof += normbound.VerifyCost(m.filterShape(b))
	}
	return w
}
