//go:build cuda && cgo

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/cuda"
	"github.com/averaged/imaging/internal/quality"
)

// wantCUDA is set where a GPU must be there, be it the fake one: then its absence fails,
// and nothing is skipped.
const wantCUDA = "IMAGING_WANT_CUDA"

func cudaName(n int) string { return fmt.Sprintf("cuda:%d", n) }

func isAbsent(err error) bool {
	return errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice)
}

// needGPU skips the test where there is no GPU and none is demanded.
func needGPU(t *testing.T) []cuda.GPU {
	t.Helper()
	all, err := cuda.Devices()
	if isAbsent(err) && os.Getenv(wantCUDA) == "" {
		t.Skipf("no CUDA GPU here (bash .ci/cuda builds a fake one): %v", err)
	}
	require.NoError(t, err)
	return all
}

// Where there is no GPU, info says so, auto is the processor, and cuda is an error of one
// line.
func TestCUDAWithoutAGPU(t *testing.T) {
	_, err := cuda.Devices()
	if err == nil {
		require.Error(t, firstError(cuda.Open(1000)))
		t.Skip("there is a GPU; bash .ci/cuda runs this without one too")
	}
	require.Empty(t, os.Getenv(wantCUDA), "%v", err)
	require.True(t, isAbsent(err), "%v", err)
	inFolder(t)
	save(t, "a.pfm", picture(1, 20, 24, 32, 0.1))

	cause := strings.TrimPrefix(err.Error(), "cuda: ")
	require.Contains(t, succeeds(t, "info").stdout, "CUDA      "+cause+"\n")
	o := objects(t, succeeds(t, "info", "--json").stdout)[0]
	require.Equal(t, cause, o["no_cuda"])
	require.Empty(t, devicesNamed(o, "cuda"))

	fails(t, exitUsage, []string{"--backend cuda: ", cause, "use --backend cpu or auto"}, "denoise", "--backend", "cuda", "a.pfm")
	fails(t, exitUsage, []string{"--backend cuda:1: "}, "denoise", "--backend", "cuda:1", "a.pfm")
	fails(t, exitUsage, []string{"want auto, cpu, cuda[:N] or vulkan[:N]"}, "denoise", "--backend", "cuda:x", "a.pfm")
	succeeds(t, "denoise", "--method", "tv", "--sigma", "0.1", "a.pfm") // without a word about it
	r := restoring(t, "denoise", "--method", "tv", "--sigma", "0.1", "-v", "--force", "a.pfm")
	require.Equal(t, exitDone, r.code)
	require.Contains(t, r.stderr, cause+"; computing on the processor\n")
	r = restoring(t, "denoise", "--method", "tv", "--sigma", "0.1", "--backend", "auto", "--force", "a.pfm")
	require.Equal(t, exitDone, r.code)
	require.Contains(t, r.stderr, cause+"; computing on the processor\n")
}

// devicesNamed returns the devices of a JSON of info whose names begin so. There may be others, of Vulkan.
func devicesNamed(info map[string]any, prefix string) (named []map[string]any) {
	for _, d := range info["devices"].([]any) {
		if d := d.(map[string]any); strings.HasPrefix(d["name"].(string), prefix) {
			named = append(named, d)
		}
	}
	return named
}

func firstError(_ *cuda.Device, err error) error { return err }

func TestCUDAInInfo(t *testing.T) {
	all := needGPU(t)
	r := succeeds(t, "info")
	o := objects(t, succeeds(t, "info", "--json").stdout)[0]
	require.NotContains(t, o, "no_cuda")
	devices := devicesNamed(o, "cuda")
	require.Len(t, devices, len(all))
	for i, c := range all {
		require.Contains(t, r.stdout, "device    "+cudaName(i)+": "+c.Model+", ")
		d := devices[i]
		require.Equal(t, cudaName(i), d["name"])
		require.EqualValues(t, c.Memory, d["memory_limit"])
	}
}

func TestCUDAThatIsNotThere(t *testing.T) {
	needGPU(t)
	inFolder(t)
	save(t, "a.pfm", picture(1, 20, 24, 32, 0.1))
	fails(t, exitUsage, []string{"--backend cuda:65535: ", "use --backend cpu or auto"}, "denoise", "--backend", "cuda:65535", "a.pfm")
}

// Every command that computes gives on the GPU what it gives on the processor.
func TestCUDAAgreesWithTheProcessor(t *testing.T) {
	needGPU(t)
	inFolder(t)
	save(t, "clean.pfm", picture(3, 22, 30, 32, 0))
	succeeds(t, "kernel", "motion", "--length", "5", "--angle", "30", "-o", "motion.png")
	network := certifiedNetwork(t)
	for name, args := range map[string][]string{
		"degrade":         {"degrade", "clean.pfm", "--kernel", "motion.png", "--sigma", "0.01", "--seed", "3"},
		"noise":           {"degrade", "clean.pfm", "--sigma", "0.1", "--seed", "3"},
		"denoise tv":      {"denoise", "--method", "tv", "--sigma", "0.1", "noisy.pfm"},
		"denoise network": {"denoise", "--method", network, "--sigma", "0.1", "noisy.pfm"},
		"denoise tiles":   {"denoise", "--method", network, "--sigma", "0.1", "--tile", "16", "noisy.pfm"},
		"deblur tv":       {"deblur", "--prior", "tv", "--kernel", "motion.png", "--sigma", "0.01", "--iterations", "10", "blurred.pfm"},
		"deblur network":  {"deblur", "--prior", network, "--kernel", "motion.png", "--sigma", "0.01", "--iterations", "3", "--boundary", "reflect", "blurred.pfm"},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t)
			save(t, "clean.pfm", picture(3, 22, 30, 32, 0))
			save(t, "noisy.pfm", picture(3, 22, 30, 32, 0.1))
			succeeds(t, "kernel", "motion", "--length", "5", "--angle", "30", "-o", "motion.png")
			succeeds(t, "degrade", "clean.pfm", "--backend", "cpu", "--kernel", "motion.png", "--sigma", "0.01", "-o", "blurred.pfm")
			var out [2][]float32
			for i, device := range []string{"cpu", "cuda"} {
				r := restoring(t, append(args, "--backend", device, "-o", device+".pfm")...)
				require.Equal(t, exitDone, r.code, r.stderr)
				out[i] = load(t, device+".pfm").Pix
			}
			psnr, err := quality.PSNR(out[0], out[1], 1)
			require.NoError(t, err)
			require.Greater(t, psnr, 60.0)
		})
	}
}

// Training on the GPU goes the way that it goes on the processor.
func TestCUDATrains(t *testing.T) {
	needGPU(t)
	inFolder(t)
	photographs(t, "data", 2)
	var losses [2][]float64
	for i, device := range []string{"cpu", "cuda"} {
		r := restoring(t, tiny("data", "-o", device, "--backend", device, "--json", "-q", "--seed", "3")...)
		require.Equal(t, exitDone, r.code, r.stderr)
		for _, o := range objects(t, r.stdout) {
			if loss, ok := o["loss"].(float64); ok {
				losses[i] = append(losses[i], loss)
			}
		}
	}
	require.Len(t, losses[0], 6)
	require.Len(t, losses[1], 6)
	for k := range losses[0] {
		require.Less(t, math.Abs(losses[1][k]/losses[0][k]-1), 1e-3, "iteration %d: %v and %v", k, losses[0][k], losses[1][k])
	}
}

// A GPU that is too old is refused by its name, and passed over by auto.
func TestCUDAOfOldGPUs(t *testing.T) {
	all := needGPU(t)
	inFolder(t)
	save(t, "a.pfm", picture(1, 20, 24, 32, 0.1))
	taken := "computing on "
	var passed []string
	for i, c := range all {
		args := []string{"denoise", "--method", "tv", "--sigma", "0.1", "--force", "--backend", cudaName(i), "a.pfm"}
		if c.Major >= 7 {
			succeeds(t, args...)
			if taken == "computing on " {
				taken += cudaName(i)
			}
			continue
		}
		fails(t, exitUsage, []string{cudaName(i), "compute capability 7.0 or newer is needed", "use --backend cpu or auto"}, args...)
		if taken == "computing on " {
			passed = append(passed, cudaName(i)+", "+c.Model+", does not work: ")
		}
	}
	r := restoring(t, "denoise", "--method", "tv", "--sigma", "0.1", "--force", "-v", "a.pfm")
	require.Equal(t, exitDone, r.code, r.stderr)
	if len(passed) == len(all) {
		require.NotContains(t, r.stderr, taken, "the processor is what is left")
	} else {
		require.Contains(t, r.stderr, taken)
	}
	require.Equal(t, len(passed), strings.Count(r.stderr, "does not work: "))
	for _, p := range passed {
		require.Contains(t, r.stderr, p)
	}
}

// auto takes the GPU, and says so with -v only.
func TestCUDAIsWhatAutoTakes(t *testing.T) {
	all := needGPU(t)
	inFolder(t)
	save(t, "a.pfm", picture(1, 20, 24, 32, 0.1))
	succeeds(t, "denoise", "--method", "tv", "--sigma", "0.1", "a.pfm")
	r := restoring(t, "denoise", "--method", "tv", "--sigma", "0.1", "-v", "--force", "a.pfm")
	require.Equal(t, exitDone, r.code)
	require.Contains(t, r.stderr, "computing on cuda:0, "+all[0].Model+"\n")
}
