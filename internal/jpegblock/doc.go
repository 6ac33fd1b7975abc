// Package jpegblock has what JPEG files do to blocks of 8×8 samples: the quantisation steps and the cosine transform of
// ISO/IEC 10918-1, and the noise that rounding leaves.
package jpegblock
