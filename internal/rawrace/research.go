//go:build research

package main

import _ "github.com/averaged/imaging/weights/research"
