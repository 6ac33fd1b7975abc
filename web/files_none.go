//go:build !web

package web

import "io/fs"

// Files returns the files of the page that the program has in it, or nil.
func Files() fs.FS { return nil }
