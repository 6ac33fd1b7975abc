package arrows

import (
	"fmt"
	"slices"
	"strings"
)

// module is the path that our own packages begin with.
const module = "github.com/averaged/imaging"

// imports is what one package imports: packages of this module by their folder
// ("." is the root), all others but the standard library's by their path.
type imports struct {
	code  []string // what goes into a build, under any build constraint
	tests []string // what _test.go files import
}

// row says what one package may import besides the standard library. A name is a
// folder of this module or the path of another module, which stands for all of
// that module's packages.
type row struct {
	code  []string
	tests []string // besides code, and besides everyTest
}

// check returns one line for every import that the table does not allow and for
// every package that it does not know, in order.
func check(packages map[string]imports, table map[string]row, everyTest []string) []string {
	var wrong []string
	for folder, p := range packages {
		r, known := table[folder]
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s: unknown package: add a row to the table in internal/arrows that says what it may import", folder))
			continue
		}
		for _, path := range p.code {
			if !allowed(path, r.code) {
				wrong = append(wrong, fmt.Sprintf("%s must not import %s", folder, path))
			}
		}
		for _, path := range p.tests {
			// An external test imports its own package.
			if path != folder && !allowed(path, r.code, r.tests, everyTest) {
				wrong = append(wrong, fmt.Sprintf("%s: its tests must not import %s", folder, path))
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// allowed reports whether one of the lists names the package: our own folders
// exactly, other modules by their beginning.
func allowed(path string, lists ...[]string) bool {
	for _, list := range lists {
		for _, name := range list {
			if path == name || foreign(name) && strings.HasPrefix(path, name+"/") {
				return true
			}
		}
	}
	return false
}

// foreign reports whether a name is a path outside this module and the standard
// library: its first element has a dot, as in a host's name.
func foreign(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".")
}
