package restore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
)

// The errors about methods, which those that are returned wrap.
var (
	// ErrMethod is about a method that does not exist, or is not that of the weights.
	ErrMethod = errors.New("unknown method")
	// ErrNoWeights is about a network without weights.
	ErrNoWeights = errors.New("the method is a network, and this version ships no weights")
)

// Method describes a denoiser that Denoise and Deblur can use.
type Method struct {
	Name        string
	Description string
	// Certified: a proof of averagedness, or of nonexpansiveness, comes with it. That of
	// a network is made of its weights, and verified when they are loaded.
	Certified bool
	// NeedsWeights: a weight file must be given (Weights, UseNetwork).
	NeedsWeights bool
}

// methodTV is the name of total variation.
const methodTV = "tv"

// Methods returns the methods that this build has, the default first. The networks
// have the names of their integrators (denoise.Integrators), and "dncnn".
func Methods() []Method {
	list := []Method{{
		Name:        methodTV,
		Description: "total variation on luma and opponent colour axes: the proximal map of a convex energy, ½-averaged",
		Certified:   true,
	}}
	for _, t := range denoise.Integrators() {
		list = append(list, Method{
			Name:        t.Name,
			Description: integratorDescription(t.Name),
			Certified:   true, NeedsWeights: true,
		})
	}
	return append(list, Method{
		Name:         denoise.FamilyDnCNN,
		Description:  "unconstrained network, for comparison: nothing is proven of it",
		NeedsWeights: true,
	})
}

func integratorDescription(name string) string {
	switch name {
	case "euler":
		return "network of Euler steps: each is averaged, and so is the whole"
	case "heun":
		return "network of steps of Heun's method, order 2: nonexpansive"
	case "rk4":
		return "network of classical Runge-Kutta steps, order 4: nonexpansive"
	case "ssprk3":
		return "network of strong-stability-preserving Runge-Kutta steps, order 3: nonexpansive"
	case "kutta3":
		return "network of steps of Kutta's method, order 3: nonexpansive"
	case "backward-euler":
		return "network of implicit Euler steps: each is a proximal map, and the whole is averaged"
	}
	return "network of Runge-Kutta steps (" + name + "): nonexpansive"
}

// methodNames returns the names of Methods.
func methodNames() []string {
	var names []string
	for _, m := range Methods() {
		names = append(names, m.Name)
	}
	return names
}

// UseMethod chooses the denoiser by name, one of Methods. The default is the method of
// the weights, if some are given, or else the first of Methods. A network
// needs weights.
func UseMethod(name string) Option {
	return func(c *settings) error {
		names := methodNames()
		if !slices.Contains(names, name) {
			return fmt.Errorf("restore: %w %q, there is: %s", ErrMethod, name, strings.Join(names, ", "))
		}
		c.method = name
		return nil
	}
}

// MethodOf returns the name of the method that the weights with that card are for. The
// error wraps ErrMethod if there is none.
func MethodOf(card weights.Card) (string, error) {
	switch family := card.Architecture.Family; family {
	case denoise.FamilyDnCNN:
		return family, nil
	case denoise.FamilyAveraged:
		if _, err := denoise.IntegratorNamed(card.Integrator); err != nil {
			return "", fmt.Errorf("restore: %w for the weights %q: %w", ErrMethod, card.Name, err)
		}
		return card.Integrator, nil
	default:
		return "", fmt.Errorf("restore: %w for the weights %q: their architecture is %.40q, must be %q or %q",
			ErrMethod, card.Name, family, denoise.FamilyAveraged, denoise.FamilyDnCNN)
	}
}

// settle chooses the method where none is named, and returns an error unless method
// and weights fit each other.
func (c *settings) settle() error {
	card, given, err := c.card()
	switch {
	case err != nil:
		return err
	case given:
		return c.settleFor(card)
	case c.method == "":
		c.method = methodTV
	case c.method != methodTV:
		return fmt.Errorf("restore: method %q: %w; give some (Weights), or use method %q", c.method, ErrNoWeights, methodTV)
	}
	return nil
}

func (c *settings) settleFor(card weights.Card) error {
	method, err := MethodOf(card)
	if err != nil {
		return err
	}
	if c.method != "" && c.method != method {
		return fmt.Errorf("restore: %w %q for the weights %q, which are of method %q", ErrMethod, c.method, card.Name, method)
	}
	c.method = method
	return nil
}
