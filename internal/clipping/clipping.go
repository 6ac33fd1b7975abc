// Package clipping tells which samples are clipped at white: the light was more than they say.
package clipping

// White is the value from which on a sample counts as clipped, where 1 is white.
const White = 1 - 1.5/255
