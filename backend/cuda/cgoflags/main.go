// Command cgoflags prints the CGO_CFLAGS for the build tag cuda: the present value, and the folder of the
// header cuda.h in this module. In a module that requires this one:
//
//	export CGO_ENABLED=1 CGO_CFLAGS="$(go run github.com/averaged/imaging/backend/cuda/cgoflags)"
//	go build -tags cuda .
//
// or permanently, until the module's version changes,
//
//	go env -w CGO_CFLAGS="$(go run github.com/averaged/imaging/backend/cuda/cgoflags)"
//
// A #cgo line cannot do this: it holds only for its own package, and the one that includes cuda.h is in
// another module.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("cgoflags: ")
	flags, err := flags(".")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(flags)
}

// module is the path of the module that the header is part of, header its folder in it.
const module, header = "github.com/averaged/imaging", "backend/cuda/internal/cudaheader"

// flags returns the value of CGO_CFLAGS for builds in a folder of a module that requires
// this one, or is it.
func flags(folder string) (string, error) {
	// A vendor folder has no header: only folders with Go files are copied to it.
	root, err := ask(folder, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	at := filepath.Join(root, filepath.FromSlash(header))
	if _, err := os.Stat(filepath.Join(at, "cuda.h")); err != nil {
		return "", err
	}
	have, err := ask(folder, "env", "CGO_CFLAGS")
	if err != nil {
		return "", err
	}
	include := "-I" + at
	if strings.ContainsAny(include, " \t") {
		include = "'" + include + "'" // go splits the variable as a shell does
	}
	if strings.Contains(" "+have+" ", " "+include+" ") {
		return have, nil
	}
	return strings.TrimSpace(have + " " + include), nil
}

// ask returns what the go command answers in a folder.
func ask(folder string, arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir = folder
	answer, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("go %s: %s", strings.Join(arguments, " "), strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(answer)), err
}
