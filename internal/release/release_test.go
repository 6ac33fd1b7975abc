package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var committed = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func sample() []file {
	return []file{
		{name: "restore", content: []byte("program"), executable: true},
		{name: "man/man1/restore.1", content: []byte(".TH")},
		{name: "LICENSE", content: []byte(strings.Repeat("terms ", 1000))},
	}
}

// Archives do not depend on the order of the files, nor on the zone of the time.
func TestArchivesAreReproducible(t *testing.T) {
	dir := t.TempDir()
	for _, write := range []func(string, string, []file, time.Time) error{writeTar, writeZip} {
		files := sample()
		require.NoError(t, write(filepath.Join(dir, "a"), "restore-v1", files, committed))
		slices.Reverse(files)
		require.NoError(t, write(filepath.Join(dir, "b"), "restore-v1", files, committed.In(time.FixedZone("", 9*3600))))
		a, err := os.ReadFile(filepath.Join(dir, "a"))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(dir, "b"))
		require.NoError(t, err)
		require.Equal(t, a, b)
	}
}

func TestArchives(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeTar(filepath.Join(dir, "a.tar.gz"), "restore-v1", sample(), committed))
	f, err := os.Open(filepath.Join(dir, "a.tar.gz"))
	require.NoError(t, err)
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	require.NoError(t, err)
	var names []string
	for archive := tar.NewReader(unpacked); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
		require.True(t, h.ModTime.Equal(committed))
		require.Equal(t, []any{0, 0, "", ""}, []any{h.Uid, h.Gid, h.Uname, h.Gname})
		want := int64(0o644)
		if h.Name == "restore-v1/restore" {
			want = 0o755
		}
		require.Equal(t, want, h.Mode)
	}
	require.Equal(t, []string{"restore-v1/LICENSE", "restore-v1/man/man1/restore.1", "restore-v1/restore"}, names)

	require.NoError(t, writeZip(filepath.Join(dir, "a.zip"), "restore-v1", sample(), committed))
	z, err := zip.OpenReader(filepath.Join(dir, "a.zip"))
	require.NoError(t, err)
	defer z.Close()
	require.Len(t, z.File, 3)
	for i, h := range z.File {
		require.Equal(t, names[i], h.Name)
		require.True(t, h.Modified.Equal(committed))
	}
	program, err := z.File[2].Open()
	require.NoError(t, err)
	content, err := io.ReadAll(program)
	require.NoError(t, err)
	require.Equal(t, "program", string(content))

	require.NoError(t, writeChecksums(dir, []string{"a.zip", "a.tar.gz"}))
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	lines := strings.Split(string(sums), "\n")
	require.Len(t, lines, 3)
	packed, err := os.ReadFile(filepath.Join(dir, "a.tar.gz"))
	require.NoError(t, err)
	sum := sha256.Sum256(packed)
	require.Equal(t, hex.EncodeToString(sum[:])+"  a.tar.gz", lines[0])
	require.True(t, strings.HasSuffix(lines[1], "  a.zip"))
	require.Error(t, writeChecksums(dir, []string{"missing"}))
}

func TestTargets(t *testing.T) {
	all, err := choose("")
	require.NoError(t, err)
	require.Len(t, all, 7, "six platforms, and CUDA")
	two, err := choose("windows-arm64,linux-amd64-cuda")
	require.NoError(t, err)
	require.Equal(t, []target{{"windows", "arm64", false}, {"linux", "amd64", true}}, two)
	require.Equal(t, "restore.exe", two[0].program())
	_, err = choose("plan9-amd64")
	require.ErrorContains(t, err, `no target "plan9-amd64"; there is: linux-amd64 linux-arm64`)
}

// What the user of a build has set does not count.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOAMD64", "v3")
	t.Setenv("GOFLAGS", "-tags=noasm")
	for _, c := range []struct {
		t   target
		cgo string
	}{{target{"windows", "arm64", false}, "CGO_ENABLED=0"}, {target{"linux", "amd64", true}, "CGO_ENABLED=1"}} {
		env, err := environment(c.t)
		require.NoError(t, err)
		last := map[string]string{} // of several, the last one counts
		for _, e := range env {
			name, _, _ := strings.Cut(e, "=")
			last[name] = e
		}
		require.Equal(t, "GOAMD64=v1", last["GOAMD64"])
		require.Equal(t, "GOFLAGS=", last["GOFLAGS"])
		require.Equal(t, "GOOS="+c.t.system, last["GOOS"])
		require.Equal(t, c.cgo, last["CGO_ENABLED"])
	}
}
