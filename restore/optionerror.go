package restore

import (
	"fmt"
	"strings"
)

// OptionError says that an option was given a value that it cannot have.
type OptionError struct {
	Option string // the name of the function that makes the option, such as "Sigma"
	Value  any
	Want   string // what would be right, such as "a number above 0"
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("restore: %s %v: want %s", strings.ToLower(e.Option), e.Value, e.Want)
}

// Validate returns the error about the first option whose value is wrong in itself, which any
// call with these options would return: an *OptionError, or one about a method or weights. It
// needs no image, so what a user entered can be refused before anything is read.
func Validate(options ...Option) error {
	_, err := apply(options)
	return err
}
