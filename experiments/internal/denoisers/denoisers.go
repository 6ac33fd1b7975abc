// Package denoisers has the denoisers of the paper's sections 4.3 and 4.4, all for white noise of
// standard deviation 0.15, and the photographs that they are compared on.
package denoisers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/tv"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/research" // the paper's networks
)

// Sigma is the standard deviation of the noise, where 1 is white.
const Sigma = 0.15

// Names of the methods, in the paper's order. BackwardEuler runs Euler's weights with the
// implicit method.
const (
	Euler         = "euler"
	Heun          = "heun"
	RK4           = "rk4"
	BackwardEuler = "backward-euler"
	DnCNN         = "dncnn"
	TV            = "tv"
)

// Names returns all of them.
func Names() []string { return []string{Euler, Heun, RK4, BackwardEuler, DnCNN, TV} }

var titles = map[string]string{
	Euler: "Euler", Heun: "Heun", RK4: "RK4", BackwardEuler: "backward Euler", DnCNN: "DnCNN", TV: "TV",
}

// Title returns a name for people.
func Title(name string) string { return titles[name] }

// Collection opens methods, and keeps the networks until Free.
type Collection struct {
	dev    backend.Device
	folder string
	open   map[string]*denoise.Network
}

// NewCollection returns an empty one. The weights of networks are those of the file
// NAME.safetensors in a folder, or, where it is empty or has no such file, those that ship.
func NewCollection(dev backend.Device, folder string) *Collection {
	return &Collection{dev, folder, map[string]*denoise.Network{}}
}

// Free frees all that Get has returned.
func (c *Collection) Free() {
	for _, n := range c.open {
		n.Free()
	}
	clear(c.open)
}

// Device returns the device that computes.
func (c *Collection) Device() backend.Device { return c.dev }

// Network returns the network of a method other than TV.
func (c *Collection) Network(ctx context.Context, name string) (*denoise.Network, error) {
	if n, there := c.open[name]; there {
		return n, nil
	}
	if name == TV || !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no network %.40q", name)
	}
	n, err := c.load(ctx, name)
	if err == nil {
		c.open[name] = n
	}
	return n, err
}

// TotalVariation returns the map of TV for images of a shape, with the weight for Sigma times
// scale. Its buffers are the caller's to free.
func (c *Collection) TotalVariation(shape backend.Shape, scale float64) (*tv.Prox, error) {
	alpha, coupling := tv.Tuned(scale*Sigma, shape.C)
	return tv.New(c.dev, shape, tv.Options{Alpha: alpha, Coupling: coupling})
}

// Apply sets dst to what a method makes of src.
func (c *Collection) Apply(ctx context.Context, name string, dst, src backend.Buffer) error {
	if name == TV {
		p, err := c.TotalVariation(src.Shape(), 1)
		if err != nil {
			return err
		}
		defer p.Free()
		return p.Apply(ctx, dst, src)
	}
	n, err := c.Network(ctx, name)
	if err != nil {
		return err
	}
	return n.Apply(ctx, dst, src)
}

func (c *Collection) load(ctx context.Context, name string) (*denoise.Network, error) {
	file, err := weightFile(name, c.folder)
	if err != nil {
		return nil, err
	}
	if name != BackwardEuler {
		return denoise.Load(ctx, c.dev, file)
	}
	m, err := denoise.FromFile(file)
	if err != nil {
		return nil, err
	}
	m.Integrator = rungekutta.BackwardEuler()
	for i := range m.Blocks {
		m.Blocks[i].Steps = 0 // one is enough, whatever the norm
	}
	certificate, err := m.Certify(ctx, 0)
	if err != nil {
		return nil, err
	}
	return denoise.New(ctx, c.dev, m, certificate)
}

func weightFile(name, folder string) (*weights.File, error) {
	if name == BackwardEuler {
		name = Euler
	}
	if folder != "" {
		path := filepath.Join(folder, name+".safetensors")
		f, err := weights.ReadFile(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return weights.Open(name)
}

// Parameters returns the number of trainable numbers of a network.
func Parameters(name, folder string) (int, error) {
	f, err := weightFile(name, folder)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, t := range f.Tensors {
		// Running means and variances of a DnCNN are measured, not learned.
		if strings.HasSuffix(t.Name, ".running_mean") || strings.HasSuffix(t.Name, ".running_var") {
			continue
		}
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		count += n
	}
	return count, nil
}

// Noisy sets dst to src with noise of Sigma.
func Noisy(dev backend.Device, dst, src backend.Buffer, seed uint64) error {
	if err := dev.Gaussian(dst, seed, 0, Sigma); err != nil {
		return err
	}
	return dev.LinearCombination(dst, backend.Term{A: 1, X: src}, backend.Term{A: 1, X: dst})
}
