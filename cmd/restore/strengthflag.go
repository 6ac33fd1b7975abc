package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/averaged/imaging/restore"
)

// strengthFlag is a factor, or a word that stands for one.
type strengthFlag struct{ factor float64 }

var _ pflag.Value = (*strengthFlag)(nil)

// strengthWords are the strengths that have a name, from weak to strong.
var strengthWords = []struct {
	word   string
	factor float64
}{
	{"light", restore.LightStrength},
	{"normal", restore.NormalStrength},
	{"strong", restore.StrongStrength},
}

func (s *strengthFlag) String() string {
	for _, w := range strengthWords {
		if s.factor == w.factor {
			return w.word
		}
	}
	return strconv.FormatFloat(s.factor, 'g', -1, 64)
}

func (s *strengthFlag) Type() string { return "FACTOR" }

func (s *strengthFlag) Set(text string) error {
	var words []string
	for _, w := range strengthWords {
		if text == w.word {
			s.factor = w.factor
			return nil
		}
		words = append(words, w.word)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%swant %s, or a number such as 1.5", didYouMean(text, words), orList(words))
	}
	var wrong *restore.OptionError
	if errors.As(restore.Validate(restore.Strength(v)), &wrong) {
		return fmt.Errorf("want %s", wrong.Want)
	}
	s.factor = v
	return nil
}
