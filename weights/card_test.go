package weights

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tinyChecksum was computed by hand of the definition, not with this package.
const tinyChecksum = "sha256:6b8850ab8e4a23652489ba0960ee5ca4f88f3374012fbcbff902ffbb45398060"

func TestChecksum(t *testing.T) {
	require.Equal(t, tinyChecksum, tinyFile().Checksum())
	require.True(t, isChecksum(tinyChecksum))
	for _, s := range []string{"", "sha256:", tinyChecksum[7:], tinyChecksum[:70], tinyChecksum + "0", strings.ToUpper(tinyChecksum), "sha256:" + strings.Repeat("g", 64), "sha256:0" + strings.Repeat("g", 62) + "0"} {
		require.False(t, isChecksum(s), s)
	}
}

// TestChecksumTellsApart: moving bytes from one part of a tensor to another gives
// another checksum.
func TestChecksumTellsApart(t *testing.T) {
	of := func(tensors ...Tensor) string { return (&File{Tensors: tensors}).Checksum() }
	seen := map[string]bool{}
	for _, sum := range []string{
		of(),
		of(Tensor{Name: "a", DType: U8, Shape: []int{2}, Data: []byte("xy")}),
		of(Tensor{Name: "a", DType: I8, Shape: []int{2}, Data: []byte("xy")}),
		of(Tensor{Name: "a", DType: U8, Shape: []int{1, 2}, Data: []byte("xy")}),
		of(Tensor{Name: "a", DType: U8, Shape: []int{2, 1}, Data: []byte("xy")}),
		of(Tensor{Name: "ax", DType: U8, Shape: []int{1}, Data: []byte("y")}),
		of(Tensor{Name: "a", DType: U8, Shape: []int{1}, Data: []byte("x")}, Tensor{Name: "b", DType: U8, Shape: []int{1}, Data: []byte("y")}),
		of(Tensor{Name: "a", DType: U8, Shape: []int{1}, Data: []byte("y")}, Tensor{Name: "b", DType: U8, Shape: []int{1}, Data: []byte("x")}),
		of(Tensor{Name: "a", DType: U8, Shape: []int{0}}),
	} {
		require.False(t, seen[sum])
		seen[sum] = true
	}
}

// card has a value in every field.
func card() Card {
	return Card{
		Name:         "euler-colour",
		Architecture: Architecture{Family: "averaged", Channels: 3, Width: 64, Blocks: 2, Kernel: 3, Activation: "leakyrelu", Slope: 0.01},
		Sigma:        0.15,
		Integrator:   "euler",
		StepSizes:    []float64{1, 1e-7},
		Steps:        []int{3, 1},
		Provenance:   Provenance{Software: "restore train 1.0", Data: "photographs of the tests", Recipe: "--epochs 3", Seed: math.MaxUint64, Iterations: 1000},
		Licence:      "Apache-2.0",
		Certificate:  json.RawMessage(`{"alpha": 0.5,"layers":[]}`),
	}
}

// cardFile is a small file with a card and a key of somebody else.
func cardFile() *File {
	f := tinyFile()
	f.Metadata["somebody"] = "else"
	f.Metadata["format"] = "np" // the card says otherwise
	if err := f.SetCard(card()); err != nil {
		panic(err)
	}
	return f
}

// TestCardGolden pins the keys: files that exist must stay readable.
func TestCardGolden(t *testing.T) {
	require.Equal(t, map[string]string{
		"format":                       "pt",
		"somebody":                     "else",
		"averaged.version":             "1",
		"averaged.name":                "euler-colour",
		"averaged.architecture":        "averaged",
		"averaged.channels":            "3",
		"averaged.width":               "64",
		"averaged.blocks":              "2",
		"averaged.kernel_size":         "3",
		"averaged.activation":          "leakyrelu",
		"averaged.activation_slope":    "0.01",
		"averaged.sigma":               "0.15",
		"averaged.integrator":          "euler",
		"averaged.step_sizes":          "[1,1e-07]",
		"averaged.steps":               "[3,1]",
		"averaged.training_software":   "restore train 1.0",
		"averaged.training_data":       "photographs of the tests",
		"averaged.training_recipe":     "--epochs 3",
		"averaged.training_seed":       "18446744073709551615",
		"averaged.training_iterations": "1000",
		"averaged.licence":             "Apache-2.0",
		"averaged.certificate":         `{"alpha": 0.5,"layers":[]}`,
		"averaged.checksum":            tinyChecksum,
	}, cardFile().Metadata)
}

// The keys of what not every network has, and no 1 for a factor.
func TestCardOfAllNoiseLevels(t *testing.T) {
	f := tinyFile()
	c := card()
	c.Architecture.Shuffle, c.Architecture.Sigmas, c.Architecture.Guide = 2, []float64{0.01, 15. / 255, 1}, []int{64, 48}
	c.Architecture.GuideSlope = 0.1
	require.NoError(t, f.SetCard(c))
	require.Equal(t, "2", f.Metadata["averaged.shuffle"])
	require.Equal(t, "[0.01,0.058823529411764705,1]", f.Metadata["averaged.sigmas"])
	back, err := f.Card()
	require.NoError(t, err)
	require.Equal(t, c.Architecture, back.Architecture)
	c.Architecture.Shuffle, c.Architecture.Sigmas, c.Architecture.Guide = 1, nil, nil
	c.Architecture.GuideSlope = 0
	require.NoError(t, f.SetCard(c))
	require.NotContains(t, f.Metadata, "averaged.shuffle")
	require.NotContains(t, f.Metadata, "averaged.sigmas")
	require.NotContains(t, f.Metadata, "averaged.guide_slope")
}

func TestCardInFile(t *testing.T) {
	b, err := cardFile().Encode()
	require.NoError(t, err)
	f, err := Decode(b)
	require.NoError(t, err)
	c, err := f.Card()
	require.NoError(t, err)
	want := card()
	want.Checksum = tinyChecksum
	require.Equal(t, want, c)

	// A second card takes the place of the first, with what it leaves empty.
	second := Card{
		Name:         "dncnn",
		Architecture: Architecture{Family: "dncnn", Channels: 1, Width: 64, Blocks: 18, Kernel: 3, Activation: "relu"},
		Sigma:        0.15,
		Provenance:   Provenance{Software: "other", Data: "other"},
		Licence:      "CC0-1.0",
	}
	require.NoError(t, f.SetCard(second))
	require.NotContains(t, f.Metadata, "averaged.certificate")
	require.Equal(t, "else", f.Metadata["somebody"])
	c, err = f.Card()
	require.NoError(t, err)
	second.Checksum = tinyChecksum
	require.Equal(t, second, c)

	// A card that is refused leaves the file as it was.
	require.Error(t, f.SetCard(Card{}))
	again, err := f.Card()
	require.NoError(t, err)
	require.Equal(t, second, again)
}

func TestChangedWeightIsRefused(t *testing.T) {
	f := cardFile()
	for i := range f.Tensors {
		for j := range f.Tensors[i].Data {
			f.Tensors[i].Data[j] ^= 1
			_, err := f.Card()
			require.ErrorIs(t, err, ErrChecksum)
			f.Tensors[i].Data[j] ^= 1
		}
	}
	_, err := f.Card()
	require.NoError(t, err)
}

func TestNoCard(t *testing.T) {
	_, err := tinyFile().Card()
	require.ErrorIs(t, err, ErrNoCard)
	require.EqualError(t, err, "weights: the metadata does not describe a network of this library: it has no averaged.version")
}

func TestCardRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := card()
		c.Checksum = tinyChecksum
		n := rapid.IntRange(1, 4).Draw(t, "blocks")
		c.Architecture.Blocks = n
		positive := rapid.Float64().Filter(func(x float64) bool { return x > 0 && !math.IsInf(x, 0) })
		c.StepSizes = rapid.SliceOfN(positive, n, n).Draw(t, "step sizes")
		c.Steps = rapid.SliceOfN(rapid.IntMin(1), n, n).Draw(t, "steps")
		c.Sigma = rapid.Float64Range(math.SmallestNonzeroFloat64, 1).Draw(t, "sigma")
		if rapid.Bool().Draw(t, "for all noise levels") {
			c.Architecture.Shuffle = rapid.IntMin(2).Draw(t, "shuffle")
			c.Architecture.Sigmas = rapid.SliceOfNDistinct(rapid.Float64Range(math.SmallestNonzeroFloat64, 1), 1, 5, rapid.ID[float64]).Draw(t, "sigmas")
			slices.Sort(c.Architecture.Sigmas)
			c.Architecture.Guide = rapid.SliceOfN(rapid.IntRange(1, math.MaxInt), 1, 4).Draw(t, "guide")
			c.Architecture.GuideSlope = rapid.Float64Range(0, 1).Draw(t, "guide's slope")
		}
		c.Architecture.Slope = rapid.Float64().Draw(t, "slope")
		c.Provenance.Seed = rapid.Uint64().Draw(t, "seed")
		metadata, err := c.MarshalMetadata()
		require.NoError(t, err)
		var back Card
		require.NoError(t, back.UnmarshalMetadata(metadata))
		require.Equal(t, c, back)
	})
}

func TestCardRefuses(t *testing.T) {
	for want, change := range map[string]func(c *Card){
		`the card has no name`:                     func(c *Card) { c.Name = "" },
		`the card has no architecture`:             func(c *Card) { c.Architecture.Family = "" },
		`the card has no activation`:               func(c *Card) { c.Architecture.Activation = "" },
		`the card has no licence`:                  func(c *Card) { c.Licence = "" },
		`the card has no software of the training`: func(c *Card) { c.Provenance.Software = "" },
		`the card has no data of the training`:     func(c *Card) { c.Provenance.Data = "" },
		`the name "a\nb" is not one line of printable text without spaces around it`:            func(c *Card) { c.Name = "a\nb" },
		`the licence " MIT" is not one line of printable text without spaces around it`:         func(c *Card) { c.Licence = " MIT" },
		`the integrator "\xff" is not one line of printable text without spaces around it`:      func(c *Card) { c.Integrator = "\xff" },
		`the name has 201 bytes, at most 200 are allowed`:                                       func(c *Card) { c.Name = strings.Repeat("n", 201) },
		`the licence has 65537 bytes, at most 65536 are allowed`:                                func(c *Card) { c.Licence = strings.Repeat("n", 65537) },
		`the architecture's channels is 0, want at least 1`:                                     func(c *Card) { c.Architecture.Channels = 0 },
		`the architecture's kernel size is 4, want an odd number`:                               func(c *Card) { c.Architecture.Kernel = 4 },
		`the architecture's shuffle is -1, want 0 or more`:                                      func(c *Card) { c.Architecture.Shuffle = -1 },
		`noise level 0 of the architecture is 0, want a number in (0,1] above the one before`:   func(c *Card) { c.Architecture.Sigmas = []float64{0} },
		`noise level 1 of the architecture is 1.5, want a number in (0,1] above the one before`: func(c *Card) { c.Architecture.Sigmas = []float64{1, 1.5} },
		`noise level 2 of the architecture is 0.2, want a number in (0,1] above the one before`: func(c *Card) { c.Architecture.Sigmas = []float64{0.1, 0.2, 0.2} },
		`noise level 1 of the architecture is NaN, want a number in (0,1] above the one before`: func(c *Card) { c.Architecture.Sigmas = []float64{0.1, math.NaN()} },
		`the activation's slope is NaN, want a finite number`:                                   func(c *Card) { c.Architecture.Slope = math.NaN() },
		`the slope of the guide is 0.1, want 0 to 1, and 0 without a guide`:                     func(c *Card) { c.Architecture.GuideSlope = 0.1 },
		`the slope of the guide is 2, want 0 to 1, and 0 without a guide`: func(c *Card) {
			c.Architecture.Guide, c.Architecture.GuideSlope = []int{8}, 2
		},
		`the slope of the guide is NaN, want 0 to 1, and 0 without a guide`: func(c *Card) {
			c.Architecture.Guide, c.Architecture.GuideSlope = []int{8}, math.NaN()
		},
		`sigma is 25, want a number in (0,1], for images in [0,1]`:                 func(c *Card) { c.Sigma = 25 },
		`sigma is 0, want a number in (0,1], for images in [0,1]`:                  func(c *Card) { c.Sigma = 0 },
		`sigma is NaN, want a number in (0,1], for images in [0,1]`:                func(c *Card) { c.Sigma = math.NaN() },
		`the training has -1 iterations, want 0 or more`:                           func(c *Card) { c.Provenance.Iterations = -1 },
		`the card has step sizes or steps, but no integrator`:                      func(c *Card) { c.Integrator = "" },
		`the card has 1 step sizes, want one for each of the 2 blocks`:             func(c *Card) { c.StepSizes = []float64{1} },
		`the card has 3 numbers of steps, want one for each of the 2 blocks`:       func(c *Card) { c.Steps = []int{1, 2, 3} },
		`step size 1 is +Inf, want a finite number above 0`:                        func(c *Card) { c.StepSizes = []float64{1, math.Inf(1)} },
		`number of steps 0 is 0, want at least 1`:                                  func(c *Card) { c.Steps = []int{0, 1} },
		`the certificate is not a JSON object in UTF-8`:                            func(c *Card) { c.Certificate = json.RawMessage(`[1]`) },
		`the checksum "md5:0" is not sha256: and 64 lower-case hexadecimal digits`: func(c *Card) { c.Checksum = "md5:0" },
	} {
		c := card()
		c.Checksum = tinyChecksum
		require.NoError(t, c.Check())
		change(&c)
		require.EqualError(t, c.Check(), "weights: "+want)
		_, err := c.MarshalMetadata()
		require.EqualError(t, err, "weights: "+want)
	}
	for _, certificate := range []string{`{`, `{}{}`, ` {}`, "{}\n", `{"a":}`, "{\"\xff\":1}", `null`, `"{}"`} {
		c := card()
		c.Checksum, c.Certificate = tinyChecksum, json.RawMessage(certificate)
		require.ErrorContains(t, c.Check(), "the certificate is not a JSON object", certificate)
	}
}

func TestMetadataRefuses(t *testing.T) {
	for want, change := range map[string]struct{ key, value string }{
		`the card is of version "2", this program reads version 1`:                              {"version", "2"},
		`averaged.name has no value`:                                                            {"name", ""},
		`averaged.integrator has no value`:                                                      {"integrator", ""},
		`averaged.width is "wide", want a whole number`:                                         {"width", "wide"},
		`averaged.width is "6.4e1", want a whole number`:                                        {"width", "6.4e1"},
		`averaged.shuffle is "2.0", want a whole number from 2`:                                 {"shuffle", "2.0"},
		`averaged.shuffle is "1", want a whole number from 2`:                                   {"shuffle", "1"},
		`averaged.shuffle is "-2", want a whole number from 2`:                                  {"shuffle", "-2"},
		`averaged.sigmas is "[]", want a JSON array of numbers, not empty`:                      {"sigmas", "[]"},
		`averaged.sigmas is "0.1", want a JSON array of numbers, not empty`:                     {"sigmas", "0.1"},
		`noise level 1 of the architecture is 0.1, want a number in (0,1] above the one before`: {"sigmas", "[0.2,0.1]"},
		`noise level 0 of the architecture is 0, want a number in (0,1] above the one before`:   {"sigmas", "[null]"},
		`averaged.guide is "[1.5]", want a JSON array of numbers, not empty`:                    {"guide", "[1.5]"},
		`width 1 of the guide is 0, want a whole number from 1`:                                 {"guide", "[3,0]"},
		`averaged.guide_slope is "0", want a number above 0`:                                    {"guide_slope", "0"},
		`averaged.guide_slope is "leaky", want a number above 0`:                                {"guide_slope", "leaky"},
		`averaged.sigma is "0,15", want a number`:                                               {"sigma", "0,15"},
		`sigma is NaN, want a number in (0,1], for images in [0,1]`:                             {"sigma", "NaN"},
		`averaged.sigma is "1e999", want a number`:                                              {"sigma", "1e999"},
		`averaged.training_seed is "-1", want a whole number from 0 to 2^64−1`:                  {"training_seed", "-1"},
		`averaged.steps is "[]", want a JSON array of numbers, not empty`:                       {"steps", "[]"},
		`averaged.steps is "null", want a JSON array of numbers, not empty`:                     {"steps", "null"},
		`averaged.steps is "[1.5,1]", want a JSON array of numbers, not empty`:                  {"steps", "[1.5,1]"},
		`averaged.step_sizes is "[1,1] 1", want a JSON array of numbers, not empty`:             {"step_sizes", "[1,1] 1"},
		`step size 1 is 0, want a finite number above 0`:                                        {"step_sizes", "[1,null]"},
		`the certificate is not a JSON object in UTF-8`:                                         {"certificate", "proven"},
		`the metadata has the unknown key "averaged.licenses"`:                                  {"licenses", "MIT"},
		`the checksum "sha256:" is not sha256: and 64 lower-case hexadecimal digits`:            {"checksum", "sha256:"},
	} {
		metadata := maps.Clone(cardFile().Metadata)
		metadata["averaged."+change.key] = change.value
		c := Card{Name: "as it was"}
		require.EqualError(t, c.UnmarshalMetadata(metadata), "weights: "+want)
		require.Equal(t, Card{Name: "as it was"}, c)
	}
	// Without any one of its keys, a card is incomplete or has an empty field.
	optional := map[string]bool{"shuffle": true, "sigmas": true, "guide": true, "guide_slope": true, "integrator": true, "step_sizes": true, "steps": true, "training_recipe": true, "certificate": true}
	for _, f := range fields {
		metadata := maps.Clone(cardFile().Metadata)
		delete(metadata, "averaged."+f.key)
		err := new(Card).UnmarshalMetadata(metadata)
		switch {
		case f.key == "integrator":
			require.EqualError(t, err, "weights: the card has step sizes or steps, but no integrator")
		case optional[f.key]:
			require.NoError(t, err, f.key)
		default:
			require.EqualError(t, err, "weights: the metadata has no averaged."+f.key)
		}
	}
}
