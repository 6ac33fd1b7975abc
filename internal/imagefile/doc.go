// Package imagefile reads and writes image files with nothing lost: PNG, JPEG,
// TIFF, BMP, WebP and GIF (reading only), PFM, PGM and PPM.
//
// An Image holds its colour channels as float32 planes, in the units in which
// the file stores them: an 8-bit sample v is v/255, a 16-bit sample v/65535,
// with no change of gamma or colour profile. A float sample is taken as it is.
// Size, channels, bit depth, alpha, colour profile, EXIF, XMP, IPTC and resolution
// travel with the pixels, and a decoded image that is encoded again in its own
// format and depth has the same samples (JPEG, whose coding is lossy, excepted).
// Losses says before anything is written what a format cannot hold, and Image.Warnings says what was lost when reading.
//
// # What changes on purpose
//
//   - The orientation in EXIF or TIFF is applied to the pixels and its tag set
//     to 1, unless ReadOptions.KeepOrientation is set.
//   - A palette is replaced by its colours. One that holds greys only, in a file
//     without a colour profile, becomes a grey image.
//   - Samples of 1, 2 and 4 bits, and those of PGM and PPM of any largest value, are widened
//     to 8 bits, or 16 above 255, and written so: a restored image has more levels than its
//     source, and they would be rounded away.
//   - CMYK becomes RGB, and a CMYK profile is dropped, for it would be wrong.
//   - Luma and chroma become RGB. TIFF's are those of JPEG, or as its tags weigh them.
//   - JPEG is written with chroma at full resolution, and chroma that a JPEG or
//     WebP stores at half of it is interpolated, as most decoders do. Its
//     quantisation tables are those of the JPEG that was read, if it was one.
//   - The first picture of a JPEG file with more parts (other pictures, a gain map, a film)
//     is read, with a warning that names the others, unless they are previews.
//     What announced them in XMP is removed.
//   - Fields of EXIF, XMP and Photoshop that depend on size or orientation are mended
//     when an image is turned or has another size, or removed (package metadata has them all).
//   - EXIF and XMP that PNG has as hexadecimal text are written as EXIF and XMP.
//   - The notes of a camera's maker stay at the offset where they were, since programs look there. A TIFF that is
//     written begins with EXIF for that. Notes from a TIFF that had them far behind are dropped with a warning,
//     unless they can be read at any place.
//   - What PNG says of colour in numbers becomes a colour profile in other formats, or is
//     one of ColourLosses.
//   - Premultiplied alpha is divided out when reading and not put back.
//   - The first picture of an animated GIF is read, with a warning. The part of the screen that it leaves free is transparent.
//   - The thumbnail inside EXIF is removed: it shows the picture before it was
//     restored.
//
// # Limits
//
// Every reader takes the size of the image from the header and refuses more
// than ReadOptions.MaxPixels before it decodes a pixel. Whatever the bytes are,
// the result is an image or an error of one line, never a panic.
//
// # Where things are
//
// Each format has a package below this one. They share format (names and errors), source (the bytes of a file or
// stream), picture (Image, and how it is turned), samples and chroma. This package alone tells formats apart, and says what is lost.
//
// Functions are safe for concurrent use; an Image is, as long as nobody writes
// to it.
package imagefile
