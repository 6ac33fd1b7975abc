// Package inpaint has the operator of missing pixels, and fills them by diffusion for a start.
package inpaint
