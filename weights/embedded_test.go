package weights_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open"
	_ "github.com/averaged/imaging/weights/research"
)

// open returns the embedded weights of a name with their card, whose checksum is then right.
func open(t testing.TB, name string) (*weights.File, weights.Card) {
	t.Helper()
	f, err := weights.Open(name)
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err, name)
	return f, card
}

// Every file in the folder is one of Names, and has been embedded under it.
func TestEmbeddedIsWhatIsInTheFolder(t *testing.T) {
	require.NotEmpty(t, weights.Embedded())
	paths, err := filepath.Glob(filepath.Join("*", "*.safetensors"))
	require.NoError(t, err)
	var files []string
	for _, path := range paths {
		if folder := filepath.Dir(path); folder != "testdata" {
			files = append(files, strings.TrimSuffix(filepath.Base(path), ".safetensors"))
		}
	}
	require.Contains(t, files, weights.Levels)
	files = slices.DeleteFunc(files, func(name string) bool { return name == weights.Levels }) // no denoiser
	require.ElementsMatch(t, files, weights.Embedded())
	inOrder := slices.DeleteFunc(weights.Names(), func(name string) bool { return !slices.Contains(files, name) })
	require.Equal(t, inOrder, weights.Embedded())
	weights.Embedded()[0] = "changed"
	require.NotEqual(t, "changed", weights.Embedded()[0], "it is the caller's copy")
}

// The network of noise levels has a card, is no denoiser and has no certificate.
func TestLevelsCard(t *testing.T) {
	f, err := weights.Open(weights.Levels)
	require.NoError(t, err)
	card, err := f.CardOf(weights.FamilyLevelMap)
	require.NoError(t, err)
	require.Equal(t, weights.Levels, card.Name)
	require.Equal(t, "Apache-2.0", card.Licence)
	require.Empty(t, card.Certificate)
}

// The card of every file has the name of the file, says on what terms it may be used, and how
// it was made, and all but DnCNN have a certificate. (That it holds is tested by package
// restore.)
func TestEmbeddedCards(t *testing.T) {
	for _, name := range weights.Embedded() {
		f, card := open(t, name)
		require.Equal(t, name, card.Name)
		if slices.Contains([]string{weights.Strict, weights.Guided, weights.Original, weights.Camera, weights.Raw, weights.Fast}, name) {
			require.Equal(t, "Apache-2.0", card.Licence)
			require.Contains(t, card.Provenance.Data, "CC0")
			require.NotContains(t, card.Provenance.Data, "BSDS500")
			require.Equal(t, name != weights.Strict, len(card.Architecture.Guide) > 0)
		} else {
			require.Equal(t, "LicenseRef-BSDS500-research", card.Licence, name)
			require.Contains(t, card.Provenance.Data, "BSDS500", name)
			require.Contains(t, card.Provenance.Data, "research and education", name)
		}
		require.Contains(t, card.Provenance.Software, "averaged/imaging", name)
		require.NotEmpty(t, card.Provenance.Recipe, name)
		require.Positive(t, card.Provenance.Iterations, name)
		require.Equal(t, 3, card.Architecture.Channels, name)
		require.Positive(t, f.Parameters())
		switch name {
		case weights.Euler, weights.Heun, weights.RK4:
			require.Equal(t, name, card.Integrator)
		case weights.DnCNN:
			require.Equal(t, name, card.Architecture.Family)
		}
		require.Equal(t, name == weights.DnCNN, len(card.Certificate) == 0, name)
	}
}

// The library stays a small one: no file has 3 MB.
func TestEmbeddedFilesAreSmall(t *testing.T) {
	for _, name := range weights.Embedded() {
		paths, err := filepath.Glob(filepath.Join("*", name+".safetensors"))
		require.NoError(t, err)
		require.Len(t, paths, 1, name)
		b, err := os.ReadFile(paths[0])
		require.NoError(t, err)
		require.Less(t, len(b), 3_000_000, name)
	}
}

func TestIsEmbedded(t *testing.T) {
	for _, name := range weights.Embedded() {
		f, card := open(t, name)
		require.True(t, f.IsEmbedded(), name)
		slices.Reverse(f.Tensors)
		require.True(t, f.IsEmbedded(), "the order of the tensors is not in the file")

		f.Metadata["note"] = "read by somebody"
		require.False(t, f.IsEmbedded())
		delete(f.Metadata, "note")
		f.Tensors[0].Data[0] ^= 1
		require.False(t, f.IsEmbedded())
		require.NoError(t, f.SetCard(card))
		require.False(t, f.IsEmbedded(), "with the checksum of what is there now")

		again, _ := open(t, name)
		require.True(t, again.IsEmbedded(), "everyone gets a copy")
	}
	require.False(t, (&weights.File{}).IsEmbedded())
	require.False(t, (&weights.File{Tensors: []weights.Tensor{{Name: "", Shape: []int{-1}}}}).IsEmbedded(), "what cannot be written")
}

// What weights/research has is for research, and what weights/open has for everybody.
func TestTermsOfFolders(t *testing.T) {
	for folder, licence := range map[string]string{"research": "LicenseRef-BSDS500-research", "open": "Apache-2.0"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.safetensors"))
		require.NoError(t, err)
		for _, path := range paths {
			_, card := open(t, strings.TrimSuffix(filepath.Base(path), ".safetensors"))
			require.Equal(t, licence, card.Licence, path)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	before := weights.Embedded()
	weights.Register(fstest.MapFS{"README.md": {}})
	require.PanicsWithValue(t, `weights: "magic" is not one of Names`, func() { weights.Register(fstest.MapFS{"magic.safetensors": {}}) })
	require.PanicsWithValue(t, `weights: "general" is registered twice`, func() { weights.Register(fstest.MapFS{"general.safetensors": {}}) })
	require.Equal(t, before, weights.Embedded())
}

func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"", "euler.safetensors", "../trained/euler", "magic"} {
		_, err := weights.Open(name)
		require.ErrorContains(t, err, "this build has no weights")
		require.ErrorContains(t, err, weights.Embedded()[0])
	}
	for _, name := range weights.Names() {
		if !slices.Contains(weights.Embedded(), name) {
			_, err := weights.Open(name)
			require.ErrorContains(t, err, `"`+name+`"`)
		}
	}
}

func TestParameters(t *testing.T) {
	f := &weights.File{Tensors: []weights.Tensor{
		{Name: "a", DType: weights.F32, Shape: []int{2, 3, 4}}, {Name: "b", DType: weights.F16, Shape: []int{5}},
		{Name: "scalar", DType: weights.F64}, {Name: "none", DType: weights.F32, Shape: []int{7, 0}}, {Name: "wrong", Shape: []int{-2}},
	}}
	require.Equal(t, 24+5+1, f.Parameters())
}
