// Package inventory tells what this program has: devices, instruction sets, networks and methods.
package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/devices"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// Inventory is what there is, the JSON object of info.
type Inventory struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	build.Info
	CPU     CPU              `json:"cpu"`
	Devices []devices.Device `json:"devices"`
	// NoCUDA says why a program with CUDA support found no card.
	NoCUDA string `json:"no_cuda,omitempty"`
	// NoVulkan says why no device was found by Vulkan.
	NoVulkan string `json:"no_vulkan,omitempty"`
	// Weights are the networks that the binary carries.
	Weights []network `json:"weights"`
	// MissingWeights are the names of networks of the library that it does not carry.
	MissingWeights []string `json:"missing_weights"`
	Methods        []method `json:"methods"`
	// The methods that are used where none is named.
	DefaultMethod string `json:"default_method"`
	DefaultPrior  string `json:"default_prior"`
}

// network is an embedded network.
type network struct {
	*record.Network
	Description string `json:"description"`
	Parameters  int    `json:"parameters"`
	// Data is what it was trained on, with the terms.
	Data string `json:"data"`
	// Certificate is what is proven of it, in a line.
	Certificate string `json:"certificate"`
}

type method struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Certified   bool     `json:"certified"`
	Certificate []string `json:"certificate"` // empty for networks, whose weights have one each
	Embedded    bool     `json:"embedded"`
	// NeedsWeights: --weights must be given.
	NeedsWeights bool `json:"needs_weights"`
}

// CPU says which instruction sets there are, and which one is in use.
type CPU struct {
	Level  string   `json:"level"`
	Levels []string `json:"levels"`
}

// CPUOf lists the instruction sets beside the one in use.
func CPUOf(inUse string) CPU {
	c := CPU{Level: inUse}
	for _, l := range cpu.InstructionSets() {
		c.Levels = append(c.Levels, l.String())
	}
	return c
}

// Lines say it for people.
func (all *Inventory) Lines() (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	say("restore   %s, %s, %s/%s", all.Version, all.Go, all.OS, all.Arch)
	for _, d := range all.Devices {
		say("device    %s", d.About())
	}
	if all.NoCUDA != "" {
		say("CUDA      %s", all.NoCUDA)
	}
	if all.NoVulkan != "" {
		say("Vulkan    %s", all.NoVulkan)
	}
	say("CPU       instruction set %s in use; there is: %s", all.CPU.Level, strings.Join(all.CPU.Levels, ", "))
	for _, w := range all.Weights {
		say("weights   %s: %s", w.Name, w.Description)
		say("          %s parameters, %s", message.Thousands(w.Parameters), w.noise())
		say("          %s", w.Certificate)
		say("          %s; %s", w.Licence, w.Data)
		say("          %s", w.Checksum)
	}
	if len(all.MissingWeights) > 0 {
		say("missing   %s", strings.Join(all.MissingWeights, ", "))
		say("          %s", HowToGetResearch)
	}
	for _, m := range all.Methods {
		say("method    %s: %s%s", m.Name, m.Description, all.place(m))
		for _, l := range m.Certificate {
			say("          %s", l)
		}
	}
	return lines
}

// Take looks at what there is.
func Take(ctx context.Context) (*Inventory, error) {
	dev, err := (&devices.Choice{}).Processor()
	if err != nil {
		return nil, err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	d := dev.Description()
	all := &Inventory{
		Schema: record.Schema, Command: "info", Info: build.This(), CPU: CPUOf(d.Model),
		Devices: []devices.Device{{Name: d.Name, Model: d.Model, Threads: d.Threads, Memory: d.Memory}},
		Weights: []network{}, MissingWeights: MissingNetworks(),
		DefaultMethod: networks.DefaultMethod(), DefaultPrior: networks.DefaultPrior(),
	}
	found, missing := devices.CUDA()
	all.Devices, all.NoCUDA = append(all.Devices, found...), missing
	found, missing = devices.Vulkan()
	all.Devices, all.NoVulkan = append(all.Devices, found...), missing
	for _, m := range restore.Methods() {
		about := method{
			Name: m.Name, Description: m.Description, Certified: m.Certified, Certificate: []string{},
			Embedded: m.Embedded, NeedsWeights: m.NeedsWeights,
		}
		if m.Embedded {
			w, err := networkOf(m)
			if err != nil {
				return nil, err
			}
			all.Weights = append(all.Weights, w)
		}
		if m.Embedded || m.NeedsWeights {
			all.Methods = append(all.Methods, about)
			continue
		}
		report, err := restore.Check(ctx, nil, deblur.Kernel{}, restore.Method(m.Name), restore.Device(dev))
		if err != nil {
			return nil, err
		}
		about.Certificate = inGeneral(report.Denoiser)
		all.Methods = append(all.Methods, about)
	}
	return all, nil
}

// MissingNetworks are the networks of the library that this build does not have.
func MissingNetworks() []string {
	return slices.DeleteFunc(weights.Names(), func(name string) bool { return slices.Contains(weights.Embedded(), name) })
}

// HowToGetResearch says how the missing networks are had.
const HowToGetResearch = "learned from BSDS500, for research and education only: build with -tags research, or name a file of weights/research with --weights"

// networkOf describes the embedded network of a method.
func networkOf(m restore.MethodInfo) (network, error) {
	f, err := weights.Open(m.Name)
	if err != nil {
		return network{}, err
	}
	card, err := f.Card()
	if err != nil {
		return network{}, err
	}
	w := network{
		Network: record.NetworkOf(record.EmbeddedFile, card), Description: m.Description,
		Parameters: f.Parameters(), Data: card.Provenance.Data, Certificate: "nothing is proven of it",
	}
	if len(card.Certificate) > 0 {
		var c denoise.Certificate
		if err := c.UnmarshalJSON(card.Certificate); err != nil {
			return network{}, err
		}
		if c.Proven {
			w.Certificate = "proven to be " + (&record.Certificate{Proven: true, Averagedness: record.Number(c.Averagedness)}).Claim(true)
		}
	}
	return w, nil
}

// noise says what noise the network is for.
func (w network) noise() string {
	if k := len(w.Levels); k > 1 {
		return fmt.Sprintf("for noise of every sigma, trained from %.4g to %.4g", w.Levels[0], w.Levels[k-1])
	}
	return fmt.Sprintf("for noise of sigma %.4g", w.Sigma)
}

// place says of a method what it is the default of, and what it needs.
func (all *Inventory) place(m method) string {
	switch {
	case m.NeedsWeights:
		return "; needs --weights FILE"
	case m.Name == all.DefaultMethod && m.Name == all.DefaultPrior:
		return "; the default"
	case m.Name == all.DefaultMethod:
		return "; the default of denoise"
	case m.Name == all.DefaultPrior:
		return "; the default of deblur, inpaint, upscale and check"
	}
	return ""
}

// inGeneral leaves out of a certificate the definition of its map, which has the
// numbers of one problem in it.
func inGeneral(certificate string) []string {
	return slices.DeleteFunc(message.Lines(certificate), func(line string) bool { return strings.HasPrefix(line, "Φ = ") })
}
