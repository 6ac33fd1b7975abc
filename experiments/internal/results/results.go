// Package results keeps what an experiment has computed, so that it goes on after an interruption
// and does nothing twice.
package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/internal/atomicfile"
)

// Results are lists of numbers by name, in a file.
type Results struct {
	path string
	kept kept
}

type kept struct {
	// About says what the numbers are of. Numbers of something else are dropped.
	About  string               `json:"about"`
	Values map[string][]float64 `json:"values"`
}

// Open reads the file in a folder, which is made if it is not there.
func Open(folder, name, about string) (*Results, error) {
	r := &Results{path: filepath.Join(folder, name), kept: kept{about, map[string][]float64{}}}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	var there kept
	if err := json.Unmarshal(data, &there); err != nil {
		return nil, fmt.Errorf("%q: %w; remove it to compute anew", r.path, err)
	}
	if there.About == about && there.Values != nil {
		r.kept = there
	}
	return r, nil
}

// Get returns the numbers of a name, which compute makes where they are not there yet. They must
// be finite.
func (r *Results) Get(ctx context.Context, name string, compute func() ([]float64, error)) ([]float64, error) {
	if v, there := r.kept.Values[name]; there {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := compute()
	if err != nil {
		return nil, err
	}
	r.kept.Values[name] = v
	data, err := json.Marshal(r.kept)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// What has been computed is kept also where the context has ended meanwhile.
	return v, atomicfile.WriteBytes(context.WithoutCancel(ctx), r.path, true, data)
}
