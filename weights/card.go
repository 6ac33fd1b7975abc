package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Card says which network the tensors of a file belong to, where they come from and what is proven of them:
// the model card of Mitchell et al. (2019) in typed fields, as far as a program needs it. SetCard writes it
// into the metadata of a file, and File.Card reads it.
//
// Architecture and Integrator are names. The package that makes networks gives them their meaning, and
// refuses unknown ones. The same holds for the certificate, which this package stores but does not check.
// Names have at most 200 bytes, other texts 65536.
type Card struct {
	// Name is a short name of the weights, such as "euler-colour".
	Name string
	// Architecture is the form of the network that the tensors belong to.
	Architecture Architecture
	// Sigma is the standard deviation of the noise that the network was trained for, on images in [0,1]; in
	// (0,1]. A network with Architecture.Sigmas uses it unless another one is requested.
	Sigma float64
	// Integrator is the name of the Runge-Kutta tableau of a block, such as "euler",
	// "heun" or "rk4"; empty if the blocks are not steps of an integrator.
	Integrator string
	// StepSizes is the length h > 0 of each block, and Steps the number N ≥ 1 of steps of size h/N in the
	// block. Both are empty or have Architecture.Blocks entries, and are empty without an Integrator.
	StepSizes []float64
	Steps     []int
	// Provenance says how the weights were made.
	Provenance Provenance
	// Licence of the weights is an SPDX licence expression, such as "Apache-2.0".
	Licence string
	// Certificate is a JSON object, or empty if nothing is proven. It is kept byte for byte.
	Certificate json.RawMessage
	// Checksum is that of the tensors. SetCard computes it.
	Checksum string
}

// Architecture is the form of a network, in numbers.
type Architecture struct {
	// Family is the name of the architecture, such as "averaged" or "dncnn".
	Family string
	// Channels of an image, Width the channels between the first and the last
	// operation, Blocks the blocks or layers between them, Kernel the odd height and
	// width of every convolution; all at least 1.
	Channels, Width, Blocks, Kernel int
	// Activation is the name of the activation, such as "leakyrelu", and Slope its
	// slope for negative arguments; finite.
	Activation string
	Slope      float64
	// Shuffle is the factor by which an image is rearranged into channels of fewer pixels before the first
	// operation, and back after the last; 0 or 1 is none.
	Shuffle int
	// Sigmas are the noise levels of the rows of the tensors, ascending and in (0,1]; empty if the network is
	// for Card.Sigma alone.
	Sigmas []float64
	// Guide has the number of channels, at least 1, at each scale of the network that sets radii for every
	// pixel of a photograph (package denoise); empty if there is none.
	Guide []int
	// GuideSlope is the slope of the guide's activation for negative arguments, in [0, 1]; 0,
	// ReLU, if there is no guide.
	GuideSlope float64
}

// Provenance says where weights come from. Each text is one line. It may be empty, except for Software and
// Data.
type Provenance struct {
	// Software is the training program, with its version.
	Software string
	// Data is the training data, with the split.
	Data string
	// Recipe is the command or the settings that repeat the training.
	Recipe string
	// Seed is the seed of the training's random numbers.
	Seed uint64
	// Iterations is the number of updates of the weights; not negative.
	Iterations int
}

// ErrNoCard is wrapped by the error about metadata without a card, such as that of
// files made by other programs.
var ErrNoCard = errors.New("the metadata does not describe a network of this library")

// SetCard sets c.Checksum to the checksum of the tensors, and writes c into the
// metadata, in place of a former card; other keys stay. Set the card last: it
// does not follow later changes of the tensors.
func (f *File) SetCard(c Card) error {
	c.Checksum = f.Checksum()
	metadata, err := c.MarshalMetadata()
	if err != nil {
		return err
	}
	for key, value := range f.Metadata {
		if !strings.HasPrefix(key, cardPrefix) && key != formatKey {
			metadata[key] = value
		}
	}
	f.Metadata = metadata
	return nil
}

// Card returns the card of the file. The error wraps ErrNoCard if there is none, and ErrChecksum if the
// tensors are not those that the card was made for. The checksum finds accidents, not forgeries: anyone who
// changes the weights can recompute it. It does not cover the card itself.
func (f *File) Card() (Card, error) {
	var c Card
	if err := c.UnmarshalMetadata(f.Metadata); err != nil {
		return Card{}, err
	}
	if sum := f.Checksum(); sum != c.Checksum {
		return Card{}, fmt.Errorf("weights: %w: the tensors have %s, the card of %q says %s", ErrChecksum, sum, c.Name, c.Checksum)
	}
	return c, nil
}

// Check returns an error unless every field is as Card describes it.
func (c Card) Check() error {
	a, p := c.Architecture, c.Provenance
	const name, line = 200, 1 << 16 // bytes; names stand in messages
	for _, text := range []struct {
		what, is string
		required bool
		most     int
	}{
		{"name", c.Name, true, name},
		{"architecture", a.Family, true, name},
		{"activation", a.Activation, true, name},
		{"integrator", c.Integrator, false, name},
		{"software of the training", p.Software, true, line},
		{"data of the training", p.Data, true, line},
		{"recipe of the training", p.Recipe, false, line},
		{"licence", c.Licence, true, line},
	} {
		if len(text.is) > text.most {
			return fmt.Errorf("weights: the %s has %d bytes, at most %d are allowed", text.what, len(text.is), text.most)
		}
		if text.required && text.is == "" {
			return fmt.Errorf("weights: the card has no %s", text.what)
		}
		if !isLine(text.is) {
			return fmt.Errorf("weights: the %s %.80q is not one line of printable text without spaces around it", text.what, text.is)
		}
	}
	for _, size := range []struct {
		what string
		is   int
	}{{"channels", a.Channels}, {"width", a.Width}, {"blocks", a.Blocks}, {"kernel size", a.Kernel}} {
		if size.is < 1 {
			return fmt.Errorf("weights: the architecture's %s is %d, want at least 1", size.what, size.is)
		}
	}
	switch {
	case a.Kernel%2 == 0:
		return fmt.Errorf("weights: the architecture's kernel size is %d, want an odd number", a.Kernel)
	case !isFinite(a.Slope):
		return fmt.Errorf("weights: the activation's slope is %v, want a finite number", a.Slope)
	case a.Shuffle < 0:
		return fmt.Errorf("weights: the architecture's shuffle is %d, want 0 or more", a.Shuffle)
	case !(c.Sigma > 0 && c.Sigma <= 1):
		return fmt.Errorf("weights: sigma is %v, want a number in (0,1], for images in [0,1]", c.Sigma)
	case p.Iterations < 0:
		return fmt.Errorf("weights: the training has %d iterations, want 0 or more", p.Iterations)
	case c.Integrator == "" && len(c.StepSizes)+len(c.Steps) > 0:
		return errors.New("weights: the card has step sizes or steps, but no integrator")
	case len(c.StepSizes) > 0 && len(c.StepSizes) != a.Blocks:
		return fmt.Errorf("weights: the card has %d step sizes, want one for each of the %d blocks", len(c.StepSizes), a.Blocks)
	case len(c.Steps) > 0 && len(c.Steps) != a.Blocks:
		return fmt.Errorf("weights: the card has %d numbers of steps, want one for each of the %d blocks", len(c.Steps), a.Blocks)
	case len(c.Certificate) > 0 && !isObject(c.Certificate):
		return errors.New("weights: the certificate is not a JSON object in UTF-8")
	case !isChecksum(c.Checksum):
		return fmt.Errorf("weights: the checksum %.80q is not sha256: and %d lower-case hexadecimal digits", c.Checksum, checksumDigits)
	}
	if !(a.GuideSlope >= 0 && a.GuideSlope <= 1) || a.GuideSlope > 0 && len(a.Guide) == 0 {
		return fmt.Errorf("weights: the slope of the guide is %v, want 0 to 1, and 0 without a guide", a.GuideSlope)
	}
	for i, w := range a.Guide {
		if w < 1 {
			return fmt.Errorf("weights: width %d of the guide is %d, want a whole number from 1", i, w)
		}
	}
	for i, s := range a.Sigmas {
		if !(s > 0 && s <= 1) || i > 0 && s <= a.Sigmas[i-1] {
			return fmt.Errorf("weights: noise level %d of the architecture is %v, want a number in (0,1] above the one before", i, s)
		}
	}
	for i, h := range c.StepSizes {
		if !(h > 0 && isFinite(h)) {
			return fmt.Errorf("weights: step size %d is %v, want a finite number above 0", i, h)
		}
	}
	for i, n := range c.Steps {
		if n < 1 {
			return fmt.Errorf("weights: number of steps %d is %d, want at least 1", i, n)
		}
	}
	return nil
}

// isLine tells whether s is text that prints on one line.
func isLine(s string) bool {
	if !utf8.ValidString(s) || strings.TrimSpace(s) != s {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// isObject tells whether b is a JSON object with nothing around it.
func isObject(b []byte) bool {
	return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}' && utf8.Valid(b) && json.Valid(b)
}
