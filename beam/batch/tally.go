package batch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Tally says how many photographs a pipeline that has ended restored, failed to, and skipped.
type Tally struct{ Done, Failed, Skipped int }

// ReadTally counts the lines that a pipeline has left in its output folder.
func ReadTally(ctx context.Context, output string) (Tally, error) {
	var t Tally
	for _, file := range []string{ResultsFile, FailuresFile} {
		err := eachRecord(ctx, join(output, file), func(r Record) {
			switch {
			case r.Error != "":
				t.Failed++
			case r.Skipped:
				t.Skipped++
			default:
				t.Done++
			}
		})
		if err != nil {
			return Tally{}, err
		}
	}
	return t, nil
}

// eachRecord calls f with each record of a file.
func eachRecord(ctx context.Context, file string, f func(Record)) error {
	fs, err := fileSystemOf(ctx, file)
	if err != nil {
		return err
	}
	from, err := fs.OpenRead(ctx, file)
	if err != nil {
		return err
	}
	defer from.Close() // nothing was written, so closing cannot lose anything
	for d := json.NewDecoder(bufio.NewReader(from)); ; {
		var r Record
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
		f(r)
	}
}
