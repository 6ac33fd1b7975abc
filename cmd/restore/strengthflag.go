package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/restore"
)

// strengthFlag is a factor, or a word that stands for one; for --preview several.
type strengthFlag struct {
	factor float64
	more   []float64 // behind the first one
}

var _ pflag.Value = (*strengthFlag)(nil)

// strengthWords are the strengths that have a name, from weak to strong.
var strengthWords = []struct {
	word   string
	factor float64
}{
	{"light", 0.65},
	{"normal", 1},
	{"strong", 1.6},
}

func (s *strengthFlag) String() string {
	var words []string
	for _, factor := range append([]float64{s.factor}, s.more...) {
		words = append(words, strengthName(factor))
	}
	return strings.Join(words, ",")
}

// strengthName is the word for a factor, or the factor.
func strengthName(factor float64) string {
	for _, w := range strengthWords {
		if factor == w.factor {
			return w.word
		}
	}
	return strconv.FormatFloat(factor, 'g', -1, 64)
}

func (s *strengthFlag) Type() string { return "FACTOR" }

func (s *strengthFlag) Set(text string) error {
	var factors []float64
	for _, word := range strings.Split(text, ",") {
		factor, err := parseStrength(word)
		if err != nil {
			return err
		}
		factors = append(factors, factor)
	}
	s.factor, s.more = factors[0], factors[1:]
	return nil
}

// parseStrength is the factor that a word stands for, or is.
func parseStrength(text string) (float64, error) {
	var words []string
	for _, w := range strengthWords {
		if text == w.word {
			return w.factor, nil
		}
		words = append(words, w.word)
	}
	v, err := parseNumber(text)
	if err != nil {
		return 0, fmt.Errorf("%swant %s, or a number such as 1.5", message.DidYouMean(text, words), message.Or(words))
	}
	var wrong *restore.OptionError
	if v != 0 && errors.As(restore.Validate(restore.Strength(v)), &wrong) {
		return 0, fmt.Errorf("want %s", wrong.Want)
	}
	return v, nil
}
