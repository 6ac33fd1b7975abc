//go:build !novulkan

package devices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/backend/vulkan"
	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/atomicfile"
)

// bestVulkan returns the device that --backend auto takes by Vulkan, or nil: the first one that is
// faster than the processor, discrete GPUs before others. Software is never taken.
func bestVulkan(p *message.Printer, threads int) backend.Device {
	all, err := vulkan.Devices()
	if err != nil {
		if !errors.Is(err, vulkan.ErrNoDriver) && !errors.Is(err, vulkan.ErrNoDevice) {
			p.Note("Vulkan does not work: %s; computing on the processor", gpuCause("vulkan", err))
		}
		return nil
	}
	all = slices.DeleteFunc(all, func(g vulkan.GPU) bool { return g.Kind == vulkan.Processor })
	slices.SortStableFunc(all, func(a, b vulkan.GPU) int { return rank(a) - rank(b) })
	for _, g := range all {
		if dev := fasterThanProcessor(p, g, threads); dev != nil {
			return dev
		}
	}
	return nil
}

func rank(g vulkan.GPU) int {
	if g.Kind == vulkan.Discrete {
		return 0
	}
	return 1
}

// fasterThanProcessor opens a device if it works and wins the race against the processor, which is held
// once for a device with its driver and this version of the program.
func fasterThanProcessor(p *message.Printer, g vulkan.GPU, threads int) backend.Device {
	results := readRaces()
	known, held := results[raceKey(g)]
	if held && !known.Wins {
		p.Detail("%s, %s, is slower than the processor; it was when they were compared", vulkanName(g.Index), g.Name)
		return nil
	}
	dev, err := vulkan.Open(g.Index)
	if err != nil {
		p.Note("%s; trying what comes next", message.OneLine(faultText(err)))
		return nil
	}
	if !held {
		known, err = race(dev, threads)
		if err != nil {
			p.Note("%s; trying what comes next", message.OneLine(faultText(err)))
			_ = dev.Close() // it says the same
			return nil
		}
		results[raceKey(g)] = known
		writeRaces(p, results)
	}
	if !known.Wins {
		p.Detail("%s, %s, is slower than the processor: %v against %v", vulkanName(g.Index), g.Name, known.GPU, known.CPU)
		_ = dev.Close() // of work that has been waited for
		return nil
	}
	p.Detail("computing on %s, %s", vulkanName(g.Index), g.Name)
	return dev
}

// raceResult is how long a device and the processor took for the same.
type raceResult struct {
	GPU  time.Duration `json:"gpu"`
	CPU  time.Duration `json:"cpu"`
	Wins bool          `json:"wins"`
}

func race(dev *vulkan.Device, threads int) (raceResult, error) {
	host, err := cpu.Open(cpu.Threads(threads))
	if err != nil {
		return raceResult{}, err
	}
	defer host.Close() // of work that has been waited for
	own, others, err := dev.Race(host)
	return raceResult{own, others, own < others}, err
}

func raceKey(g vulkan.GPU) string {
	return strings.Join([]string{g.Name, g.Driver, build.This().Version}, "; ")
}

// racesFile is where results are remembered; nowhere, if the user has no folder for such files.
func racesFile() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "restore", "vulkan.json")
}

// readRaces returns what is remembered. What cannot be read is measured anew.
func readRaces() map[string]raceResult {
	results := map[string]raceResult{}
	if data, err := os.ReadFile(racesFile()); err == nil && json.Unmarshal(data, &results) != nil {
		return map[string]raceResult{}
	}
	return results
}

func writeRaces(p *message.Printer, results map[string]raceResult) {
	file := racesFile()
	if file == "" {
		return
	}
	data, err := json.MarshalIndent(results, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteBytes(context.Background(), file, true, append(data, '\n'))
	}
	if err != nil {
		p.Detail("the race between GPU and processor is not remembered: %v", err)
	}
}

// openVulkan opens the device that --backend names. Where it is there and does not work, the processor
// takes its place.
func (c *Choice) openVulkan(p *message.Printer, n int) (backend.Device, error) {
	dev, err := vulkan.Open(n)
	switch {
	case err == nil:
		return dev, nil
	case errors.Is(err, vulkan.ErrNoDriver) || errors.Is(err, vulkan.ErrNoDevice) || errors.Is(err, backend.ErrUnsupported):
		return nil, unavailable("--backend %s: %s; use --backend cpu or auto", c.Backend, gpuCause("vulkan", err))
	}
	p.Note("%s; the processor takes over", message.OneLine(faultText(err)))
	return c.Processor()
}

// Vulkan returns the devices that --backend can name, or why there are none. Each is opened, to
// see whether it computes what the processor does.
func Vulkan() ([]Device, string) {
	all, err := vulkan.Devices()
	if err != nil {
		return nil, gpuCause("vulkan", err)
	}
	var found []Device
	for _, g := range all {
		d := Device{
			Name: vulkanName(g.Index), Model: g.Name, Memory: g.Memory, Kind: g.Kind.String(), Driver: g.Driver,
			Vulkan: g.Version(), Abilities: abilities(g),
		}
		works := true
		dev, err := vulkan.Open(g.Index)
		if err == nil {
			err = dev.Close()
		}
		if err != nil {
			works, d.Failure = false, message.OneLine(faultText(err))
		}
		d.Works = &works
		found = append(found, d)
	}
	return found, ""
}

func abilities(g vulkan.GPU) []string {
	list := []string{"float32"}
	for _, a := range []struct {
		has  bool
		name string
	}{{g.Float64, "float64"}, {g.Float16, "float16"}, {g.CooperativeMatrix, "cooperative matrices"}} {
		if a.has {
			list = append(list, a.name)
		}
	}
	return list
}

func vulkanName(n int) string { return fmt.Sprintf("vulkan:%d", n) }

// faultText names the device and its driver, where an error is a fault of theirs.
func faultText(err error) string {
	var f *vulkan.Fault
	if errors.As(err, &f) {
		return f.Error()
	}
	return err.Error()
}

// fault returns the message about an error after which the run continues on the processor: a device
// has failed, has no room for the smallest tile, or does not make what is needed.
func fault(dev backend.Device, err error) (string, bool) {
	var f *vulkan.Fault
	if errors.As(err, &f) {
		return message.OneLine(f.Error()), true
	}
	v, ok := dev.(*vulkan.Device)
	if !ok {
		return "", false
	}
	g := v.GPU()
	what := ""
	switch {
	case errors.Is(err, backend.ErrOutOfMemory):
		what = "out of memory"
	case errors.Is(err, backend.ErrUnsupported):
		what = "it makes no gradients, which an attack needs"
	default:
		return "", false
	}
	return fmt.Sprintf("%s, %s with driver %s: %s", vulkanName(g.Index), message.OneLine(g.Name), message.OneLine(g.Driver), what), true
}
