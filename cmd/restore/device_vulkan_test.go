//go:build !novulkan

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/vulkan"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/internal/vulkan/vulkantest"
)

// needVulkan skips the test where there is no GPU with Vulkan and none is demanded.
func needVulkan(t *testing.T) []vulkan.GPU {
	t.Helper()
	all, err := vulkan.Devices()
	vulkantest.Need(t, err, err == nil && all[0].Kind == vulkan.Processor)
	return all
}

func TestVulkanInInfo(t *testing.T) {
	all := needVulkan(t)
	o := objects(t, succeeds(t, "info", "--json").stdout)[0]
	require.NotContains(t, o, "no_vulkan")
	devices := o["devices"].([]any)
	found := devices[len(devices)-len(all):]
	text := succeeds(t, "info").stdout
	for i, g := range all {
		d := found[i].(map[string]any)
		device := fmt.Sprintf("vulkan:%d", i)
		require.Equal(t, device, d["name"])
		require.Equal(t, g.Driver, d["driver"])
		require.Equal(t, true, d["works"])
		require.Contains(t, text, "device    "+device+": "+message.OneLine(g.Name)+", ")
	}
	require.Contains(t, text, "; its results are those of the processor\n")
}

func TestVulkanThatIsNotThere(t *testing.T) {
	inFolder(t)
	save(t, "a.pfm", picture(1, 20, 24, 32, 0.1))
	fails(t, exitUsage, []string{"--backend vulkan:65535: ", "use --backend cpu or auto"}, "denoise", "--backend", "vulkan:65535", "a.pfm")
	fails(t, exitUsage, []string{"want auto, cpu, cuda[:N] or vulkan[:N]"}, "denoise", "--backend", "vulkan:x", "a.pfm")
}

// An attack needs gradients, which are the processor's.
func TestVulkanAttacksAreTheProcessors(t *testing.T) {
	needVulkan(t)
	inFolder(t)
	network := certifiedNetwork(t)
	var reports [2][]map[string]any
	for i, device := range []string{"cpu", "vulkan"} {
		r := restoring(t, "check", "--prior", network, "--json", "--backend", device)
		require.Equal(t, exitDone, r.code, r.stderr)
		require.Equal(t, device == "vulkan", strings.Contains(r.stderr, "it makes no gradients, which an attack needs; the processor takes over\n"), r.stderr)
		reports[i] = objects(t, r.stdout)
	}
	require.Equal(t, reports[0], reports[1])
}

// What is restored by Vulkan agrees with the processor's to 80 dB and more.
func TestVulkanAgreesWithTheProcessor(t *testing.T) {
	needVulkan(t)
	network := certifiedNetwork(t)
	for name, args := range map[string][]string{
		"denoise":         {"denoise", "noisy.pfm"},
		"denoise sigma":   {"denoise", "--sigma", "0.1", "noisy.pfm"},
		"denoise fast":    {"denoise", "--method", "fast", "--sigma", "0.1", "noisy.pfm"},
		"denoise tv":      {"denoise", "--method", "tv", "--sigma", "0.1", "noisy.pfm"},
		"denoise network": {"denoise", "--method", network, "--sigma", "0.1", "--tile", "16", "noisy.pfm"},
		"deblur":          {"deblur", "--kernel", "motion.png", "--sigma", "0.01", "blurred.pfm"},
		"deblur tv":       {"deblur", "--prior", "tv", "--kernel", "motion.png", "--sigma", "0.01", "--iterations", "10", "blurred.pfm"},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t)
			save(t, "clean.pfm", picture(3, 40, 48, 32, 0))
			save(t, "noisy.pfm", picture(3, 40, 48, 32, 0.1))
			succeeds(t, "kernel", "motion", "--length", "5", "--angle", "30", "-o", "motion.png")
			succeeds(t, "degrade", "clean.pfm", "--backend", "cpu", "--kernel", "motion.png", "--sigma", "0.01", "-o", "blurred.pfm")
			var out [2][]float32
			for i, device := range []string{"cpu", "vulkan"} {
				r := restoring(t, append(args, "--backend", device, "-o", device+".pfm")...)
				require.Equal(t, exitDone, r.code, r.stderr)
				require.NotContains(t, r.stderr, "the processor takes over")
				out[i] = load(t, device+".pfm").Pix
			}
			psnr, err := quality.PSNR(out[0], out[1], 1)
			require.NoError(t, err)
			require.Greater(t, psnr, 80.0)
			t.Logf("%.1f dB", psnr)
		})
	}
}

// Software is never what auto takes, and no race is held for it.
func TestVulkanInSoftwareIsNotTaken(t *testing.T) {
	for _, g := range needVulkan(t) {
		if g.Kind != vulkan.Processor {
			t.Skipf("%s is a GPU, which auto may take: bash .ci/vulkan runs this where there is none", g.Name)
		}
	}
	inFolder(t)
	cache := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, cache)
	}
	save(t, "a.pfm", picture(1, 20, 24, 32, 0.1))
	r := restoring(t, "denoise", "--method", "tv", "--sigma", "0.1", "-v", "a.pfm")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.NotContains(t, r.stderr, "vulkan")
	files, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Empty(t, files)
}

// A fault in any call of the driver ends in the processor's picture, and one line that says why.
func TestVulkanFaultsEndOnTheProcessor(t *testing.T) {
	needVulkan(t)
	inFolder(t)
	save(t, "noisy.pfm", picture(3, 24, 30, 32, 0.1))
	network := certifiedNetwork(t)
	run := func(device string) (ran, []float32) {
		r := restoring(t, "denoise", "--method", network, "--sigma", "0.1", "--backend", device, "--force", "-o", "out.pfm", "noisy.pfm")
		require.Equal(t, exitDone, r.code, r.stderr)
		return r, load(t, "out.pfm").Pix
	}
	_, want := run("cpu")
	var own []float32
	calls := vulkantest.Calls(func() { _, own = run("vulkan") })
	for _, name := range vulkantest.Functions() {
		for _, after := range []int64{0, calls[name] / 2} {
			var r ran
			var got []float32
			vulkantest.Failing(name, after, vulkantest.Lost, func() { r, got = run("vulkan") })
			if strings.Count(r.stderr, "the processor takes over\n") == 0 {
				require.Equal(t, own, got, "%s after %d calls: %s", name, after, r.stderr) // it made no difference
				continue
			}
			require.Equal(t, want, got, "%s after %d calls", name, after)
			require.Equal(t, 1, strings.Count(r.stderr, "restore: "), r.stderr)
			require.Regexp(t, `^restore: .*vulkan.*; the processor takes over\n`, r.stderr)
		}
	}
}

// The commands that measure and degrade go on on the processor, too, from where a submission failed.
func TestVulkanFaultsWhileMeasuring(t *testing.T) {
	needVulkan(t)
	inFolder(t)
	require.NoError(t, os.Mkdir("clean", 0o755))
	save(t, "clean/a.pfm", picture(3, 20, 24, 32, 0))
	save(t, "clean/b.pfm", picture(1, 24, 20, 32, 0))
	succeeds(t, "kernel", "motion", "--length", "3", "--angle", "30", "-o", "motion.png")
	network := certifiedNetwork(t)
	seconds := regexp.MustCompile(`"seconds":[^,}]*`)
	for name, args := range map[string][]string{
		"degrade": {"degrade", "clean/a.pfm", "--kernel", "motion.png", "--sigma", "0.01", "--force", "-o", "out.pfm", "--json"},
		"eval":    {"eval", "clean", "--sigma", "0.1", "--method", "tv", "--weights", network, "--json"},
		"check":   {"check", "clean/a.pfm", "--prior", "tv", "--kernel", "motion.png", "--sigma", "0.05", "--iterations", "3", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			on := func(device string) ran { return restoring(t, append(args, "--backend", device)...) }
			want := on("cpu")
			var pixels []float32
			if name == "degrade" {
				pixels = load(t, "out.pfm").Pix
			}
			calls := vulkantest.Calls(func() { require.Equal(t, want.code, on("vulkan").code) })
			var r ran
			const submit = "vkQueueSubmit"
			vulkantest.Failing(submit, calls[submit]*3/4, vulkantest.Lost, func() { r = on("vulkan") })
			require.Equal(t, want.code, r.code, r.stderr)
			require.Equal(t, 1, strings.Count(r.stderr, "the processor takes over\n"), r.stderr)
			got, expected := objects(t, seconds.ReplaceAllString(r.stdout, `"seconds":0`)), objects(t, seconds.ReplaceAllString(want.stdout, `"seconds":0`))
			require.Len(t, got, len(expected))
			switch name {
			case "degrade":
				require.Equal(t, pixels, load(t, "out.pfm").Pix)
			case "check":
				require.Equal(t, expected, got)
			case "eval":
				// What came before is the GPU's.
				for i := range got {
					require.Equal(t, expected[i]["method"], got[i]["method"])
					require.InDelta(t, expected[i]["psnr"], got[i]["psnr"], 1e-3)
				}
			}
		})
	}
}
