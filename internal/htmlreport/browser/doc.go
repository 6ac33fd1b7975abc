// Package browser tests the pages of package htmlreport in a browser. It is a module of its own, so
// that nobody else takes on what drives one.
package browser
