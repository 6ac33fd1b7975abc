package imagefile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/pnm"
)

// Format is a kind of image file.
type Format = format.Format

// The formats. The zero value is none of them.
const (
	PNG  = format.PNG  // Portable Network Graphics (ISO/IEC 15948)
	JPEG = format.JPEG // ISO/IEC 10918-1, with JFIF and EXIF
	TIFF = format.TIFF // TIFF 6.0; BigTIFF is read
	BMP  = format.BMP  // Windows bitmap
	WebP = format.WebP // RFC 9649; reading only
	GIF  = format.GIF  // version 87a and 89a, the first picture; reading only
	PFM  = format.PFM  // portable float map, 32-bit float
	PGM  = format.PGM  // Netpbm's grey map
	PPM  = format.PPM  // Netpbm's colour map
	PNM  = format.PNM  // PGM or PPM, as the image is; writing only
)

var extensions = map[string]Format{
	".png": PNG,
	".jpg": JPEG, ".jpeg": JPEG, ".jpe": JPEG, ".jfif": JPEG,
	".tif": TIFF, ".tiff": TIFF,
	".bmp": BMP, ".dib": BMP,
	".webp": WebP,
	".gif":  GIF,
	".pfm":  PFM,
	".pgm":  PGM, ".ppm": PPM, ".pnm": PNM,
}

// knownExtensions lists those of formats that are written.
const knownExtensions = ".png, .jpg, .tif, .bmp, .pfm, .pgm or .ppm"

// readable lists the formats that Decode reads, for messages.
const readable = "PNG, JPEG, TIFF, BMP, WebP, GIF, PFM, PGM and PPM"

// FormatOf returns the format that the extension of a file name stands for, in
// upper or lower case. Its error wraps ErrUnknownFormat. Reading does not depend
// on it: Decode looks at the content.
func FormatOf(path string) (Format, error) {
	ext := filepath.Ext(path)
	if f, ok := extensions[strings.ToLower(ext)]; ok {
		return f, nil
	}
	if ext == "" {
		return 0, fmt.Errorf("%w: the name %q has no extension (use %s)", ErrUnknownFormat, filepath.Base(path), knownExtensions)
	}
	return 0, fmt.Errorf("%w: no image format has the extension %q (use %s)", ErrUnknownFormat, ext, knownExtensions)
}

// WritableExtension is the extension for what is made of an image file: that of its name, or .png
// where that is not of a format that can be written, such as WebP and GIF.
func WritableExtension(path string) string {
	if f, err := FormatOf(path); err == nil && f.CanWrite() {
		return filepath.Ext(path)
	}
	return PNG.Extension()
}

// sniffLength is how many bytes sniff needs to tell all formats apart.
const sniffLength = 16

// sniff returns the format that a file's first bytes show, or 0.
func sniff(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(png.Signature)):
		return PNG
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")),
		bytes.HasPrefix(head, []byte("II+\x00")), bytes.HasPrefix(head, []byte("MM\x00+")):
		return TIFF
	case bytes.HasPrefix(head, []byte("BM")) && len(head) >= 14 && bytes.Equal(head[6:10], make([]byte, 4)):
		return BMP
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) >= 12 && string(head[8:12]) == "WEBP":
		return WebP
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case len(head) >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') && pnm.IsSpace(head[2]):
		return PFM
	case len(head) >= 3 && (string(head[:2]) == "P2" || string(head[:2]) == "P5") && (pnm.IsSpace(head[2]) || head[2] == '#'):
		return PGM
	case len(head) >= 3 && (string(head[:2]) == "P3" || string(head[:2]) == "P6") && (pnm.IsSpace(head[2]) || head[2] == '#'):
		return PPM
	}
	return 0
}

const makersRaw = "a raw photograph in a format of the camera's maker, which can be converted to DNG"

// foreign names what a file is whose format is none of ours, or returns "".
func foreign(head []byte) string {
	has := func(prefix string) bool { return bytes.HasPrefix(head, []byte(prefix)) }
	switch {
	case has("%PDF"):
		return "a PDF"
	case has("8BPS"):
		return "a Photoshop document"
	case has("\xff\x0a"), has("\x00\x00\x00\x0cJXL "):
		return "a JPEG XL image"
	case has("\x00\x00\x00\x0cjP  "), has("\xff\x4f\xff\x51"):
		return "a JPEG 2000 image"
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		switch string(head[8:12]) {
		case "avif", "avis":
			return "an AVIF image"
		case "crx ":
			return makersRaw
		}
		return "a HEIF image or a film"
	case has("FUJIFILMCCD-RAW"), has("IIRO"), has("IIRS"), has("MMOR"), has("IIU\x00"), has("FOVb"), has("\x00MRM"),
		len(head) >= 14 && string(head[6:14]) == "HEAPCCDR": // RAF, ORF, RW2, X3F, MRW, CRW
		return makersRaw
	case has("\x76\x2f\x31\x01"):
		return "an OpenEXR image"
	case has("#?RADIANCE"), has("#?RGBE"):
		return "a Radiance HDR image"
	case has("SDPX"), has("XPDS"):
		return "a DPX image"
	case has("\x00\x00\x01\x00"):
		return "an icon (ICO)"
	case has("P1"), has("P4"):
		return "a Netpbm bitmap (PBM)"
	case has("P7"):
		return "a Netpbm PAM image"
	case has("<?xml"), has("<svg"):
		return "XML or SVG"
	case has("<!DOCTYPE"), has("<html"), has("<!doctype"):
		return "a web page"
	}
	return ""
}
