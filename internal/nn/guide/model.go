package guide

import (
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
)

// Limit L is the most that the logarithm of a radius is changed by, in either direction: by
// L·tanh(x/L) where the guide says x.
const Limit = 4.0

// MaxFactor is the most that a radius is multiplied by in use. Where a guide is at a loss, as before a
// checkerboard, it may call all of it noise; twice the usual radius does not take it away. On
// photographs the limit costs nothing. Training goes without, for its gradient would end there.
const MaxFactor = 2

// prefix begins the names of a guide's tensors in a weight file.
const prefix = "guide."

// Model is a guide as plain numbers, on no device.
type Model struct {
	// Widths are the channels at each scale, the finest first.
	Widths []int
	// Slope of the activation for negative arguments, in [0, 1]: LeakyReLU, and ReLU with 0.
	Slope float64
	// Layers are those that Layers returns, with their numbers.
	Layers []Layer
}

// Layer is a convolution of the guide.
type Layer struct {
	// Name of its tensors without ".weight" and ".bias", with prefix.
	Name string
	// Out and In are numbers of channels, Kernel the height and width.
	Out, In, Kernel int
	// Weight is of shape (Out, In, Kernel, Kernel), Bias has Out numbers.
	Weight, Bias []float32
}

// maxScales and maxWidth keep numbers from a file within reason.
const (
	maxScales = 8
	maxWidth  = 1 << 12
)

// CheckWidths returns an error unless a guide can have these widths.
func CheckWidths(widths []int) error {
	if len(widths) < 1 || len(widths) > maxScales {
		return fmt.Errorf("a guide of %d scales, must be from 1 to %d", len(widths), maxScales)
	}
	for _, w := range widths {
		if w < 1 || w > maxWidth {
			return fmt.Errorf("a guide of %d channels, must be from 1 to %d", w, maxWidth)
		}
	}
	return nil
}

// CheckSlope returns an error unless a guide's activation can have this slope.
func CheckSlope(slope float64) error {
	if !(slope >= 0 && slope <= 1) {
		return fmt.Errorf("a guide whose activation has the slope %v, must be from 0 to 1", slope)
	}
	return nil
}

// Activation returns the activation of a guide with this slope. Devices know nothing of a slope
// of 0; 2⁻¹⁰⁰ is apart from it by less than any rounding.
func Activation(slope float64) backend.Activation {
	if slope == 0 {
		slope = 0x1p-100
	}
	return backend.Activation{Kind: backend.LeakyReLU, Slope: float32(slope)}
}

// Layers returns the layers of a guide without numbers, in the order of In, then for each scale
// Enter, Leave, Down and Up, then Out: for images of that many channels, as the blocks of the
// averaged network see them, and with so many radii for a pixel.
func Layers(widths []int, channels, radii int) []Layer {
	var list []Layer
	add := func(name string, out, in, kernel int) {
		list = append(list, Layer{Name: prefix + name, Out: out, In: in, Kernel: kernel})
	}
	add("in", widths[0], channels+1, 3)
	for i, w := range widths {
		for _, part := range []string{"enter", "leave"} {
			add(fmt.Sprintf("%s.%d.0", part, i), w, w, 3)
			add(fmt.Sprintf("%s.%d.1", part, i), w, w, 3)
		}
		if i+1 < len(widths) {
			add(fmt.Sprintf("down.%d", i), widths[i+1], 4*w, 1)
			add(fmt.Sprintf("up.%d", i), 4*w, widths[i+1], 1)
		}
	}
	add("out", radii, widths[0], 3)
	return list
}

// perScale is how many layers a scale has, except for the last, which has no way down or up.
const perScale = 6

// EnterAt, LeaveAt, DownAt and UpAt return the places of the layers of a scale in the list of
// Layers: of the first of a block's two, and of the ways to and from the next scale. The first
// and the last of the list are In and Out.
func EnterAt(scale int) int { return 1 + perScale*scale }
func LeaveAt(scale int) int { return EnterAt(scale) + 2 }
func DownAt(scale int) int  { return EnterAt(scale) + 4 }
func UpAt(scale int) int    { return EnterAt(scale) + 5 }

// Check returns an error unless the layers are those of Layers with finite numbers.
func (m *Model) Check(channels, radii int) error {
	if err := CheckWidths(m.Widths); err != nil {
		return err
	}
	if err := CheckSlope(m.Slope); err != nil {
		return err
	}
	want := Layers(m.Widths, channels, radii)
	if len(m.Layers) != len(want) {
		return fmt.Errorf("a guide of %d layers, must be %d", len(m.Layers), len(want))
	}
	for i, l := range m.Layers {
		w := want[i]
		if l.Name != w.Name || l.Out != w.Out || l.In != w.In || l.Kernel != w.Kernel ||
			len(l.Weight) != w.Out*w.In*w.Kernel*w.Kernel || len(l.Bias) != w.Out {
			return fmt.Errorf("layer %d of a guide is %q with %d weights and %d biases, must be %q from %d to %d channels, %d×%d",
				i, l.Name, len(l.Weight), len(l.Bias), w.Name, w.In, w.Out, w.Kernel, w.Kernel)
		}
		for _, values := range [][]float32{l.Weight, l.Bias} {
			for k, v := range values {
				const exponent = 0x7f800000 // all of its bits: infinite, or no number
				if math.Float32bits(v)&exponent == exponent {
					return fmt.Errorf("number %d of layer %q of a guide is %v, must be finite", k, l.Name, v)
				}
			}
		}
	}
	return nil
}

// Clone returns a model that shares no numbers with m.
func (m *Model) Clone() *Model {
	c := &Model{Widths: slices.Clone(m.Widths), Slope: m.Slope, Layers: slices.Clone(m.Layers)}
	for i, l := range c.Layers {
		c.Layers[i].Weight, c.Layers[i].Bias = slices.Clone(l.Weight), slices.Clone(l.Bias)
	}
	return c
}

// Parameters returns the number of weights and biases.
func (m *Model) Parameters() int {
	n := 0
	for _, l := range m.Layers {
		n += len(l.Weight) + len(l.Bias)
	}
	return n
}

// Multiplications returns those of a pixel that the averaged network's blocks see.
func (m *Model) Multiplications() float64 {
	n, share := 0.0, 1.0
	for i, l := range m.Layers {
		scale := (i - 1) / perScale
		if i == 0 || i == len(m.Layers)-1 {
			scale = 0
		}
		share = math.Pow(0.25, float64(scale))
		if l.Kernel == 1 { // the way down and up are at the coarser scale
			share /= 4
		}
		n += share * float64(len(l.Weight))
	}
	return n
}

// Units returns by what an image, less one half, is multiplied for a guide, and the number
// that its last channel is full of, for noise of standard deviation sigma: between units of the
// image, in which low noise is lost, and those of the noise, in which edges have no bound.
func Units(sigma float64) (scale, plane float32) {
	return float32(4 * math.Sqrt(math.Sqrt(reference/sigma))), float32(math.Log2(sigma/reference) / 4)
}

// reference is the noise level at which the scale is 4 and the plane 0.
const reference = 0.15

// Factor returns what a radius is multiplied by where the guide says x: exp(L·tanh(x/L)), to 1e-5
// of its size, and MaxFactor at most. It is from a table whose numbers are linearly interpolated, for
// a photograph has millions of them. Factor(NaN) is NaN.
func Factor(x float32) float32 {
	if !(x > -tableEnd && x < tableEnd) {
		return factorBeyond(x)
	}
	t := (x + tableEnd) * tableSteps
	k := int32(t)
	l := &lines[k]
	return min(MaxFactor, l[0]+float32((t-float32(k))*l[1]))
}

// factorBeyond is Factor of what is not within the table, or no number.
func factorBeyond(x float32) float32 {
	switch {
	case x >= tableEnd:
		return min(MaxFactor, factors[len(factors)-1])
	case x <= -tableEnd:
		return factors[0]
	}
	return x
}

// The table goes from −tableEnd, beyond which tanh is −1 except for 1e-3, in steps of 1/tableSteps.
const tableEnd, tableSteps = 16, 128

var factors = func() (table [2*tableEnd*tableSteps + 1]float32) {
	for i := range table {
		factor, _ := Derived(float32(i)/tableSteps - tableEnd)
		table[i] = float32(factor)
	}
	return table
}()

// lines are the lines between the numbers of the table: the first, and how far the next is from it.
var lines = func() (table [len(factors)][2]float32) {
	for i, f := range factors[:len(factors)-1] {
		table[i] = [2]float32{f, factors[i+1] - f}
	}
	table[len(factors)-1][0] = factors[len(factors)-1] // where a sum is rounded up to the end
	return table
}()

// Code returns the number of the factor that is nearest to Factor(x), of the 256 of Coded, and false
// where x is no number. It is within 1.4 % of it: a radius in a byte, of photographs whose radii
// would take more memory than all else.
func Code(x float32) (code uint8, ok bool) {
	t := (min(max(x, -tableEnd), tableEnd) + tableEnd) * tableSteps
	if t != t {
		return 0, false
	}
	return codes[int(t+0.5)], true
}

// Coded returns the factor of a code. They go from exp(−L) to MaxFactor in equal ratios.
func Coded(code uint8) float32 { return coded[code] }

var coded = func() (table [256]float32) {
	for i := range table {
		table[i] = float32(math.Exp(-Limit + float64(i)*codeStep))
	}
	table[255] = MaxFactor
	return table
}()

// codeStep is the logarithm of the ratio of one factor to the next.
var codeStep = (Limit + math.Log(MaxFactor)) / 255

var codes = func() (table [len(factors)]uint8) {
	for i, f := range factors {
		table[i] = uint8(max(0, math.Round((math.Log(float64(min(f, MaxFactor)))+Limit)/codeStep)))
	}
	return table
}()

// Derived returns exp(L·tanh(x/L)) and the derivative of its logarithm, for training.
func Derived(x float32) (factor, slope float64) {
	t := math.Tanh(float64(x) / Limit)
	return math.Exp(Limit * t), 1 - t*t
}
