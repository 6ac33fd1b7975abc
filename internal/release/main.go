// Command release builds what is published of a commit: the program for each platform in an
// archive with its manual, completions and licences, and the checksums of all archives.
//
//	go run ./internal/release -o dist
//
// It runs in the root of a checkout without changes. The version is the one that the go command
// gives to the commit: its tag, or a pseudo-version after the last one. A commit has the same
// bytes wherever and whenever they are built, with one version of Go and, for the program with
// CUDA, of the C compiler: paths, times, owners and the settings of the user are kept out.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

// target is a program of a release.
type target struct {
	system, architecture string
	cuda                 bool
}

// targets are those of a release. The C compiler that CUDA needs makes programs for the machine
// that it runs on, unless CC names another.
var targets = []target{
	{"linux", "amd64", false}, {"linux", "arm64", false},
	{"darwin", "amd64", false}, {"darwin", "arm64", false},
	{"windows", "amd64", false}, {"windows", "arm64", false},
	{"linux", "amd64", true},
}

func (t target) String() string {
	name := t.system + "-" + t.architecture
	if t.cuda {
		name += "-cuda"
	}
	return name
}

// program is the name of the program's file.
func (t target) program() string {
	if t.system == "windows" {
		return "restore.exe"
	}
	return "restore"
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	output := flag.String("o", "dist", "the `folder` for archives and checksums")
	only := flag.String("only", "", "build these `targets` only, separated by commas, such as linux-amd64,linux-amd64-cuda")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("takes no arguments, but there is %q", flag.Arg(0))
	}
	chosen, err := choose(*only)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = release(ctx, *output, chosen)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// choose returns the targets with the given names, or all of them.
func choose(names string) ([]target, error) {
	if names == "" {
		return targets, nil
	}
	var chosen []target
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for _, t := range targets {
			if t.String() == name {
				chosen, found = append(chosen, t), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no target %q; there is: %s", name, strings.Trim(fmt.Sprint(targets), "[]"))
		}
	}
	return chosen, nil
}

// release writes the archives of targets and their checksums into a folder.
func release(ctx context.Context, output string, chosen []target) error {
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) // in the folder for what may vanish
	if err := makePage(ctx); err != nil {
		return err
	}
	// The manual and the completions are those of a program that runs here.
	own := target{system: runtime.GOOS, architecture: runtime.GOARCH}
	here := filepath.Join(scratch, own.String(), own.program())
	if err := compile(ctx, own, here); err != nil {
		return err
	}
	version, date, err := identify(ctx, here)
	if err != nil {
		return err
	}
	common, err := documents(ctx, here, filepath.Join(scratch, "man"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(output, 0o777); err != nil {
		return err
	}
	var names []string
	for _, t := range chosen {
		path := filepath.Join(scratch, t.String(), t.program())
		if t != own {
			if err := compile(ctx, t, path); err != nil {
				return err
			}
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		licences, err := licences(ctx, t)
		if err != nil {
			return err
		}
		files := append([]file{
			{name: t.program(), content: program, executable: true},
			{name: "LICENSES-OF-OTHERS.txt", content: licences},
		}, common...)
		folder := fmt.Sprintf("restore-%s-%s", version, t)
		name, write := folder+".tar.gz", writeTar
		if t.system == "windows" {
			name, write = folder+".zip", writeZip
		}
		if err := write(filepath.Join(output, name), folder, files, date); err != nil {
			return err
		}
		names = append(names, name)
		fmt.Println(filepath.Join(output, name))
	}
	return writeChecksums(output, names)
}
