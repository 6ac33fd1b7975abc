// Package arrows keeps the architecture: a table says which package may import
// which, and its tests compare the table with the files. Arrows run downward
// only; the four restoration packages denoise, deblur, tv and pnp stand side by
// side and know nothing of each other; training never reaches a program that only
// restores; and whoever embeds the library takes on three well-kept modules and
// no C compiler.
package arrows

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The modules of others that the table speaks of.
const (
	gonum   = "gonum.org/v1/gonum"
	plot    = "gonum.org/v1/plot"
	xImage  = "golang.org/x/image"
	xSys    = "golang.org/x/sys"
	xTerm   = "golang.org/x/term"
	cobra   = "github.com/spf13/cobra"
	pflag   = "github.com/spf13/pflag" // the flags of cobra
	cudaCgo = "gorgonia.org/cu"
	purego  = "github.com/ebitengine/purego"
	flate   = "github.com/klauspost/compress"
	testify = "github.com/stretchr/testify"
	rapid   = "pgregory.net/rapid"
)

// table has one row for every package.
var table = map[string]row{
	// What stands on top.
	"cmd/restore": {code: []string{
		"restore", "raw", "train",
		// The types of restore's own face: devices, kernels, networks, certificates. See
		// RATIONALE.md.
		"backend", "backend/cpu", "deblur", "denoise", "denoise/rungekutta", "pnp", "upscale", "weights", "weights/research",
		"internal/cameranoise", "internal/curves", "internal/degradation", "internal/dng", "internal/evaluation", "internal/findings", "internal/htmlreport", "internal/imagefile", "internal/atomicfile", "internal/imageplanes", "internal/kernelimage", "internal/maskimage", "internal/networks", "internal/openfile", "internal/quality",
		"web",
		"cmd/restore/internal/build", "cmd/restore/internal/devices", "cmd/restore/internal/inventory", "cmd/restore/internal/manual", "cmd/restore/internal/memory", "cmd/restore/internal/message", "cmd/restore/internal/plan", "cmd/restore/internal/record", "cmd/restore/internal/reportpage", "cmd/restore/internal/terminal",
		cobra, pflag,
	}, tests: []string{"backend/cuda", "backend/vulkan", "denoise/dncnn", "internal/metadata", "internal/srgb", "internal/vulkan/vulkantest"}},
	// Parts of the command line, none of which knows of it.
	"cmd/restore/internal/build":      {},
	"cmd/restore/internal/devices":    {code: []string{"restore", "backend", "backend/cpu", "backend/cuda", "backend/vulkan", "internal/atomicfile", "cmd/restore/internal/build", "cmd/restore/internal/message"}, tests: []string{"internal/vulkan/vulkantest"}},
	"cmd/restore/internal/memory":     {code: []string{"pnp"}},
	"cmd/restore/internal/message":    {code: []string{"cmd/restore/internal/terminal"}},
	"cmd/restore/internal/inventory":  {code: []string{"restore", "backend/cpu", "deblur", "denoise", "weights", "internal/networks", "cmd/restore/internal/build", "cmd/restore/internal/devices", "cmd/restore/internal/message", "cmd/restore/internal/plan", "cmd/restore/internal/record"}},
	"cmd/restore/internal/manual":     {code: []string{cobra, pflag}},
	"cmd/restore/internal/plan":       {code: []string{"internal/imagefile", "cmd/restore/internal/message"}},
	"cmd/restore/internal/record":     {code: []string{"restore", "raw", "train", "deblur", "denoise", "pnp", "weights", "internal/cameranoise", "internal/evaluation", "internal/htmlreport", "internal/imagefile", "internal/quality", "cmd/restore/internal/message", "cmd/restore/internal/terminal"}},
	"cmd/restore/internal/reportpage": {code: []string{"restore", "backend", "deblur", "pnp", "internal/htmlreport", "internal/imagefile"}},
	"cmd/restore/internal/terminal":   {code: []string{xTerm}},
	"restore": {code: []string{
		"raw", "denoise", "denoise/refute", "denoise/rungekutta", "deblur", "deblur/estimate", "inpaint", "operator", "upscale", "pnp", "backend", "backend/cpu", "weights", "weights/open",
		"internal/arguments", "internal/blurdomain", "internal/deblurring", "internal/denoising", "internal/imagefile/jpeg", "internal/imagefile/picture", "internal/imageplanes", "internal/inverse", "internal/maskimage", "internal/meter", "internal/networks", "internal/noise", "internal/outcome", "internal/rawdenoise", "internal/srgb", "internal/strength",
	}, tests: []string{"denoise/activation", "denoise/dncnn", "tv", "internal/cameranoise", "internal/dng", "internal/imagefile", "internal/scene", "internal/quality", "internal/synthetic", "weights/research"}},
	// The parts of restore, which opens the image before them and closes it after them.
	"internal/deblurring": {code: []string{
		"deblur", "deblur/estimate", "denoise", "denoise/refute", "operator", "tv", "pnp", "backend",
		"internal/clipping", "internal/coarsenoise", "internal/denoising", "internal/fft", "internal/imageplanes", "internal/inverse", "internal/meter", "internal/networks", "internal/outcome", "internal/parallel", "internal/srgb", "internal/strength",
	}, tests: []string{"internal/synthetic", "weights", "weights/open"}},
	"internal/denoising": {code: []string{
		"denoise", "tv", "pnp", "backend", "weights",
		"internal/imageplanes", "internal/meter", "internal/networks", "internal/noise", "internal/outcome", "internal/parallel", "internal/strength",
	}, tests: []string{"internal/synthetic"}},
	"internal/inverse":     {code: []string{"operator", "tv", "pnp", "backend", "internal/imageplanes", "internal/meter", "internal/networks", "internal/outcome", "internal/strength"}},
	"internal/networks":    {code: []string{"denoise", "denoise/rungekutta", "operator", "pnp", "backend", "weights", "internal/noise", "internal/outcome", "internal/strength"}, tests: []string{"denoise/refute", "weights/research"}},
	"internal/outcome":     {code: []string{"denoise", "pnp", "internal/noise"}},
	"internal/meter":       {code: []string{"backend"}},
	"internal/kernelimage": {code: []string{"deblur", "internal/imagefile/format", "internal/imagefile/picture"}, tests: []string{"internal/imagefile"}},
	"internal/maskimage":   {code: []string{"internal/imagefile/picture", "internal/imageplanes", "internal/outcome"}},
	"internal/imageplanes": {code: []string{"inpaint", "upscale", "backend", "internal/strength", gonum}, tests: []string{"internal/synthetic"}},
	// deblur, internal/fft and internal/parallel blur what a prior learns from, internal/cameranoise
	// photographs it, and internal/strength says for which levels the steps of deblurring are. See RATIONALE.md.
	"train": {code: []string{"raw", "internal/arguments", "internal/atomicfile", "internal/rawdenoise", "denoise", "denoise/activation", "denoise/dncnn", "internal/nn/guide", "internal/nn/pullback", "denoise/rungekutta", "deblur", "backend", "weights", "internal/cameranoise", "internal/devicequeue", "internal/fft", "internal/noise", "internal/parallel", "internal/strength", "internal/symmetry", gonum}},

	// The restoration packages, side by side.
	"denoise": {code: []string{
		"averaged", "backend", "weights",
		"denoise/activation", "denoise/dncnn", "internal/nn/guide", "denoise/normbound", "internal/nn/pullback", "denoise/refute", "denoise/internal/rounding", "denoise/rungekutta",
		"internal/nn/tile", "denoise/internal/draw", "internal/nn/ondevice", "internal/nn/tensors", "denoise/internal/plain", "internal/arguments", "internal/devicequeue", "internal/parallel",
	}, tests: []string{"internal/devicetest"}},
	"deblur": {
		code:  []string{"operator", "backend", "internal/arguments", "internal/fft", "internal/imagecheck", "internal/parallel", "internal/response", "internal/strength"},
		tests: []string{"operator/operatortest", "internal/devicetest"},
	},
	"inpaint": {code: []string{"operator", "backend", "internal/arguments", "internal/parallel"}, tests: []string{"operator/operatortest", "internal/devicetest"}},
	"tv":      {code: []string{"backend", "internal/arguments", "internal/strength", gonum}},
	"pnp":     {code: []string{"averaged", "operator", "backend", "internal/arguments", gonum}, tests: []string{"internal/devicetest"}},
	// Raw photographs.
	"raw": {code: []string{"internal/demosaic", "internal/development", "internal/dng", "internal/imagefile/format", "internal/imagefile/source"}, tests: []string{"internal/cameranoise"}},
	// The kernel of a photograph, and internal/noise and internal/coarsenoise because noise in it says how far to trust its edges.
	"deblur/estimate": {
		code: []string{"backend", "deblur", "internal/clipping", "internal/coarsenoise", "internal/fft", "internal/noise", "internal/parallel", "internal/symmetry", gonum},
	},
	// A blur and downsampling: the one that builds on another.
	"upscale": {
		code:  []string{"deblur", "operator", "backend", "internal/arguments", "internal/parallel", "internal/response"},
		tests: []string{"operator/operatortest", "internal/devicetest"},
	},

	// Parts of denoise, none of which knows of it, and what it shares with train.
	"denoise/activation": {code: []string{"backend"}},
	"denoise/dncnn": {code: []string{
		"backend", "weights", "denoise/activation", "denoise/normbound", "internal/arguments", "internal/nn/tile",
		"denoise/internal/draw", "internal/nn/ondevice", "internal/nn/tensors",
	}},
	"internal/nn/guide":    {code: []string{"backend", "internal/nn/tile", "internal/nn/ondevice", "internal/devicequeue"}, tests: []string{"backend/backendtest/refdevice", "backend/cpu"}},
	"denoise/normbound":    {code: []string{"backend", "denoise/internal/plain", "internal/parallel", "internal/response", gonum}, tests: []string{"internal/devicetest"}},
	"internal/nn/pullback": {code: []string{"backend", "denoise/rungekutta", "internal/devicequeue"}},
	"denoise/refute": {
		code:  []string{"averaged", "backend", "internal/nn/tile"},
		tests: []string{"denoise", "denoise/activation", "denoise/dncnn", "denoise/normbound", "denoise/rungekutta", "internal/devicetest"},
	},
	"denoise/internal/rounding": {code: []string{"backend", "internal/parallel", gonum}},
	"denoise/rungekutta":        {code: []string{gonum}, tests: []string{"averaged", "denoise/internal/plain"}},
	"internal/nn/tile":          {code: []string{"backend"}},
	"denoise/internal/draw":     {code: []string{"backend"}},
	"internal/nn/tensors":       {code: []string{"weights"}},
	"internal/nn/ondevice":      {code: []string{"backend"}},
	"denoise/internal/plain":    {code: []string{"backend", "internal/parallel"}},

	// What they stand on.
	"averaged":              {},
	"operator":              {code: []string{"backend", "internal/arguments"}, tests: []string{"deblur", "inpaint", "operator/operatortest", "internal/devicetest"}},
	"operator/operatortest": {code: []string{"operator", "backend", "internal/arguments"}},
	"internal/devicetest":   {code: []string{"operator", "backend", testify}},
	"backend":               {},
	// internal/hostblur and what it stands on blur on the host for a device that does not.
	"backend/devicekit":  {code: []string{"backend", "internal/arguments", "internal/fallback", "internal/fft", "internal/hostblur", "internal/parallel"}},
	"internal/arguments": {code: []string{"backend"}},
	"internal/fallback":  {code: []string{"backend", "internal/arguments", "internal/parallel"}},
	"backend/cpu": {code: []string{
		"backend", "backend/devicekit", "internal/parallel", "internal/fft", "internal/hostblur", "internal/instructionset",
		"backend/cpu/internal/convrow", "backend/cpu/internal/tvrow", "backend/cpu/internal/vectors", "backend/cpu/internal/winograd",
	}},
	"internal/cputest":              {code: []string{"backend/cpu", testify}},
	"backend/cpu/internal/convrow":  {code: []string{xSys}},
	"backend/cpu/internal/tvrow":    {code: []string{xSys}},
	"backend/cpu/internal/vectors":  {code: []string{xSys}},
	"backend/cpu/internal/winograd": {code: []string{xSys}},
	"backend/cuda": {
		code:  []string{"backend", "backend/devicekit", "backend/cuda/internal/driver", "backend/cuda/internal/kernels", "internal/mempool"},
		tests: []string{"denoise", "denoise/refute", "denoise/rungekutta", "train", "weights", "weights/open", "weights/research", "internal/scene"},
	},
	"backend/cuda/cgoflags":         {},
	"backend/cuda/internal/driver":  {code: []string{cudaCgo}},
	"backend/cuda/internal/kernels": {},
	"internal/spread":               {code: []string{"backend", "internal/arguments"}},
	// The processor is what results of a GPU are compared with.
	"backend/vulkan":                {code: []string{"backend", "internal/vulkan/driver", "internal/dispatch", "internal/mempool", "internal/selftest"}, tests: []string{"backend/backendtest", "backend/cpu", "internal/devicetest", "internal/vulkan/vulkantest", "denoise", "weights", "weights/open"}},
	"backend/webgpu":                {code: []string{"backend", "internal/dispatch", "internal/selftest"}, tests: []string{"backend/backendtest", "internal/devicetest"}},
	"internal/dispatch":             {code: []string{"backend", "backend/devicekit", "internal/selftest"}},
	"internal/mempool":              {code: []string{"backend"}},
	"internal/selftest":             {code: []string{"backend", "backend/cpu", "backend/devicekit"}},
	"internal/vulkan/driver":        {code: []string{purego, xSys}},
	"internal/vulkan/vulkantest":    {code: []string{"internal/vulkan/driver"}},
	"backend/backendtest":           {code: []string{"backend", "internal/arguments", "internal/fallback", testify, rapid, gonum}},
	"backend/backendtest/refdevice": {code: []string{"backend", "backend/devicekit"}},
	"weights":                       {tests: []string{"weights/open", "weights/research"}},
	"weights/open":                  {code: []string{"weights"}},
	"weights/research":              {code: []string{"weights"}},

	// The page in the browser: its server, what its workers run, and what makes its files.
	"web":       {},
	"web/wasm":  {code: []string{"restore", "deblur", "backend", "backend/cpu", "backend/webgpu", "internal/spread", "internal/imagefile", "internal/kernelimage"}},
	"web/build": {code: []string{"internal/htmlreport"}},

	// Internal packages, each with one purpose.
	"internal/anscombe":       {},
	"internal/arrows":         {},
	"internal/atomicfile":     {code: []string{"internal/openfile"}},
	"internal/clipping":       {},
	"internal/cameranoise":    {code: []string{"backend", "internal/demosaic", "internal/jpegblock", "internal/matrix3"}, tests: []string{"internal/imagefile"}},
	"internal/curves":         {code: []string{"train", "internal/htmlreport", plot, xImage}},
	"internal/demosaic":       {},
	"internal/development":    {code: []string{"internal/demosaic", "internal/matrix3", "internal/srgb"}},
	"internal/devicequeue":    {code: []string{"backend"}},
	"internal/parallel":       {},
	"internal/dng":            {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/losslessjpeg", "internal/tiffdir"}, tests: []string{"internal/imagefile"}},
	"internal/fft":            {code: []string{"internal/instructionset", "internal/parallel"}},
	"internal/degradation":    {code: []string{"backend", "deblur", "internal/cameranoise", "internal/dng", "internal/imagefile"}},
	"internal/evaluation":     {code: []string{"restore", "backend", "deblur", "internal/degradation", "internal/findings", "internal/htmlreport", "internal/imagefile", "internal/quality"}},
	"internal/findings":       {code: []string{"internal/htmlreport", "internal/atomicfile"}},
	"internal/hostblur":       {code: []string{"backend", "internal/fft", "internal/parallel"}},
	"internal/htmlreport":     {},
	"internal/instructionset": {code: []string{xSys}},
	"internal/imagecheck":     {},
	"internal/iccprofile":     {code: []string{"internal/matrix3"}},
	// The front stands on one package for each format, and they on what all of them share.
	"internal/imagefile":      {code: []string{"internal/iccprofile", "internal/imagecheck", "internal/atomicfile", "internal/imagefile/bmp", "internal/imagefile/format", "internal/imagefile/gif", "internal/imagefile/jpeg", "internal/imagefile/picture", "internal/imagefile/png", "internal/imagefile/pnm", "internal/imagefile/source", "internal/imagefile/tiff", "internal/imagefile/webp", "internal/jpegblock", "internal/metadata", "internal/openfile"}, tests: []string{"internal/imagefile/imagetest", "internal/imagefile/jpeg/segment", "internal/imagefile/samples", "internal/tiffdir"}},
	"internal/imagefile/bmp":  {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/imagefile/samples", "internal/metadata"}, tests: []string{"internal/imagefile/imagetest"}},
	"internal/imagefile/gif":  {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/metadata"}, tests: []string{"internal/imagefile/imagetest", "internal/imagefile/samples"}},
	"internal/imagefile/jpeg": {code: []string{"internal/imagecheck", "internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/imagefile/chroma", "internal/imagefile/jpeg/segment", "internal/jpegblock", "internal/metadata", "internal/tiffdir"}, tests: []string{"internal/imagefile/imagetest"}},
	"internal/imagefile/png":  {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/iccprofile", "internal/metadata", flate}, tests: []string{"internal/imagefile/imagetest"}},
	"internal/imagefile/pnm":  {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source"}, tests: []string{"internal/imagefile/imagetest", "internal/imagefile/samples"}},
	"internal/imagefile/tiff": {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/imagefile/chroma", "internal/imagefile/jpeg", "internal/imagefile/jpeg/segment", "internal/imagefile/samples", "internal/imagefile/tiff/fax", "internal/metadata", "internal/parallel", "internal/srgb", "internal/tiffdir", flate, xImage}, tests: []string{"internal/imagefile/imagetest", "internal/imagefile/png"}},
	"internal/imagefile/webp": {code: []string{"internal/imagefile/format", "internal/imagefile/picture", "internal/imagefile/source", "internal/imagefile/samples", "internal/metadata", xImage}},
	// Fax rows are tried inside of TIFF, too.
	"internal/imagefile/tiff/fax":     {code: []string{"internal/imagefile/format"}, tests: []string{"internal/imagefile/imagetest", "internal/imagefile/picture", "internal/imagefile/source", "internal/imagefile/tiff", "internal/tiffdir", xImage}},
	"internal/imagefile/jpeg/segment": {code: []string{"internal/metadata"}},
	"internal/imagefile/picture":      {code: []string{"internal/imagecheck", "internal/imagefile/chroma", "internal/imagefile/format", "internal/imagefile/samples", "internal/imagefile/source", "internal/iccprofile", "internal/metadata"}, tests: []string{"internal/imagefile/imagetest"}},
	"internal/imagefile/source":       {code: []string{"internal/imagefile/format", "internal/metadata"}},
	"internal/imagefile/chroma":       {},
	"internal/imagefile/format":       {},
	"internal/imagefile/samples":      {},
	"internal/imagefile/imagetest":    {code: []string{"internal/imagefile/jpeg/segment", "internal/imagefile/picture", "internal/imagefile/samples", "internal/imagefile/source", "internal/tiffdir", testify}},
	"internal/jpegblock":              {},
	"internal/matrix3":                {},
	"internal/metadata":               {code: []string{"internal/tiffdir"}},
	"internal/openfile":               {},
	"internal/levellearning":          {code: []string{"backend", "denoise", "train", "internal/cameranoise", "internal/denoising", "internal/devicequeue", "internal/imageplanes", "internal/noise", "internal/parallel", "internal/symmetry", "internal/synthetic"}, tests: []string{"backend/cpu"}},
	"internal/symmetry":               {},
	// It knows nothing of denoise, so that deblur/estimate, rawdenoise and learning can stand on it; what is done about
	// noise is in internal/denoising.
	"internal/noise":        {code: []string{"backend", "weights", "internal/devicequeue", "internal/nn/ondevice", "internal/nn/tensors", "internal/parallel"}, tests: []string{"backend/cpu", "weights/open", "internal/cameranoise", "internal/synthetic"}},
	"internal/losslessjpeg": {},
	"internal/blurdomain":   {code: []string{"deblur", "internal/imageplanes", "internal/parallel", "internal/srgb", gonum}, tests: []string{rapid}},
	"internal/coarsenoise":  {code: []string{"deblur", "internal/clipping", "internal/fft", "internal/parallel", "internal/strength"}},
	"internal/sensornoise":  {},
	"internal/rawdenoise":   {code: []string{"raw", "internal/anscombe", "internal/demosaic", "internal/noise", "internal/sensornoise"}, tests: []string{"internal/cameranoise"}},
	"internal/response":     {},
	"internal/quality":      {code: []string{"internal/parallel"}},
	"internal/scene":        {code: []string{"internal/srgb"}},
	"internal/srgb":         {},
	"internal/strength":     {},
	"internal/tiffdir":      {},
	"internal/synthetic":    {code: []string{"backend", "internal/srgb", xImage}},

	// What is published.
	"internal/release":               {},
	"examples/batch":                 {code: []string{"restore", "backend"}, tests: []string{"examples/internal/smallpicture"}},
	"examples/demosaic":              {code: []string{"restore", "inpaint", "operator", "backend"}, tests: []string{"examples/internal/smallpicture"}},
	"examples/deblur":                {code: []string{"restore", "deblur"}, tests: []string{"examples/internal/smallpicture"}},
	"examples/owndenoiser":           {code: []string{"restore"}, tests: []string{"examples/internal/smallpicture"}},
	"examples/ownoperator":           {code: []string{"restore", "operator"}, tests: []string{"examples/internal/smallpicture", "operator/operatortest"}},
	"examples/webhandler":            {code: []string{"restore", "backend"}, tests: []string{"examples/internal/smallpicture"}},
	"examples/internal/smallpicture": {code: []string{testify}},

	// The paper's experiments. Nothing imports them but themselves.
	"experiments/classification": {code: []string{
		"backend", "experiments/internal/cifar", "experiments/internal/classifier", "experiments/internal/command",
		"internal/findings", "internal/htmlreport", "internal/atomicfile",
	}, tests: []string{"experiments/internal/tinyset"}},
	"experiments/cost": {code: []string{
		"backend", "backend/cpu", "denoise", "train", "tv", "experiments/internal/classifier", "experiments/internal/command", "experiments/internal/denoisers",
		"internal/findings",
	}, tests: []string{"experiments/internal/tinyset"}},
	"experiments/deblurring": {
		code: []string{
			"backend", "deblur", "denoise", "pnp", "experiments/internal/command", "experiments/internal/denoisers", "experiments/internal/results",
			"internal/findings", "internal/htmlreport", "internal/quality",
		},
		tests: []string{"experiments/internal/tinyset"},
	},
	"experiments/denoising": {
		code: []string{
			"backend", "train", "experiments/internal/command", "experiments/internal/denoisers", "experiments/internal/results",
			"internal/findings", "internal/curves", "internal/htmlreport", "internal/quality",
		},
		tests: []string{"experiments/internal/tinyset"},
	},
	"experiments/repeated": {
		code: []string{
			"backend", "denoise/refute", "experiments/internal/command", "experiments/internal/denoisers", "experiments/internal/results",
			"internal/findings", "internal/htmlreport",
		},
		tests: []string{"experiments/internal/tinyset"},
	},
	"experiments/internal/cifar": {},
	"experiments/internal/classifier": {code: []string{
		"backend", "denoise/normbound", "train", "weights", "experiments/internal/cifar", "internal/devicequeue", "internal/atomicfile",
	}},
	"experiments/internal/command": {code: []string{"backend", "backend/cpu", "internal/findings"}},
	"experiments/internal/denoisers": {code: []string{
		"backend", "denoise", "denoise/rungekutta", "tv", "weights", "weights/research", "experiments/internal/command", "internal/imagefile",
	}},
	"experiments/internal/results": {code: []string{"internal/atomicfile"}},
	"experiments/internal/tinyset": {code: []string{testify}},

	// Generators.
	"internal/learnlevels":  {code: []string{"backend/cpu", "denoise", "train", "internal/levellearning", "weights", "weights/open", "internal/imagefile", "internal/noise"}},
	"internal/qualitygate":  {code: []string{"restore", "internal/cameranoise", "internal/imagefile", "internal/atomicfile", "internal/quality", "internal/synthetic"}},
	"internal/scene/render": {code: []string{"internal/scene"}},

	// Races against other programs.
	"internal/blindrace": {code: []string{"restore", "deblur", "backend", "backend/cpu", "weights/research", "internal/fft", "internal/imagefile", "internal/parallel", "internal/racing", "internal/srgb"}},
	"internal/rawrace":   {code: []string{"raw", "restore", "weights", "weights/research", "internal/cameranoise", "internal/imagefile", "internal/quality", "internal/rawdenoise"}},
	"internal/racing":    {code: []string{"weights", "backend"}},
	"internal/gpurace":   {code: []string{"denoise", "train", "weights", "weights/open", "backend", "backend/cpu", "backend/cuda", "backend/vulkan", "internal/racing"}},
	"internal/netrace":   {code: []string{"denoise", "weights", "backend", "backend/cpu", "internal/racing"}},
	"internal/tvrace":    {code: []string{"tv", "backend", "backend/cpu", "internal/imagefile", "internal/racing"}},
}

// everyTest is what the tests of any package may import.
var everyTest = []string{
	testify, rapid, gonum,
	"backend", "backend/devicekit", "internal/arguments", "internal/fallback", "backend/cpu", "internal/cputest", "backend/backendtest", "backend/backendtest/refdevice",
}

func TestArrows(t *testing.T) {
	packages, err := readModule("../..")
	require.NoError(t, err)
	require.Contains(t, packages, "internal/arrows", "the module's root is found")
	require.Empty(t, strings.Join(check(packages, table, everyTest), "\n"))
}

// The checker itself reports what it must.
func TestCheckReportsForbiddenArrows(t *testing.T) {
	madeUp := map[string]imports{
		"restore":                 {code: []string{"inpaint", "pnp", "train"}},
		"denoise":                 {code: []string{"backend", "tv"}, tests: []string{"denoise", testify + "/require", "pnp"}},
		"tv":                      {code: []string{gonum + "/mat", testify + "/require"}, tests: []string{"backend/cpu"}},
		"pnp":                     {code: []string{"backend/cpu"}},
		"backend":                 {code: []string{"tv"}},
		"helpers":                 {},
		"internal/instructionset": {code: []string{xSys + "/cpu", xSys + "temic/cpu"}},
		".":                       {code: []string{"restore"}},
	}
	require.Equal(t, []string{
		".: unknown package: add a row to the table in internal/arrows that says what it may import",
		"backend must not import tv",
		"denoise must not import tv",
		"denoise: its tests must not import pnp",
		"helpers: unknown package: add a row to the table in internal/arrows that says what it may import",
		"internal/instructionset must not import golang.org/x/systemic/cpu",
		"pnp must not import backend/cpu",
		"restore must not import train",
		"tv must not import github.com/stretchr/testify/require",
	}, check(madeUp, table, everyTest))
}

// The table has no arrow that the design forbids, whoever edits it.
func TestTableKeepsTheDesign(t *testing.T) {
	sideBySide := []string{"denoise", "deblur", "inpaint", "tv", "pnp"}
	for _, folder := range sideBySide {
		for _, other := range sideBySide {
			require.False(t, allowed(other, table[folder].code, table[folder].tests, everyTest), "%s → %s", folder, other)
		}
	}
	require.NotContains(t, reachable("restore"), "train")
	require.NotContains(t, reachable("restore"), "weights/research", "weights are imported, not imposed")
	for folder := range table {
		require.NotContains(t, reachable(folder), folder, "arrows run downward only")
		if !strings.HasPrefix(folder, "experiments/") {
			require.False(t, slices.ContainsFunc(reachable(folder), func(p string) bool { return strings.HasPrefix(p, "experiments/") }), "%s is no experiment", folder)
		}
	}
	for _, folder := range []string{"backend", "weights"} {
		require.Empty(t, table[folder].code, "%s stands on the standard library alone", folder)
	}
}

// reachable returns the packages of the table that one of them may import,
// directly or through others.
func reachable(folder string) []string {
	var found []string
	for next := slices.Clone(table[folder].code); len(next) > 0; next = next[1:] {
		if !slices.Contains(found, next[0]) {
			found = append(found, next[0])
			next = append(next, table[next[0]].code...)
		}
	}
	return found
}

// Whoever imports restore takes on these modules and no other.
func TestDependenciesOfRestore(t *testing.T) {
	may := []string{module, xSys, gonum}
	for _, platform := range platforms {
		for _, p := range dependencies(t, platform, "./restore") {
			require.True(t, p.Standard || allowed(p.ImportPath, may), "%s: restore depends on %s", platform, p.ImportPath)
		}
	}
}

// The program that people install has no weights that its users may not use.
func TestProgramHasOpenWeights(t *testing.T) {
	for _, p := range dependencies(t, "linux/amd64", "./cmd/restore") {
		require.NotEqual(t, module+"/weights/research", p.ImportPath)
	}
}

// A Go program has Vulkan if it imports backend/vulkan, the program if it is not built without; restore
// alone has it never.
func TestVulkanIsImported(t *testing.T) {
	const vulkan = module + "/backend/vulkan"
	depends := func(pattern string) bool {
		return slices.ContainsFunc(dependencies(t, "linux/amd64", pattern), func(p listed) bool {
			return p.ImportPath == vulkan || allowed(p.ImportPath, []string{purego})
		})
	}
	require.False(t, depends("./restore"))
	require.True(t, depends("./cmd/restore"))
}

// No package needs a C compiler, even where there is one. purego needs none either: it has the C library
// of its host by cgo where cgo is on, and by itself where it is off.
func TestNoCgo(t *testing.T) {
	for _, platform := range platforms {
		for _, p := range dependencies(t, platform, "./...") {
			require.True(t, p.Standard || len(p.CgoFiles) == 0 || allowed(p.ImportPath, []string{purego}), "%s: %s has cgo files %v", platform, p.ImportPath, p.CgoFiles)
		}
	}
}

// platforms are the systems and architectures that the library is built for.
var platforms = []string{
	"linux/amd64", "linux/arm64",
	"darwin/amd64", "darwin/arm64",
	"windows/amd64", "windows/arm64",
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	CgoFiles   []string
}

// dependencies returns the packages that a pattern depends on, those that match
// it included. cgo is on: without it, the go command would pass over cgo files.
func dependencies(t *testing.T, platform, pattern string) []listed {
	t.Helper()
	system, architecture, _ := strings.Cut(platform, "/")
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,CgoFiles", pattern)
	list.Dir = "../.."
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=1")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, stderr.String())

	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
	require.NotEmpty(t, packages)
	return packages
}
