package networks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// ErrMethod is about a method that does not exist, or is not that of the weights.
var ErrMethod = errors.New("unknown method")

// DefaultMethod returns the method that Denoise uses where none is named: the first of "guided", "general", "strict" and
// "tv" whose weights the program has.
func DefaultMethod() string { return defaultMethod(weights.Embedded()) }

func defaultMethod(embedded []string) string {
	return first(embedded, weights.Guided, weights.General, weights.Strict)
}

// DefaultPrior is DefaultMethod for all other tasks: the first of "original", "guided", "deblur", "general", "strict"
// and "tv".
func DefaultPrior() string { return defaultPrior(weights.Embedded()) }

func defaultPrior(embedded []string) string {
	return first(embedded, weights.Original, weights.Guided, weights.Deblur, weights.General, weights.Strict)
}

// first returns the first of the names that is embedded, or total variation.
func first(embedded []string, names ...string) string {
	for _, name := range names {
		if slices.Contains(embedded, name) {
			return name
		}
	}
	return TV
}

// MethodOf returns the name of the method that the weights with that card are for: their
// own name if they are embedded, and else the name of the integrator, or "dncnn". The
// error wraps ErrMethod if there is none.
func MethodOf(card weights.Card) (string, error) {
	switch family := card.Architecture.Family; family {
	case weights.FamilyDnCNN:
		return family, nil
	case weights.FamilyAveraged:
		if _, err := rungekutta.Named(card.Integrator); err != nil {
			return "", fmt.Errorf("restore: %w for the weights %q: %w", ErrMethod, card.Name, err)
		}
		if card.Name != card.Integrator && isEmbedded(card) {
			return card.Name, nil
		}
		return card.Integrator, nil
	default:
		return "", fmt.Errorf("restore: %w for the weights %q: their architecture is %.40q, must be %q or %q",
			ErrMethod, card.Name, family, weights.FamilyAveraged, weights.FamilyDnCNN)
	}
}

// isEmbedded tells whether a card is that of the embedded weights of its name: other
// weights can have the name too.
func isEmbedded(card weights.Card) bool {
	f, err := weights.Open(card.Name)
	if err != nil {
		return false // there are none of that name
	}
	var own weights.Card
	return own.UnmarshalMetadata(f.Metadata) == nil && own.Checksum == card.Checksum
}
