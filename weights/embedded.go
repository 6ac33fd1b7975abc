package weights

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Names of the weights that are part of the library; README.md in this folder says what
// each is, what it reaches and how it was made. All but Strict, Guided, Original, Camera and Fast were trained on
// photographs of BSDS500, which are given for non-commercial research and education: a
// program that imports weights/research has them.
const (
	// General is one averaged network for all noise levels, without a guide.
	General = "general"
	// Strict is a network like General that learned from the photographs that Guided learned from, and
	// is under the same licence: its result is nonexpansive in the photograph itself.
	Strict = "strict"
	// Guided is an averaged network whose projections another network sets for every pixel
	// of a photograph, for all noise levels: the default of denoising. It learned from photographs
	// under CC0 and CC BY, most of them saved as JPEG, and is under Apache-2.0.
	Guided = "guided"
	// Original is a network like Guided of half of its size that learned from the same photographs with
	// all of their colour, and then, half of them saved as JPEG, from what deblurring comes to. It is under
	// the same licence: the default prior of deblurring, inpainting and enlarging.
	Original = "original"
	// Camera is Guided trained on with the noise of cameras in the place of white noise, on the same
	// photographs and under the same licence: what denoising takes where noise is coarse and smoothed.
	Camera = "camera"
	// Deblur is General trained on as the prior of restore.Deblur, without a guide.
	Deblur = "deblur"
	// Fast is a network like Guided of a twelfth of its size, for large pictures and previews. It
	// learned from the same photographs, and is under Apache-2.0, too.
	Fast = "fast"
	// Small is General of a tenth of its size.
	Small = "small"
	// Euler, Heun and RK4 are the paper's networks, for noise of 0.15.
	Euler = "euler"
	Heun  = "heun"
	RK4   = "rk4"
	// Levels is the network that says which noise level a denoiser is to be told for each square of a
	// photograph (package internal/levelmap). It learned from the photographs that Guided learned from and
	// others like them, and is under Apache-2.0. It is no denoiser.
	Levels = "levels"
	// DnCNN is the unconstrained network to compare with, for noise of 0.15. Nothing is
	// proven of it.
	DnCNN = "dncnn"
)

// Names returns the names of denoisers above in that order, also of those whose weights this build does
// not have.
func Names() []string {
	return []string{General, Strict, Guided, Original, Camera, Deblur, Fast, Small, Euler, Heun, RK4, DnCNN}
}

// registered are the files of weights by name.
var registered = struct {
	sync.RWMutex
	files map[string]registeredFile
}{files: map[string]registeredFile{}}

// registeredFile is read when it is asked for: a program needs one or two of them, and begins sooner without the others.
type registeredFile struct {
	size int64
	read func() ([]byte, error) // the same bytes each time, which must not be changed
}

// Register makes the weights in a folder known, each NAME.safetensors at its top by the name, which is
// one of Names. It is for packages such as weights/research to call when they are imported, and panics
// where it cannot do that: a mistake in the package. A file is read when it is asked for first.
func Register(folder fs.FS) {
	files, err := weightsIn(folder)
	if err != nil {
		panic(fmt.Sprintf("weights: %v", err))
	}
	for name, file := range files {
		register(name, file)
	}
}

// weightsIn returns the weight files at the top of a folder, by their names without the end.
func weightsIn(folder fs.FS) (map[string]registeredFile, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	files := map[string]registeredFile{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".safetensors")
		if !ok {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		files[name] = registeredFile{info.Size(), sync.OnceValues(func() ([]byte, error) { return fs.ReadFile(folder, e.Name()) })}
	}
	return files, nil
}

func register(name string, file registeredFile) {
	registered.Lock()
	defer registered.Unlock()
	if _, there := registered.files[name]; there {
		panic(fmt.Sprintf("weights: %q is registered twice", name))
	}
	if name != Levels && !slices.Contains(Names(), name) {
		panic(fmt.Sprintf("weights: %q is not one of Names", name))
	}
	registered.files[name] = file
}

// embedded returns the file of a name.
func embedded(name string) (file registeredFile, there bool) {
	registered.RLock()
	defer registered.RUnlock()
	file, there = registered.files[name]
	return file, there
}

// Embedded returns those of Names whose weights this program has: Open returns them. They are those
// of the packages that it imports, in this library weights/open, which restore imports, and
// weights/research.
func Embedded() []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		_, there := embedded(name)
		return !there
	})
}

// Open returns the embedded weights of a name, one of Embedded. The caller may change what
// it gets.
func Open(name string) (*File, error) {
	file, there := embedded(name)
	if !there {
		return nil, fmt.Errorf("weights: this build has no weights %.40q, it has: %s", name, strings.Join(Embedded(), ", "))
	}
	b, err := file.read()
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return Decode(bytes.Clone(b))
}

// IsEmbedded tells whether the file is, in every byte that it would be written as, one that
// is part of the library. The certificates of those are proven by the library's tests, so
// that a program need not prove them again.
func (f *File) IsEmbedded() bool {
	b, err := f.Encode()
	if err != nil {
		return false // what cannot be written was not read
	}
	return slices.ContainsFunc(Embedded(), func(name string) bool {
		own, _ := embedded(name)
		if own.size != int64(len(b)) {
			return false
		}
		content, err := own.read()
		return err == nil && bytes.Equal(content, b) // what cannot be read is not the library's
	})
}
