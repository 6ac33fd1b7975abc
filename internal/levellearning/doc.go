// Package levellearning makes the network that says the noise level of each square of a photograph (internal/noise):
// it draws crops with noise, tries the frozen denoisers on them at every level, and learns from what comes out. Command
// internal/learnlevels runs it.
package levellearning
