//go:build research

package main

// The weights that may be used for research and education alone, besides those that package restore has.
import _ "github.com/averaged/imaging/weights/research"
