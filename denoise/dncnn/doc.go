// Package dncnn has the unconstrained network to compare with, of which nothing is proven.
package dncnn
