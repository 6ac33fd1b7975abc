// Package format names the formats of image files, and has the errors that all of their readers share.
package format

// Format is a kind of image file.
type Format uint8

// The formats. The zero value is none of them.
const (
	PNG  Format = iota + 1 // Portable Network Graphics (ISO/IEC 15948)
	JPEG                   // ISO/IEC 10918-1, with JFIF and EXIF
	TIFF                   // TIFF 6.0; BigTIFF is read
	BMP                    // Windows bitmap
	WebP                   // RFC 9649; reading only
	GIF                    // version 87a and 89a, the first picture; reading only
	PFM                    // portable float map, 32-bit float
	PGM                    // Netpbm's grey map
	PPM                    // Netpbm's colour map
	PNM                    // PGM or PPM, as the image is; writing only
)

// String returns the usual name of the format.
func (f Format) String() string {
	switch f {
	case PNG:
		return "PNG"
	case JPEG:
		return "JPEG"
	case TIFF:
		return "TIFF"
	case BMP:
		return "BMP"
	case WebP:
		return "WebP"
	case GIF:
		return "GIF"
	case PFM:
		return "PFM"
	case PGM:
		return "PGM"
	case PPM:
		return "PPM"
	case PNM:
		return "PNM"
	}
	return "unknown format"
}

// Extension returns the usual extension of the format, with its dot, or "".
func (f Format) Extension() string {
	switch f {
	case PNG:
		return ".png"
	case JPEG:
		return ".jpg"
	case TIFF:
		return ".tif"
	case BMP:
		return ".bmp"
	case WebP:
		return ".webp"
	case GIF:
		return ".gif"
	case PFM:
		return ".pfm"
	case PGM:
		return ".pgm"
	case PPM:
		return ".ppm"
	case PNM:
		return ".pnm"
	}
	return ""
}

// CanWrite tells whether Encode writes the format.
func (f Format) CanWrite() bool { return f >= PNG && f <= PNM && f != WebP && f != GIF }

// Depths returns the bit depths that Encode writes in the format, smallest
// first.
func (f Format) Depths() []int {
	switch f {
	case PNG, PGM, PPM, PNM:
		return []int{8, 16}
	case JPEG, BMP:
		return []int{8}
	case TIFF:
		return []int{8, 16, 32}
	case PFM:
		return []int{32}
	}
	return nil
}
