// Package rungekutta has Runge–Kutta methods as tableaux, the proven radii of circle
// contractivity of theirs, and the numbers of steps that follow.
package rungekutta
