// Package activation has the activations σ that networks may use, and what theorems need of them.
package activation
