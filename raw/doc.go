// Package raw reads and writes raw photographs: DNG files (Adobe Digital Negative), which hold the
// measurements of a sensor, with one colour at each pixel.
//
// It reads DNG 1.1 to 1.6 with a Bayer mosaic in any of its four phases, or LinearRaw of one to four samples
// per pixel; strips or tiles; uncompressed with 8 to 16 bits, or lossless JPEG. Anything else, such as JPEG
// XL, lossy JPEG, X-Trans, quad Bayer or floating point, is an error that names it.
//
// It writes the same file with another image in it, so that every raw developer opens it as before. Metadata,
// previews, maker notes and lists of opcodes keep every byte and stay in place. The image keeps its bit
// depth, its layout and its compression. The file's digests of the image (RawImageDigest, NewRawImageDigest)
// become zero, which means that they are not known. An unchanged image gives the same file, to the byte.
//
//	f, err := raw.Read(file, size, raw.Options{})
//	clean, report, err := restore.DenoiseRawFile(ctx, f)
//	err = f.Write(out, clean)
package raw
