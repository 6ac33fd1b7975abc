package restore

import (
	"fmt"
	"strings"
)

// OptionError says that an option was given a value that it cannot have, or given to a task that
// it does not belong to.
type OptionError struct {
	Option string // the name of the function that makes the option, such as "Sigma"
	Value  any    // nil where the task is wrong
	Want   string // what would be right, such as "a number above 0"
	Task   string // the function that the option does not belong to; empty where the value is wrong
}

func (e *OptionError) Error() string {
	if e.Task != "" {
		return fmt.Sprintf("restore: %s is no option of %s, but of %s", e.Option, e.Task, e.Want)
	}
	return fmt.Sprintf("restore: %s %v: want %s", strings.ToLower(e.Option), e.Value, e.Want)
}

// Validate returns the error about the first option whose value is wrong in itself, which any
// call with these options would return: an *OptionError, or one about a method or weights. It
// needs no image, so what a user entered can be refused before anything is read.
func Validate(options ...Option) error {
	_, err := apply(options)
	return err
}
