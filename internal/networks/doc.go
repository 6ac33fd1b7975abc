// Package networks has the networks that a restoration uses: which one a call chooses, where those that are loaded are
// kept, and how one becomes the denoiser of an image with noise of some level.
package networks
