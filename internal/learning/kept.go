package learning

import (
	"bytes"
	"encoding/gob"
	"os"
)

// Kept returns what an earlier call has kept in the file of that name, or else what make makes, which it keeps. Without a
// name nothing is kept.
func Kept[T any](path string, make func() (T, error)) (value T, err error) {
	if path != "" {
		if b, err := os.ReadFile(path); err == nil {
			return value, gob.NewDecoder(bytes.NewReader(b)).Decode(&value)
		} else if !os.IsNotExist(err) {
			return value, err
		}
	}
	if value, err = make(); err != nil || path == "" {
		return value, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return value, err
	}
	return value, os.WriteFile(path, b.Bytes(), 0o644)
}
