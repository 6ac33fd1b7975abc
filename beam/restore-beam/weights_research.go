//go:build research

package main

// The weights that may be used for research and education alone, as in the command restore.
import _ "github.com/averaged/imaging/weights/research"
