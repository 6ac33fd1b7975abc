package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

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

// infoRecord is the JSON object of info.
type infoRecord struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	build.Info
	CPU     cpuInfo          `json:"cpu"`
	Devices []devices.Device `json:"devices"`
	// NoCUDA says why a program with CUDA support found no card.
	NoCUDA string `json:"no_cuda,omitempty"`
	// NoVulkan says why no device was found by Vulkan.
	NoVulkan string `json:"no_vulkan,omitempty"`
	// Weights are the networks that the binary carries.
	Weights []weightsInfo `json:"weights"`
	// MissingWeights are the names of networks of the library that it does not carry.
	MissingWeights []string     `json:"missing_weights"`
	Methods        []methodInfo `json:"methods"`
	// The methods that are used where none is named.
	DefaultMethod string `json:"default_method"`
	DefaultPrior  string `json:"default_prior"`
}

// weightsInfo is an embedded network.
type weightsInfo struct {
	*record.Network
	Description string `json:"description"`
	Parameters  int    `json:"parameters"`
	// Data is what it was trained on, with the terms.
	Data string `json:"data"`
	// Certificate is what is proven of it, in a line.
	Certificate string `json:"certificate"`
}

type methodInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Certified   bool     `json:"certified"`
	Certificate []string `json:"certificate"` // empty for networks, whose weights have one each
	Embedded    bool     `json:"embedded"`
	// NeedsWeights: --weights must be given.
	NeedsWeights bool `json:"needs_weights"`
}

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Show the version, devices, methods and certificates",
		Long: `Shows the version, the devices that --backend can name, the instruction sets, the
networks whose weights are part of this program, how to get the others, and the
methods. For a network it shows how many parameters it has, for what noise it was
trained, the licence of its weights, the terms of the photographs that it learned
from, the checksum, and what is proven of it;
'restore check --prior NAME' prints the certificate, proves it anew and tests it,
and 'restore check --weights FILE' that of any other network.

The environment variable ` + cpu.InstructionSetVariable + ` chooses another instruction set, by its name.`,
		Example: `  restore info
  ` + cpu.InstructionSetVariable + `=portable restore info --json`,
		Args: inputs(0, 0, "no input"),
		RunE: func(c *cobra.Command, _ []string) error {
			rec, err := gatherInfo(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rec)
			}
			a.result("restore   %s, %s, %s/%s", rec.Version, rec.Go, rec.OS, rec.Arch)
			for _, d := range rec.Devices {
				a.result("device    %s", d.About())
			}
			if rec.NoCUDA != "" {
				a.result("CUDA      %s", rec.NoCUDA)
			}
			if rec.NoVulkan != "" {
				a.result("Vulkan    %s", rec.NoVulkan)
			}
			a.result("CPU       instruction set %s in use; there is: %s", rec.CPU.Level, strings.Join(rec.CPU.Levels, ", "))
			for _, w := range rec.Weights {
				a.result("weights   %s: %s", w.Name, w.Description)
				a.result("          %s parameters, %s", thousands(w.Parameters), w.noise())
				a.result("          %s", w.Certificate)
				a.result("          %s; %s", w.Licence, w.Data)
				a.result("          %s", w.Checksum)
			}
			if len(rec.MissingWeights) > 0 {
				a.result("missing   %s", strings.Join(rec.MissingWeights, ", "))
				a.result("          %s", howToGetResearch)
			}
			for _, m := range rec.Methods {
				a.result("method    %s: %s%s", m.Name, m.Description, rec.place(m))
				for _, l := range m.Certificate {
					a.result("          %s", l)
				}
			}
			return nil
		},
	}
}

func gatherInfo(ctx context.Context) (*infoRecord, error) {
	dev, err := cpu.Open()
	if err != nil {
		return nil, usageError{err}
	}
	defer dev.Close() // its only error would be of work that has been waited for
	d := dev.Description()
	rec := &infoRecord{
		Schema: record.Schema, Command: "info", Info: build.This(), CPU: cpuLevels(d.Model),
		Devices: []devices.Device{{Name: d.Name, Model: d.Model, Threads: d.Threads, Memory: d.Memory}},
		Weights: []weightsInfo{}, MissingWeights: missingNetworks(),
		DefaultMethod: networks.DefaultMethod(), DefaultPrior: networks.DefaultPrior(),
	}
	found, missing := devices.CUDA()
	rec.Devices, rec.NoCUDA = append(rec.Devices, found...), missing
	found, missing = devices.Vulkan()
	rec.Devices, rec.NoVulkan = append(rec.Devices, found...), missing
	for _, m := range restore.Methods() {
		about := methodInfo{
			Name: m.Name, Description: m.Description, Certified: m.Certified, Certificate: []string{},
			Embedded: m.Embedded, NeedsWeights: m.NeedsWeights,
		}
		if m.Embedded {
			w, err := embeddedInfo(m)
			if err != nil {
				return nil, err
			}
			rec.Weights = append(rec.Weights, w)
		}
		if m.Embedded || m.NeedsWeights {
			rec.Methods = append(rec.Methods, about)
			continue
		}
		report, err := restore.Check(ctx, nil, deblur.Kernel{}, restore.Method(m.Name), restore.Device(dev))
		if err != nil {
			return nil, err
		}
		about.Certificate = inGeneral(report.Denoiser)
		rec.Methods = append(rec.Methods, about)
	}
	return rec, nil
}

// missingNetworks are the networks of the library that this build does not have.
func missingNetworks() []string {
	return slices.DeleteFunc(weights.Names(), func(name string) bool { return slices.Contains(weights.Embedded(), name) })
}

// howToGetResearch says how the missing networks are had.
const howToGetResearch = "learned from BSDS500, for research and education only: build with -tags research, or name a file of weights/research with --weights"

// embeddedInfo describes the embedded network of a method.
func embeddedInfo(m restore.MethodInfo) (weightsInfo, error) {
	f, err := weights.Open(m.Name)
	if err != nil {
		return weightsInfo{}, err
	}
	card, err := f.Card()
	if err != nil {
		return weightsInfo{}, err
	}
	w := weightsInfo{
		Network: record.NetworkOf(record.EmbeddedFile, card), Description: m.Description,
		Parameters: f.Parameters(), Data: card.Provenance.Data, Certificate: "nothing is proven of it",
	}
	if len(card.Certificate) > 0 {
		var c denoise.Certificate
		if err := c.UnmarshalJSON(card.Certificate); err != nil {
			return weightsInfo{}, err
		}
		if c.Proven {
			w.Certificate = "proven to be " + (&record.Certificate{Proven: true, Averagedness: record.Number(c.Averagedness)}).Claim(true)
		}
	}
	return w, nil
}

// noise says what noise the network is for.
func (w weightsInfo) noise() string {
	if k := len(w.Levels); k > 1 {
		return fmt.Sprintf("for noise of every sigma, trained from %.4g to %.4g", w.Levels[0], w.Levels[k-1])
	}
	return fmt.Sprintf("for noise of sigma %.4g", w.Sigma)
}

// place says of a method what it is the default of, and what it needs.
func (rec *infoRecord) place(m methodInfo) string {
	switch {
	case m.NeedsWeights:
		return "; needs --weights FILE"
	case m.Name == rec.DefaultMethod && m.Name == rec.DefaultPrior:
		return "; the default"
	case m.Name == rec.DefaultMethod:
		return "; the default of denoise"
	case m.Name == rec.DefaultPrior:
		return "; the default of deblur and check"
	}
	return ""
}

// thousands writes a number with commas between its thousands.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// inGeneral leaves out of a certificate the definition of its map, which has the
// numbers of one problem in it.
func inGeneral(certificate string) []string {
	return slices.DeleteFunc(message.Lines(certificate), func(line string) bool { return strings.HasPrefix(line, "Φ = ") })
}
