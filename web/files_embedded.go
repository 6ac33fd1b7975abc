//go:build web

package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var embedded embed.FS

// Files returns the files of the page that the program has in it, or nil.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // "dist" is a valid path
	}
	return files
}
