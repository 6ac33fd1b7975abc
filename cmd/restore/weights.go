package main

// The weights that are part of this program, besides those that package restore has.
import _ "github.com/averaged/imaging/weights/research"
