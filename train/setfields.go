package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// SetFields returns the JSON of a configuration with the values of assignments, each KEY=VALUE, as in optimiser.name=adam:
// the value is JSON, or a word without quotes. Whether the fields exist, UnmarshalConfig tells.
func SetFields(config []byte, assignments []string) ([]byte, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber() // a seed has more digits than a float64
	if err := d.Decode(&object); err != nil {
		return nil, err
	}
	for _, s := range assignments {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%s: want KEY=VALUE, as in augment=false", s)
		}
		if err := setField(object, strings.Split(key, "."), value); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return json.Marshal(object)
}

// setField sets a field of a JSON object, or of an object in it.
func setField(object map[string]any, path []string, value string) error {
	key := path[0]
	for k := range object {
		// encoding/json reads both, and the one that comes last counts.
		if strings.EqualFold(k, key) {
			key = k
		}
	}
	if len(path) > 1 {
		inner, ok := object[key].(map[string]any)
		if !ok {
			return fmt.Errorf("%s has no fields", key)
		}
		return setField(inner, path[1:], value)
	}
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		v = value // a word needs no quotes
	}
	if old, ok := object[key].(string); ok && old != value {
		if _, isText := v.(string); !isText {
			v = value // nor does a text that looks like a number
		}
	}
	object[key] = v
	return nil
}

// decodingError is an error of encoding/json for people.
func decodingError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s is %s, must be %s", wrong.Field, article(wrong.Value), goType(wrong.Type.String()))
	}
	return errors.New(strings.ReplaceAll(err.Error(), "json: ", ""))
}

func article(word string) string {
	if strings.HasPrefix(word, "a") || strings.HasPrefix(word, "o") {
		return "an " + word
	}
	return "a " + word
}

// goType says what values of a type are.
func goType(t string) string {
	switch {
	case strings.HasPrefix(t, "int") || strings.HasPrefix(t, "uint"):
		return "a whole number in range"
	case strings.HasPrefix(t, "float"):
		return "a number"
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case t == "bool":
		return "true or false"
	case t == "string" || strings.HasSuffix(t, ".Constraint"):
		return "a text"
	}
	return "an object"
}
