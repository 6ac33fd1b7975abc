package restore

import (
	"errors"
	"slices"
	"strings"

	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/weights"
)

// ErrMethod is wrapped by errors about a method that does not exist, or that is not the method of the given weights.
var ErrMethod = networks.ErrMethod

// errNoWeights is about a network without weights.
var errNoWeights = errors.New("the method is a network whose weights this program does not have (it may import weights/research)")

// MethodInfo describes a denoiser that Denoise and Deblur can use.
type MethodInfo struct {
	Name        string
	Description string
	// Certified reports that a proof of averagedness or nonexpansiveness comes with the method. The proof for a
	// network is computed from its weights. It is verified when they are loaded, or for embedded weights by the
	// library's tests.
	Certified bool
	// Embedded reports that the method is a network whose weights are part of the program (weights.Open).
	Embedded bool
	// NeedsWeights reports that a weight file must be given (Weights, Network).
	NeedsWeights bool
}

// Methods returns the methods of this program, in this order: the embedded ones of "general", "strict", "guided",
// "original", "camera", "raw", "deblur", "fast" and "small"; "tv", total variation; and the networks named after their
// integrators (rungekutta.Integrators) and "dncnn", whose weights are embedded or must be given.
func Methods() []MethodInfo { return methodsWith(weights.Embedded()) }

// methodsWith returns the methods of a build with the given weights.
func methodsWith(embedded []string) []MethodInfo {
	var list []MethodInfo
	for _, name := range []string{weights.General, weights.Strict, weights.Guided, weights.Original, weights.Camera, weights.Raw, weights.Deblur, weights.Fast, weights.Small} {
		if slices.Contains(embedded, name) {
			list = append(list, MethodInfo{Name: name, Description: ownDescriptions[name], Certified: true, Embedded: true})
		}
	}
	list = append(list, MethodInfo{
		Name:        networks.TV,
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

// ownDescriptions are of the embedded networks that have a name of their own.
var ownDescriptions = map[string]string{
	weights.Strict:   "averaged network without a guide: for a given sigma and without adaptation one map for all photographs",
	weights.General:  "averaged network for all noise levels, without a guide",
	weights.Guided:   "averaged network whose projections a guide sets at every pixel of the photograph",
	weights.Original: "averaged network with a guide, trained on for what deblurring comes to: the prior of deblurring, inpainting and enlarging",
	weights.Camera:   "averaged network with a guide for the noise of cameras and of JPEG",
	weights.Raw:      "averaged network with a guide for the mosaics of raw photographs",
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
