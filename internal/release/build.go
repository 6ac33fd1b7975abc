package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// environment is that of every build. It has what changes the bytes of a program and could be set
// otherwise by whoever builds it; what says where modules come from stays as the user has it.
func environment(t target) ([]string, error) {
	env := append(os.Environ(),
		"GOOS="+t.system, "GOARCH="+t.architecture, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "CGO_ENABLED=0",
	)
	if t.cuda {
		header, err := filepath.Abs("backend/cuda/internal/cudaheader")
		if err != nil {
			return nil, err
		}
		env = append(env, "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -I"+header, "CGO_CPPFLAGS=", "CGO_LDFLAGS=")
	}
	return env, nil
}

// tags are the build tags of a target: every program has the page of restore web in it.
func (t target) tags() string {
	if t.cuda {
		return "cuda,web"
	}
	return "web"
}

// makePage builds that page, where the tag web looks for it.
func makePage(ctx context.Context) error {
	env, err := environment(target{system: runtime.GOOS, architecture: runtime.GOARCH})
	if err != nil {
		return err
	}
	_, err = run(ctx, env, "go", "run", "./web/build", "-o", "web/dist")
	return err
}

// compile builds the program of a target.
func compile(ctx context.Context, t target, path string) error {
	env, err := environment(t)
	if err != nil {
		return err
	}
	// The build ID is of the folder in which C was compiled, and the symbols are of no use to who
	// has no sources: Go's stack traces do without.
	_, err = run(ctx, env, "go", "build", "-trimpath", "-buildvcs=true", "-tags="+t.tags(),
		"-ldflags=-s -w -buildid=", "-o", path, "./cmd/restore")
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}

// identify returns the version of a program, and the time of its commit. What is not a commit is
// no release.
func identify(ctx context.Context, program string) (string, time.Time, error) {
	said, err := run(ctx, os.Environ(), program, "version", "--json")
	if err != nil {
		return "", time.Time{}, err
	}
	var build struct {
		Version  string    `json:"version"`
		Date     time.Time `json:"commit_date"`
		Modified bool      `json:"modified"`
	}
	if err := json.Unmarshal(said, &build); err != nil {
		return "", time.Time{}, fmt.Errorf("%s version --json: %w", program, err)
	}
	switch {
	case build.Modified:
		return "", time.Time{}, errors.New("there are changes that are not committed ('git status' shows them): commit or stash them")
	case build.Date.IsZero():
		return "", time.Time{}, errors.New("the go command finds no commit here: a release is built in a clone with a .git folder")
	}
	return build.Version, build.Date.UTC(), nil
}

// documents are the files that every archive has. The program makes its manual and completions.
func documents(ctx context.Context, program, scratch string) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "weights/README.md", "weights/CREDITS.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, content: content})
	}
	if _, err := run(ctx, os.Environ(), program, "man", "-o", scratch); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(scratch, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: "man/man1/" + filepath.Base(page), content: content})
	}
	// Each has the name under which its shell looks for it.
	for shell, name := range map[string]string{"bash": "restore", "zsh": "_restore", "fish": "restore.fish", "powershell": "restore.ps1"} {
		script, err := run(ctx, os.Environ(), program, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: "completions/" + shell + "/" + name, content: script})
	}
	return files, nil
}

// licences are the texts that a program must come with: those of Go, and of every module of others
// that is part of it.
func licences(ctx context.Context, t target) ([]byte, error) {
	env, err := environment(t)
	if err != nil {
		return nil, err
	}
	root, err := run(ctx, env, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	list, err := run(ctx, env, "go", "list", "-deps", "-tags="+t.tags(),
		"-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}`+"\t"+`{{.Dir}}{{end}}{{end}}`, "./cmd/restore")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "The program is under the licence in LICENSE, the networks in it under those that weights/README.md names.\nParts of it are these modules of others.\n")
	add := func(name, folder string) error {
		var found []string
		for _, pattern := range []string{"LICEN[SC]E*", "NOTICE*", "licenses/*"} {
			more, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return err
			}
			found = append(found, more...)
		}
		if len(found) == 0 {
			return fmt.Errorf("%s: there is no licence in its folder %s", name, folder)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("-", 80), name, filepath.Base(path), bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r"), nil)))
		}
		return nil
	}
	if err := add("Go", strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		name, folder, isModule := strings.Cut(strings.TrimSpace(line), "\t")
		if !isModule || seen[name] {
			continue
		}
		seen[name] = true
		if err := add(name, folder); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// run returns what a command prints; if it fails, its error is what it said.
func run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = env
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
