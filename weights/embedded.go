package weights

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Names of the weights that are part of the library. README.md in this folder describes each one, its quality
// and its training. Strict, Guided, Original, Camera, Raw, Fast and Levels are under Apache-2.0. The others were
// trained on photographs of BSDS500, which are for non-commercial research and education: a program has them
// if it imports weights/research.
const (
	// General is one averaged network for all noise levels, without a guide.
	General = "general"
	// Strict is a network like General, trained on 64 photographs of Guided and under the same licence: for a noise
	// level it is one nonexpansive map for all photographs.
	Strict = "strict"
	// Guided is an averaged network for all noise levels whose projections another network sets for every
	// pixel: the default of denoising. It was trained on photographs under CC0 and CC BY, most of them saved
	// as JPEG, and is under Apache-2.0.
	Guided = "guided"
	// Original is a network like Guided of half its size: the default prior of deblurring, inpainting and
	// enlarging. It was trained on 64 of its photographs with all of their colour, and then, half of them saved as
	// JPEG, on the images that occur in deblurring. It is under the same licence.
	Original = "original"
	// Camera is an earlier Guided trained further with camera noise instead of white noise, on 64 of its photographs
	// and under the same licence. Denoising uses it for coarse noise.
	Camera = "camera"
	// Raw is Camera trained further with the mosaics of raw photographs, on the photographs of Guided and under the same
	// licence. Denoising of raw photographs uses it.
	Raw = "raw"
	// Deblur is General trained further as the prior of restore.Deblur, without a guide.
	Deblur = "deblur"
	// Fast is a network like Guided of a twelfth of its size, for large pictures and previews. It was trained on 64 of
	// its photographs, and is under Apache-2.0, too.
	Fast = "fast"
	// Small is a network like General of a tenth of its size.
	Small = "small"
	// Euler, Heun and RK4 are the paper's networks, for noise of 0.15.
	Euler = "euler"
	Heun  = "heun"
	RK4   = "rk4"
	// Levels is the network that finds the noise level for the denoiser at each square of a photograph
	// (package internal/noise). It is no denoiser. It was trained on the photographs of Guided and on drawings, and is
	// under Apache-2.0.
	Levels = "levels"
	// DnCNN is the unconstrained network to compare with, for noise of 0.15. Nothing is proven of it.
	DnCNN = "dncnn"
)

// Names returns all names of denoisers above in that order, including those whose weights this build does not
// have.
func Names() []string {
	return []string{General, Strict, Guided, Original, Camera, Raw, Deblur, Fast, Small, Euler, Heun, RK4, DnCNN}
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

// Register adds the weights in a folder, each a file NAME.safetensors at its top where NAME is one of Names.
// Packages such as weights/research call it when they are imported. It panics on a mistake in the package. A
// file is read when it is first opened.
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

// Embedded returns those of Names whose weights this program has and Open returns. They belong to the
// packages that the program imports: weights/open, which restore imports, and weights/research.
func Embedded() []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		_, there := embedded(name)
		return !there
	})
}

// Open returns the embedded weights of a name, one of Embedded. The caller may change the result.
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

// IsEmbedded tells whether the file is equal, byte for byte as written, to one that is part of the library.
// The library's tests prove the certificates of those, so that a program need not prove them again.
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
