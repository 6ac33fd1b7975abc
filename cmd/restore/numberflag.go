package main

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// number is a flag that is an integer or a float64. It takes the numbers that people write. The syntax of Go, which pflag
// takes, has more: 010 is eight there, and NaN is a number.
type number struct{ pflag.Value }

// Set implements pflag.Value.
func (n number) Set(text string) error {
	if n.Type() == "float64" {
		if !decimalNumber.MatchString(text) {
			return errors.New("want a number")
		}
		return n.Value.Set(text)
	}
	v, is := new(big.Int).SetString(text, 10)
	if !is {
		return errors.New("want a whole number in range")
	}
	return n.Value.Set(v.String()) // without zeros before it
}

// bindNumbers has the numbers among the flags of all commands be read by number.
func bindNumbers(c *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "int", "int64", "uint64", "float64":
				f.Value = number{f.Value}
			}
		})
	}
	for _, below := range c.Commands() {
		bindNumbers(below)
	}
}

var decimalNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// parseNumber reads a finite number in decimal digits.
func parseNumber(text string) (float64, error) {
	if !decimalNumber.MatchString(text) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}
