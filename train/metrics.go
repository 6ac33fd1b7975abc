package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/averaged/imaging/internal/atomicfile"
)

// Metrics is a line of metrics.jsonl, for the iterations since the line before.
type Metrics struct {
	// Iteration is the number of updates made so far.
	Iteration int `json:"iteration"`
	// Loss is the mean squared error, weighted with levels (Config.LossExponent), PSNR the
	// mean squared error in dB for the peak 1, and GradientNorm the Euclidean norm of all
	// gradients: means over the iterations since the line before.
	Loss         float64 `json:"loss"`
	PSNR         float64 `json:"psnr"`
	GradientNorm float64 `json:"gradient_norm"`
	// LearningRate is the one of the last update.
	LearningRate float64 `json:"learning_rate"`
	// Blocks of an averaged network, after the last update.
	Blocks []BlockMetrics `json:"blocks,omitempty"`
	// ImagesPerSecond counts crops, forward and backward, without validation.
	ImagesPerSecond float64 `json:"images_per_second"`
	// Validation has the results of a validation, if there was one.
	Validation []ValidationMetrics `json:"validation,omitempty"`
}

// BlockMetrics describes a block of an averaged network.
type BlockMetrics struct {
	// Norm is ‖A‖ as the power iteration estimates it.
	Norm float64 `json:"norm"`
	// Steps is N.
	Steps int `json:"steps"`
}

// ValidationMetrics is the mean PSNR over the validation pictures at one noise level, in dB for the peak 1,
// without clipping. With Config.Deblur it is for deblurring crops of their middles under camera shake, with
// clipping. With a moving average it is the average's.
type ValidationMetrics struct {
	Sigma float64 `json:"sigma"`
	PSNR  float64 `json:"psnr"`
}

// metricsLog is the file metrics.jsonl.
type metricsLog struct {
	file *os.File
	size int64
}

// openMetrics opens the log, and takes away the lines after an iteration, which a run
// that goes on from there writes again, and what is not a whole line.
func openMetrics(path string, iteration int) (*metricsLog, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	kept := linesUntil(b, iteration)
	if len(kept) < len(b) {
		if err := atomicfile.WriteBytes(context.Background(), path, true, kept); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	return &metricsLog{f, int64(len(kept))}, nil
}

// linesUntil returns the lines up to an iteration, as far as they can be read.
func linesUntil(b []byte, iteration int) []byte {
	at := 0
	for at < len(b) {
		end := bytes.IndexByte(b[at:], '\n')
		var m Metrics
		if end < 0 || json.Unmarshal(b[at:at+end], &m) != nil || m.Iteration > iteration {
			break
		}
		at += end + 1
	}
	return b[:at]
}

// append writes a line, all of it or, after an error, nothing.
func (l *metricsLog) append(m Metrics) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	b = append(b, '\n')
	if _, err := l.file.Write(b); err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(b))
	return nil
}

// sync makes sure that the lines are on the disk.
func (l *metricsLog) sync() error { return l.file.Sync() }

func (l *metricsLog) close() error { return l.file.Close() }
