package weights

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Tensor is an array of numbers with a name.
type Tensor struct {
	// Name is any valid UTF-8 text except "__metadata__".
	Name string
	// DType is the type of the elements.
	DType DType
	// Shape is the size along each axis, the slowest one first; none may be
	// negative. A scalar has no axes, and one element.
	Shape []int
	// Data holds the elements row by row, little-endian. DType and Shape determine its length.
	Data []byte
}

// NewTensor makes a tensor of the type F16, BF16, F32 or F64 from values, row by row. For F16 and BF16 each
// value is rounded to the nearest one, ties to even, and values too large become infinite.
func NewTensor(name string, dtype DType, shape []int, values []float32) (Tensor, error) {
	t := Tensor{Name: name, DType: dtype, Shape: append([]int{}, shape...)}
	n, err := elements(shape)
	if err != nil {
		return Tensor{}, fmt.Errorf("weights: tensor %.80q: %w", name, err)
	}
	if n != len(values) {
		return Tensor{}, fmt.Errorf("weights: tensor %.80q has %d values, want %d for the shape %v", name, len(values), n, shape)
	}
	size := dtype.Bits() / 8
	t.Data = make([]byte, n*size)
	switch dtype {
	case F16:
		for i, v := range values {
			binary.LittleEndian.PutUint16(t.Data[i*size:], toFloat16(v))
		}
	case BF16:
		for i, v := range values {
			binary.LittleEndian.PutUint16(t.Data[i*size:], toBFloat16(v))
		}
	case F32:
		for i, v := range values {
			binary.LittleEndian.PutUint32(t.Data[i*size:], math.Float32bits(v))
		}
	case F64:
		for i, v := range values {
			binary.LittleEndian.PutUint64(t.Data[i*size:], math.Float64bits(float64(v)))
		}
	default:
		return Tensor{}, fmt.Errorf("weights: tensor %.80q: numbers are not converted to %v, only to F16, BF16, F32 and F64", name, dtype)
	}
	return t, t.check()
}

// Float32s returns the elements of a tensor of the type F16, BF16, F32 or F64, row by row, in a new slice.
// F64 is rounded to the nearest float32, ties to even, and values too large become infinite; the other types
// convert exactly.
func (t Tensor) Float32s() ([]float32, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	size := t.DType.Bits() / 8
	var at func(b []byte) float32
	switch t.DType {
	case F16:
		at = func(b []byte) float32 { return fromFloat16(binary.LittleEndian.Uint16(b)) }
	case BF16:
		at = func(b []byte) float32 { return fromBFloat16(binary.LittleEndian.Uint16(b)) }
	case F32:
		at = func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	case F64:
		at = func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
	default:
		return nil, fmt.Errorf("weights: tensor %.80q: %v is not converted to numbers, only F16, BF16, F32 and F64", t.Name, t.DType)
	}
	values := make([]float32, len(t.Data)/size)
	for i := range values {
		values[i] = at(t.Data[i*size:])
	}
	return values, nil
}

// check returns an error unless t can stand in a file.
func (t Tensor) check() error {
	if !utf8.ValidString(t.Name) {
		return fmt.Errorf("weights: the tensor name %.80q is not valid UTF-8", t.Name)
	}
	if t.Name == metadataKey {
		return fmt.Errorf("weights: a tensor cannot have the name %q, which the format keeps for itself", t.Name)
	}
	size, err := bytesOf(t.DType, t.Shape)
	if err != nil {
		return fmt.Errorf("weights: tensor %.80q: %w", t.Name, err)
	}
	if len(t.Data) != size {
		return fmt.Errorf("weights: tensor %.80q has %d bytes of data, want %d for %v of shape %v", t.Name, len(t.Data), size, t.DType, t.Shape)
	}
	return nil
}

var errTooLarge = errors.New("the shape is too large: its size does not fit an int")

// elements returns the number of elements of a shape. The product of the sizes
// that are not zero must be representable too, so that strides are.
func elements(shape []int) (int, error) {
	product, empty := 1, false
	for _, n := range shape {
		switch {
		case n < 0:
			return 0, fmt.Errorf("the shape has the negative size %d", n)
		case n == 0:
			empty = true
		case product > math.MaxInt/n:
			return 0, errTooLarge
		default:
			product *= n
		}
	}
	if empty {
		return 0, nil
	}
	return product, nil
}

// bytesOf returns the size of the data of a tensor.
func bytesOf(dtype DType, shape []int) (int, error) {
	if !dtype.Valid() {
		return 0, fmt.Errorf("%d is not a DType", uint8(dtype))
	}
	n, err := elements(shape)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt/dtype.Bits() {
		return 0, errTooLarge
	}
	bits := n * dtype.Bits()
	if bits%8 != 0 {
		return 0, fmt.Errorf("%d elements of %v do not fill whole bytes", n, dtype)
	}
	return bits / 8, nil
}
