// Package refute tries to refute what is proven of a denoiser: Attack searches for a pair of
// images that it expands, and Repeat applies it again and again.
package refute
