package cifar

import (
	"fmt"
	"os"
	"path/filepath"
)

// record is the length of a picture in a binary file: a label and the planes.
const record = 1 + Samples

// largestBinary is far above the 30 MB of a published file.
const largestBinary = 1 << 30

// parseBinary adds the records of a binary file to the set: for each picture a byte with the
// label and its levels.
func (s *Set) parseBinary(data []byte) error {
	if len(data) == 0 || len(data)%record != 0 {
		return fmt.Errorf("%d bytes are no binary file of CIFAR-10, which has %d a picture", len(data), record)
	}
	for i := 0; i < len(data); i += record {
		if int(data[i]) >= len(Classes) {
			return fmt.Errorf("picture %d has the label %d, must be below %d", i/record, data[i], len(Classes))
		}
	}
	for ; len(data) > 0; data = data[record:] {
		s.Labels = append(s.Labels, data[0])
		s.Levels = append(s.Levels, data[1:record]...)
	}
	return nil
}

func readBinaries(folder string) (training, test Set, err error) {
	names := make([]string, 5)
	for i := range names {
		names[i] = fmt.Sprintf("data_batch_%d.bin", i+1)
	}
	for _, name := range names {
		if err := training.readBinary(filepath.Join(folder, name)); err != nil {
			return training, test, err
		}
	}
	return training, test, test.readBinary(filepath.Join(folder, "test_batch.bin"))
}

func (s *Set) readBinary(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > largestBinary {
		return fmt.Errorf("%q has %d bytes, which is no file of CIFAR-10", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := s.parseBinary(data); err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}
