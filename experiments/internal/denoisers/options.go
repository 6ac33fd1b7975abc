package denoisers

import (
	"slices"
	"strings"

	"github.com/averaged/imaging/experiments/internal/command"
)

// Options are the flags of an experiment on photographs.
type Options struct {
	*command.Flags
	Weights string
	Crop    int
	// Methods, Limit and Seed are those of experiments that compare methods.
	Methods command.Words
	Limit   int
	Seed    uint64

	known []string
}

// NewOptions returns the flags -data, -o, -weights and -crop, which is so many pixels by default.
func NewOptions(name, data string, crop int) *Options {
	o := &Options{Flags: command.NewFlags(name, data)}
	o.StringVar(&o.Weights, "weights", "", "`folder` with euler.safetensors, … in place of the weights that ship")
	o.IntVar(&o.Crop, "crop", crop, "only the middle of each photograph, at most so many pixels wide and high; 0: all of it")
	return o
}

// Compare adds -methods, which is all that there are by default, -limit and -seed.
func (o *Options) Compare(methods []string, limit int) {
	o.known, o.Methods = methods, slices.Clone(methods)
	o.Var(&o.Methods, "methods", "methods to be measured")
	o.IntVar(&o.Limit, "limit", limit, "only the first photographs; 0: all")
	o.Uint64Var(&o.Seed, "seed", 1, "seed of the noise")
}

// Check finds what is wrong with these flags.
func (o *Options) Check() error {
	for _, m := range o.Methods {
		if !slices.Contains(o.known, m) {
			return command.Usagef("no method %q: there is %s", m, strings.Join(o.known, ", "))
		}
	}
	if o.Crop < 0 || o.Limit < 0 {
		return command.Usagef("-crop and -limit must not be negative")
	}
	return nil
}
