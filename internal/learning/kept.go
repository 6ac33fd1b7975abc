package learning

import (
	"encoding/json"
	"os"
)

// Kept returns what an earlier call has kept in the file of that name, or else what make makes, which it keeps. Without a
// name nothing is kept.
func Kept[T any](path string, make func() (T, error)) (value T, err error) {
	if path != "" {
		if b, err := os.ReadFile(path); err == nil {
			return value, json.Unmarshal(b, &value)
		} else if !os.IsNotExist(err) {
			return value, err
		}
	}
	if value, err = make(); err != nil || path == "" {
		return value, err
	}
	b, err := json.Marshal(value)
	if err != nil {
		return value, err
	}
	return value, os.WriteFile(path, b, 0o644)
}
