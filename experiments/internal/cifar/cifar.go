// Package cifar reads CIFAR-10 (Krizhevsky 2009): from the binary files that it is published as,
// and from a zip archive of pictures in folders of classes.
package cifar

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

const (
	// Side is the height and width of a picture, Channels the number of its planes: red, green, blue.
	Side     = 32
	Channels = 3
	// Samples of a picture.
	Samples = Channels * Side * Side
)

// Classes are the names of the labels 0 to 9.
var Classes = [10]string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}

// Set is a list of pictures with their labels.
type Set struct {
	// Levels has Samples bytes a picture: planes of rows, 255 is white.
	Levels []uint8
	Labels []uint8
}

// Len returns the number of pictures.
func (s *Set) Len() int { return len(s.Labels) }

// Picture returns the levels of picture i.
func (s *Set) Picture(i int) []uint8 { return s.Levels[i*Samples:][:Samples] }

// Append copies pictures of from, those with the given numbers.
func (s *Set) Append(from *Set, numbers ...int) {
	for _, i := range numbers {
		s.Levels = append(s.Levels, from.Picture(i)...)
		s.Labels = append(s.Labels, from.Labels[i])
	}
}

// Digest tells sets apart.
func (s *Set) Digest() string {
	h := sha256.New()
	h.Write(s.Labels)
	h.Write(s.Levels)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Data are the pictures of an experiment.
type Data struct{ Training, HeldOut, Test Set }

// archive is the name of the zip file in a folder, and binaryFolder that of the folder in the
// published archive.
const (
	archive      = "images.zip"
	binaryFolder = "cifar-10-batches-bin"
)

// Read reads the pictures at a path: a zip archive, a folder with images.zip, or a folder with
// data_batch_1.bin, …, test_batch.bin, which may be in one named cifar-10-batches-bin. So many of
// the training pictures are held out, drawn by a seed.
func Read(path string, heldOut int, seed uint64) (*Data, error) {
	training, test, err := read(path)
	if err != nil {
		return nil, err
	}
	if heldOut < 1 || heldOut >= training.Len() {
		return nil, fmt.Errorf("%d of %d training pictures cannot be held out", heldOut, training.Len())
	}
	if test.Len() == 0 {
		return nil, fmt.Errorf("no test pictures in %q", path)
	}
	d := &Data{Test: test}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(training.Len())
	d.HeldOut.Append(&training, order[:heldOut]...)
	d.Training.Append(&training, order[heldOut:]...)
	return d, nil
}

func read(path string) (training, test Set, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return training, test, err
	case !info.IsDir():
		return readZip(path)
	}
	inside := filepath.Join(path, archive)
	if _, err := os.Stat(inside); err == nil {
		return readZip(inside)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return training, test, err
	}
	if nested := filepath.Join(path, binaryFolder); isFolder(nested) {
		path = nested
	}
	return readBinaries(path)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
