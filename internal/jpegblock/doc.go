// Package jpegblock has what writing a JPEG file and simulating one share: the
// quantisation steps of ISO/IEC 10918-1 and the cosine transform of a block.
package jpegblock
