package curves

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/averaged/imaging/train"
)

// longestLine is the most bytes of a line of metrics: beyond any number of blocks and
// noise levels that a configuration may have.
const longestLine = 1 << 20

// ReadMetrics reads the lines of a metrics.jsonl (train.MetricsFile). A last line without
// an end, as a kill leaves it, is passed over; any other line that is not an object of
// metrics is an error that names its number.
func ReadMetrics(r io.Reader) ([]train.Metrics, error) {
	var list []train.Metrics
	s := bufio.NewScanner(r)
	s.Buffer(nil, longestLine)
	s.Split(wholeLines)
	for s.Scan() {
		var m train.Metrics
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("line %d of the metrics: %w", len(list)+1, err)
		}
		list = append(list, m)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("line %d of the metrics: %w", len(list)+1, err)
	}
	return list, nil
}

// wholeLines is a bufio.SplitFunc for lines that have an end.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}
