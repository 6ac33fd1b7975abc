package weights

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The keys of a card all begin with cardPrefix, so that other programs may add
// their own. formatKey is a custom of PyTorch's users: some loaders look for it.
const (
	cardPrefix  = "averaged."
	formatKey   = "format"
	formatValue = "pt"
)

// cardVersion is the version of the keys. One that a reader of this version would
// misunderstand needs another number.
const cardVersion = "1"

// field is a field of a card in the metadata.
type field struct {
	key string
	// text returns the value; an empty one is left out.
	text func(c *Card) string
	// set parses a value that is not empty, and tells whether it is what the field
	// wants.
	set  func(c *Card, text string) bool
	want string
	// required fields are never empty.
	required bool
}

// fields are those of a card.
var fields = []field{
	textField("name", true, func(c *Card) *string { return &c.Name }),
	textField("architecture", true, func(c *Card) *string { return &c.Architecture.Family }),
	intField("channels", func(c *Card) *int { return &c.Architecture.Channels }),
	intField("width", func(c *Card) *int { return &c.Architecture.Width }),
	intField("blocks", func(c *Card) *int { return &c.Architecture.Blocks }),
	intField("kernel_size", func(c *Card) *int { return &c.Architecture.Kernel }),
	textField("activation", true, func(c *Card) *string { return &c.Architecture.Activation }),
	floatField("activation_slope", func(c *Card) *float64 { return &c.Architecture.Slope }),
	factorField("shuffle", func(c *Card) *int { return &c.Architecture.Shuffle }),
	listField("sigmas", func(c *Card) *[]float64 { return &c.Architecture.Sigmas }),
	listField("guide", func(c *Card) *[]int { return &c.Architecture.Guide }),
	slopeField("guide_slope", func(c *Card) *float64 { return &c.Architecture.GuideSlope }),
	floatField("sigma", func(c *Card) *float64 { return &c.Sigma }),
	textField("integrator", false, func(c *Card) *string { return &c.Integrator }),
	listField("step_sizes", func(c *Card) *[]float64 { return &c.StepSizes }),
	listField("steps", func(c *Card) *[]int { return &c.Steps }),
	textField("training_software", true, func(c *Card) *string { return &c.Provenance.Software }),
	textField("training_data", true, func(c *Card) *string { return &c.Provenance.Data }),
	textField("training_recipe", false, func(c *Card) *string { return &c.Provenance.Recipe }),
	seedField("training_seed", func(c *Card) *uint64 { return &c.Provenance.Seed }),
	intField("training_iterations", func(c *Card) *int { return &c.Provenance.Iterations }),
	textField("licence", true, func(c *Card) *string { return &c.Licence }),
	jsonField("certificate", func(c *Card) *json.RawMessage { return &c.Certificate }),
	textField("checksum", true, func(c *Card) *string { return &c.Checksum }),
}

func textField(key string, required bool, of func(*Card) *string) field {
	return field{
		key:  key,
		text: func(c *Card) string { return *of(c) },
		set: func(c *Card, text string) bool {
			*of(c) = text
			return true
		},
		want:     "text",
		required: required,
	}
}

func intField(key string, of func(*Card) *int) field {
	return field{
		key:  key,
		text: func(c *Card) string { return strconv.Itoa(*of(c)) },
		set: func(c *Card, text string) bool {
			n, err := strconv.Atoi(text)
			*of(c) = n
			return err == nil
		},
		want:     "a whole number",
		required: true,
	}
}

// factorField leaves out the factor 1, which changes nothing, and has no other way to
// write it.
func factorField(key string, of func(*Card) *int) field {
	f := intField(key, of)
	f.required, f.want = false, "a whole number from 2"
	number, set := f.text, f.set
	f.text = func(c *Card) string {
		if *of(c) <= 1 {
			return ""
		}
		return number(c)
	}
	f.set = func(c *Card, text string) bool { return set(c, text) && *of(c) > 1 }
	return f
}

// slopeField leaves out the slope 0, and has no other way to write it.
func slopeField(key string, of func(*Card) *float64) field {
	f := floatField(key, of)
	f.required, f.want = false, "a number above 0"
	number, set := f.text, f.set
	f.text = func(c *Card) string {
		if *of(c) == 0 {
			return ""
		}
		return number(c)
	}
	f.set = func(c *Card, text string) bool { return set(c, text) && *of(c) > 0 }
	return f
}

func seedField(key string, of func(*Card) *uint64) field {
	return field{
		key:  key,
		text: func(c *Card) string { return strconv.FormatUint(*of(c), 10) },
		set: func(c *Card, text string) bool {
			n, err := strconv.ParseUint(text, 10, 64)
			*of(c) = n
			return err == nil
		},
		want:     "a whole number from 0 to 2^64−1",
		required: true,
	}
}

// floatField writes the shortest decimal number that is read as the same float64.
func floatField(key string, of func(*Card) *float64) field {
	return field{
		key:  key,
		text: func(c *Card) string { return strconv.FormatFloat(*of(c), 'g', -1, 64) },
		set: func(c *Card, text string) bool {
			x, err := strconv.ParseFloat(text, 64)
			*of(c) = x
			return err == nil
		},
		want:     "a number",
		required: true,
	}
}

// listField writes an array of JSON, of numbers as in the other fields.
func listField[E float64 | int](key string, of func(*Card) *[]E) field {
	return field{
		key: key,
		text: func(c *Card) string {
			if len(*of(c)) == 0 {
				return ""
			}
			var numbers []string
			for _, e := range *of(c) {
				numbers = append(numbers, fmt.Sprint(e))
			}
			return "[" + strings.Join(numbers, ",") + "]"
		},
		set: func(c *Card, text string) bool {
			err := json.Unmarshal([]byte(text), of(c))
			return err == nil && len(*of(c)) > 0
		},
		want: "a JSON array of numbers, not empty",
	}
}

func jsonField(key string, of func(*Card) *json.RawMessage) field {
	return field{
		key:  key,
		text: func(c *Card) string { return string(*of(c)) },
		set: func(c *Card, text string) bool {
			*of(c) = json.RawMessage(text)
			return true
		},
		want: "a JSON object",
	}
}

// MarshalMetadata returns the card as the metadata of a file. Every key begins with "averaged.", except
// "format", which is "pt". Empty fields and a Shuffle of 1 have no key. It is an error if a field, including
// the checksum, is not as Card describes it.
func (c Card) MarshalMetadata() (map[string]string, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	metadata := map[string]string{formatKey: formatValue, cardPrefix + "version": cardVersion}
	for _, f := range fields {
		if text := f.text(&c); text != "" {
			metadata[cardPrefix+f.key] = text
		}
	}
	return metadata, nil
}

// UnmarshalMetadata sets the card from the metadata of a file. Keys that do not begin with "averaged." are
// ignored. It is an error, and c stays unchanged, if there is no card (ErrNoCard), it has another version, a
// key is unknown, missing or has no value, or a field is not as Card describes it.
func (c *Card) UnmarshalMetadata(metadata map[string]string) error {
	version, ok := metadata[cardPrefix+"version"]
	if !ok {
		return fmt.Errorf("weights: %w: it has no %sversion", ErrNoCard, cardPrefix)
	}
	if version != cardVersion {
		return fmt.Errorf("weights: the card is of version %.80q, this program reads version %s", version, cardVersion)
	}
	known := map[string]bool{"version": true}
	var read Card
	for _, f := range fields {
		known[f.key] = true
		text, ok := metadata[cardPrefix+f.key]
		switch {
		case ok && text == "":
			return fmt.Errorf("weights: %s%s has no value", cardPrefix, f.key)
		case ok:
			if !f.set(&read, text) {
				return fmt.Errorf("weights: %s%s is %.80q, want %s", cardPrefix, f.key, text, f.want)
			}
		case f.required:
			return fmt.Errorf("weights: the metadata has no %s%s", cardPrefix, f.key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if name, ours := strings.CutPrefix(key, cardPrefix); ours && !known[name] {
			return fmt.Errorf("weights: the metadata has the unknown key %.80q", key)
		}
	}
	if err := read.Check(); err != nil {
		return err
	}
	*c = read
	return nil
}
