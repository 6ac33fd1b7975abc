// Package browser tests the pages of packages htmlreport and web in a browser. It is a module of its own, so
// that nobody else takes on what drives one.
package browser
