package denoise

import (
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/nn/guide"
)

// Architecture is the form of an averaged network without its weights. The zero value
// of a field is the paper's network.
type Architecture struct {
	Channels   int                 // of an image; 0 means 3
	Width      int                 // channels that the blocks work on, at least Channels; 0 means 64
	Kernel     int                 // odd height and width of every filter; 0 means 3
	Blocks     int                 // 0 means 10
	Activation activation.Function // the zero value means activation.LeakyReLU(0.01)
	Group      int                 // hidden channels of a ball of Balls, a divisor of Width; 0 means 8, or the largest divisor below
	Integrator rungekutta.Tableau  // the zero value means rungekutta.ForwardEuler
	Shuffle    int                 // as Model.Shuffle
	Sigmas     []float64           // as Model.Sigmas
	Guide      []int               // guide.Model.Widths, or nothing for a network without a guide
	GuideSlope float64             // guide.Model.Slope
}

func (a Architecture) withDefaults() Architecture {
	for _, f := range []struct {
		of    *int
		value int
	}{{&a.Channels, 3}, {&a.Width, 64}, {&a.Kernel, 3}, {&a.Blocks, 10}} {
		if *f.of == 0 {
			*f.of = f.value
		}
	}
	if a.Activation == (activation.Function{}) {
		a.Activation = activation.LeakyReLU(0.01)
	}
	if a.Integrator.Stages() == 0 {
		a.Integrator = rungekutta.ForwardEuler()
	}
	if a.Group == 0 && a.Activation.IsBalls() {
		for a.Group = 8; a.Width%a.Group != 0; {
			a.Group--
		}
	}
	return a
}

// Model is an averaged network as plain numbers, on no device. It appends channels of zeros to an image, up to Width.
// It applies the blocks, and returns the first Channels channels (the paper, section 3.3).
type Model struct {
	Channels, Width int
	Kernel          int // odd
	Activation      activation.Function
	// Integrator is an explicit tableau with a radius, or rungekutta.BackwardEuler.
	Integrator rungekutta.Tableau
	// Shuffle is the factor q by which the blocks see fewer rows and columns than the image has; 0 and 1 mean all.
	// The image is rearranged into q²·Channels channels before the blocks, and back after them (backend.Shuffles).
	// Width must be at least q²·Channels.
	Shuffle int
	// Sigmas are the noise levels, ascending and in (0, 1], for which the blocks have biases and gains or radii. A
	// plain network has none; At makes one for a noise level.
	Sigmas []float64
	Blocks []Block
	// Guide is the network that sets the radii of Balls for every pixel of a photograph (Network.Guide), or nil.
	// Nothing is proven of it, and Network.Apply does not use it. It needs an explicit Integrator.
	Guide *guide.Model
}

// Block is N steps of size h/N of the integrator along −Aᵀσ(Az + b).
type Block struct {
	// Filter holds the weights of A, of shape (Hidden, Width, Kernel, Kernel), in the layout of backend.Filter, which
	// is PyTorch's. Hidden follows from their number.
	Filter []float32
	// Bias is b, one number for each of the Hidden channels, or nil. With Model.Sigmas it has a row of Hidden numbers
	// for each noise level σ, in units of the noise: b is σ times the row.
	Bias []float32
	// Gain has a row of Hidden factors of σ(Az + b) for each of Model.Sigmas, in [0, 1]. nil means 1 everywhere. A
	// plain network must have nil.
	Gain []float32
	// Radius has the radii of Balls, 0 or more, one for each group; the groups are equal parts of the Hidden
	// channels. With Model.Sigmas it has a row of radii for each noise level, in units of the noise. It is nil for
	// other activations.
	Radius []float32
	// Length is h, the time that the block integrates over. 0 means the radius of the integrator, which is the
	// paper's choice, or 1 if that is infinite.
	Length float64
	// Steps is N. With 0, Certify chooses it; Certify may raise another number, but not lower it.
	Steps int
}

// maxBlocks, maxSide and maxChannels keep numbers from a file within reason: a pixel of
// an array of 4096 channels takes 16 KB.
const (
	maxBlocks   = 1 << 12
	maxSide     = 1 << 16
	maxChannels = 1 << 12
	maxShuffle  = 1 << 6 // whose square is maxChannels
)

// Check returns an error unless sizes agree, weights are finite, lengths are 0 or more, and the integrator can be run
// and has a radius.
func (m Model) Check() error {
	_, err := m.radius()
	return err
}

// radius checks the model and returns the radius of its integrator.
func (m Model) radius() (float64, error) {
	switch {
	case m.Channels < 1 || m.Width < m.Channels || m.Width > maxChannels:
		return 0, fmt.Errorf("a network of %d channels on images of %d, must be at least as many as the image has, from 1 to %d", m.Width, m.Channels, maxChannels)
	case m.Shuffle < 0 || m.Shuffle > maxShuffle || m.Width < m.lifted():
		return 0, fmt.Errorf("a network of %d channels on images of %d, shuffled by %d: must be from 0 to %d, and its square times those of the image at most those of the network",
			m.Width, m.Channels, m.Shuffle, maxShuffle)
	case m.Kernel < 1 || m.Kernel%2 == 0 || m.Kernel > maxSide:
		return 0, fmt.Errorf("a kernel of %d×%d, must be odd", m.Kernel, m.Kernel)
	case len(m.Blocks) < 1 || len(m.Blocks) > maxBlocks:
		return 0, fmt.Errorf("%d blocks, must be from 1 to %d", len(m.Blocks), maxBlocks)
	}
	if err := m.Activation.Check(); err != nil {
		return 0, err
	}
	if err := m.checkLevels(); err != nil {
		return 0, err
	}
	if !m.implicit() {
		if err := m.Integrator.Check(); err != nil {
			return 0, err
		}
	}
	r, err := m.Integrator.Radius()
	if err != nil {
		return 0, err
	}
	for i, b := range m.Blocks {
		if err := m.checkBlock(b, r); err != nil {
			return 0, fmt.Errorf("block %d: %w", i, err)
		}
	}
	return r, m.checkGuide()
}

func (m Model) checkBlock(b Block, r float64) error {
	per := m.Width * m.Kernel * m.Kernel
	if len(b.Filter) == 0 || len(b.Filter)%per != 0 {
		return fmt.Errorf("%d weights, must be a multiple of %d (%d channels, %d×%d)", len(b.Filter), per, m.Width, m.Kernel, m.Kernel)
	}
	if err := normbound.CheckFilter(b.Filter, m.filterShape(b)); err != nil {
		return err
	}
	hidden := m.filterShape(b).N
	if hidden > maxChannels {
		return fmt.Errorf("%d hidden channels, must be from 1 to %d", hidden, maxChannels)
	}
	if want := hidden * m.rows(); b.Bias != nil && len(b.Bias) != want {
		return fmt.Errorf("%d biases, must be %d or none", len(b.Bias), want)
	}
	if err := m.checkGains(b, hidden); err != nil {
		return err
	}
	if err := m.checkRadii(b, hidden); err != nil {
		return err
	}
	for i, v := range b.Bias {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("bias %d is %v, must be finite", i, v)
		}
	}
	h := b.length(r)
	if !(h > 0) || math.IsInf(h, 1) || rungekutta.StepSize(h, 1) == 0 || h > math.MaxFloat32 {
		return fmt.Errorf("length %v, must be above 0 and within float32", b.Length)
	}
	if b.Steps < 0 || b.Steps > rungekutta.MaxSteps {
		return fmt.Errorf("%d steps, must be from 1 to %d, or 0 to have them chosen", b.Steps, rungekutta.MaxSteps)
	}
	if b.Steps > 0 && rungekutta.StepSize(h, b.Steps) == 0 {
		return fmt.Errorf("length %v in %d steps: a step is below float32's range", h, b.Steps)
	}
	return nil
}

// length returns h.
func (b Block) length(r float64) float64 {
	switch {
	case b.Length != 0:
		return b.Length
	case math.IsInf(r, 1):
		return 1
	}
	return r
}

// filterShape is (Hidden, Width, Kernel, Kernel).
func (m Model) filterShape(b Block) backend.Shape {
	return backend.Shape{N: len(b.Filter) / (m.Width * m.Kernel * m.Kernel), C: m.Width, H: m.Kernel, W: m.Kernel}
}

// factor returns q, 1 where the image is not rearranged.
func (m Model) factor() int { return max(1, m.Shuffle) }

// lifted returns the number of channels that are lifted to Width.
func (m Model) lifted() int { return m.factor() * m.factor() * m.Channels }

// rows returns the number of rows of biases, gains and radii.
func (m Model) rows() int { return max(1, len(m.Sigmas)) }

// implicit tells whether the integrator is rungekutta.BackwardEuler.
func (m Model) implicit() bool { return m.Integrator.IsBackwardEuler() }

// Parameters returns the number of weights, biases, gains and radii, including those of the guide.
func (m Model) Parameters() int {
	n := 0
	for _, b := range m.Blocks {
		n += len(b.Filter) + len(b.Bias) + len(b.Gain) + len(b.Radius)
	}
	if m.Guide != nil {
		n += m.Guide.Parameters()
	}
	return n
}

// clone returns a model that shares no numbers with m.
func (m Model) clone() Model {
	m.Sigmas, m.Blocks = slices.Clone(m.Sigmas), slices.Clone(m.Blocks)
	for i, b := range m.Blocks {
		m.Blocks[i].Filter, m.Blocks[i].Bias, m.Blocks[i].Gain = slices.Clone(b.Filter), slices.Clone(b.Bias), slices.Clone(b.Gain)
		m.Blocks[i].Radius = slices.Clone(b.Radius)
	}
	if m.Guide != nil {
		m.Guide = m.Guide.Clone()
	}
	return m
}
