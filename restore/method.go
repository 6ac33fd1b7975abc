package restore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// The errors about methods, which those that are returned wrap.
var (
	// ErrMethod is about a method that does not exist, or is not that of the weights.
	ErrMethod = errors.New("unknown method")
	// ErrNoWeights is about a network without weights.
	ErrNoWeights = errors.New("the method is a network whose weights this program does not have (it may import weights/research)")
)

// MethodInfo describes a denoiser that Denoise and Deblur can use.
type MethodInfo struct {
	Name        string
	Description string
	// Certified: a proof of averagedness, or of nonexpansiveness, comes with it. That of
	// a network is made of its weights, and verified when they are loaded, or by the
	// library's tests for those that are embedded.
	Certified bool
	// Embedded: it is a network whose weights are part of the library (weights.Open).
	Embedded bool
	// NeedsWeights: a weight file must be given (Weights, Network).
	NeedsWeights bool
}

// The names of methods. A network is there if its weights are (Methods).
const (
	TV          = "tv" // total variation
	General     = weights.General
	Strict      = weights.Strict
	Guided      = weights.Guided
	Original    = weights.Original
	Camera      = weights.Camera
	DeblurPrior = weights.Deblur
	Fast        = weights.Fast
	Small       = weights.Small
	Euler       = weights.Euler
	Heun        = weights.Heun
	RK4         = weights.RK4
	DnCNN       = weights.DnCNN
)

// Methods returns the methods that this build has: the embedded networks that have a name
// of their own, "general", "strict", "guided", "original", "camera", "deblur", "fast"
// and "small"; "tv", total variation; and the networks that have the names of their
// integrators (rungekutta.Integrators), and "dncnn", whose weights are embedded or must be given.
func Methods() []MethodInfo { return methodsWith(weights.Embedded()) }

// methodsWith returns the methods of a build with the given weights.
func methodsWith(embedded []string) []MethodInfo {
	var list []MethodInfo
	for _, name := range []string{weights.General, weights.Strict, weights.Guided, weights.Original, weights.Camera, weights.Deblur, weights.Fast, weights.Small} {
		if slices.Contains(embedded, name) {
			list = append(list, MethodInfo{Name: name, Description: ownDescriptions[name], Certified: true, Embedded: true})
		}
	}
	list = append(list, MethodInfo{
		Name:        TV,
		Description: "total variation on luma and opponent colour axes: the proximal map of a convex energy, ½-averaged",
		Certified:   true,
	})
	network := func(name, description string, certified bool) {
		has := slices.Contains(embedded, name)
		list = append(list, MethodInfo{Name: name, Description: description, Certified: certified, Embedded: has, NeedsWeights: !has})
	}
	for _, t := range rungekutta.Integrators() {
		network(t.Name, integratorDescription(t.Name), true)
	}
	network(weights.FamilyDnCNN, "unconstrained network, for comparison: nothing is proven of it", false)
	return list
}

// DefaultMethod returns the name of the method that Denoise uses where none is named and
// no weights are given: the first of "guided", "general", "strict" and "tv" whose weights the
// program has.
func DefaultMethod() string { return defaultMethodWith(weights.Embedded()) }

func defaultMethodWith(embedded []string) string { return first(embedded, Guided, General, Strict) }

// DefaultPrior returns the name of the method that Deblur and Check use where none is named
// and no weights are given: the first of "original", "guided", "deblur", "general", "strict" and "tv"
// whose weights the program has.
func DefaultPrior() string { return defaultPriorWith(weights.Embedded()) }

func defaultPriorWith(embedded []string) string {
	return first(embedded, Original, Guided, DeblurPrior, General, Strict)
}

// DefaultInversePrior returns the name of the method that Inpaint, Upscale and Solve use where none is
// named and no weights are given: the first of "original", "guided", "general", "strict" and "tv" whose weights
// the program has.
func DefaultInversePrior() string {
	return first(weights.Embedded(), Original, Guided, General, Strict)
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

// ownDescriptions are of the embedded networks that have a name of their own.
var ownDescriptions = map[string]string{
	weights.Strict:   "averaged network without a guide: its result is nonexpansive in the photograph itself, for a given sigma and without adaptation",
	weights.General:  "averaged network for all noise levels, without a guide",
	weights.Guided:   "averaged network whose projections a guide sets at every pixel of the photograph",
	weights.Original: "averaged network with a guide, trained on for what deblurring comes to: the prior of deblurring, inpainting and enlarging",
	weights.Camera:   "averaged network with a guide for the noise of cameras and of JPEG",
	weights.Deblur:   "averaged network for all noise levels, trained as the prior of deblurring without a guide",
	weights.Fast:     "small averaged network with a guide, for large pictures and previews",
	weights.Small:    "small averaged network for all noise levels, without a guide",
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

// ready returns the names of the methods that need no weights to be given, in a list.
func ready() string {
	var names []string
	for _, m := range Methods() {
		if !m.NeedsWeights {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Method chooses the denoiser by name, one of Methods. The default is the method of
// the weights, if some are given, or else DefaultMethod in Denoise and DefaultPrior in
// Deblur and Check. A network needs weights, embedded ones or others that are given. The
// embedded ones are loaded in every call of a function, which takes some milliseconds
// (denoise.Load), and once by a Restorer.
func Method(name string) Option {
	return option{"Method", func(c *settings) error {
		switch {
		case slices.ContainsFunc(Methods(), func(m MethodInfo) bool { return m.Name == name }):
		case slices.Contains(weights.Names(), name):
			return fmt.Errorf("restore: method %q: %w; there is: %s", name, ErrNoWeights, ready())
		default:
			return fmt.Errorf("restore: %w %q, there is: %s", ErrMethod, name, ready())
		}
		c.method = name
		return nil
	}}
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

// settle chooses the method where none is named, or that of the task where no weights are given
// either, opens the embedded weights of the method, and returns an error unless method and
// weights fit each other.
func (c *settings) settle(t task) error {
	if c.prior != nil {
		return c.settlePrior(t)
	}
	card, given, err := c.card()
	switch {
	case err != nil:
		return err
	case given:
		return c.settleFor(card)
	case c.method == "":
		c.method, c.unnamed = t.method(), true
	}
	switch {
	case c.method == TV:
		return nil
	case !slices.Contains(weights.Embedded(), c.method):
		return fmt.Errorf("restore: method %q: %w; give some (Weights), or use method %q", c.method, ErrNoWeights, t.method())
	}
	if c.weights, err = c.kept.open(c.method); err != nil {
		return fmt.Errorf("restore: method %q: %w", c.method, err)
	}
	return nil
}

// method is the one that a task uses where none is named.
func (t task) method() string {
	switch t {
	case taskDenoise, taskDenoiseRaw:
		return DefaultMethod()
	case taskDeblur, taskCheck:
		return DefaultPrior()
	}
	return DefaultInversePrior()
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
