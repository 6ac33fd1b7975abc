package arrows

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// readModule returns the imports of every package of the module whose root folder
// is given, by folder. It reads the files themselves and not what the go command
// would build, so that no build constraint hides an import: a file for another
// system or tag counts as well. Folders that the go command passes over (testdata,
// names with a leading dot or underscore, other modules) are passed over.
func readModule(root string) (map[string]imports, error) {
	packages := map[string]imports{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path == root {
				return nil
			}
			name := entry.Name()
			if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		p := packages[folder]
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			switch {
			case path == module:
				path = "."
			case strings.HasPrefix(path, module+"/"):
				path = strings.TrimPrefix(path, module+"/")
			case !foreign(path):
				continue // the standard library
			}
			if strings.HasSuffix(entry.Name(), "_test.go") {
				p.tests = append(p.tests, path)
			} else {
				p.code = append(p.code, path)
			}
		}
		packages[folder] = p
		return nil
	})
	return packages, err
}
