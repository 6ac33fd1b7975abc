package imagefile

import "bytes"

// iccSpace returns the colour space of a profile's samples, four characters such
// as "RGB ", "GRAY" or "CMYK" (ICC.1, section 7.2), or "" if it is no profile.
func iccSpace(profile []byte) string {
	const headerSize = 128
	if len(profile) < headerSize || string(profile[36:40]) != "acsp" {
		return ""
	}
	return string(profile[16:20])
}

// isSRGB tells whether a profile is called so: what programs assume where there is none.
func isSRGB(profile []byte) bool {
	return bytes.Contains(profile, []byte("sRGB")) || bytes.Contains(profile, []byte("s\x00R\x00G\x00B"))
}

// setICC keeps a profile that describes the samples as they are in m. A grey
// image may have an RGB profile: several programs write that.
func (m *Image) setICC(profile []byte) {
	if len(profile) == 0 {
		return
	}
	space := iccSpace(profile)
	switch {
	case space == "":
		m.warn("the colour profile is dropped: it is not an ICC profile")
	case space == "RGB ", space == "GRAY" && m.Channels == 1:
		m.Metadata.ICC = profile
	default:
		m.warn("the colour profile is dropped: it is for %q samples, and the image is %s now", space, map[int]string{1: "grey", 3: "RGB"}[m.Channels])
	}
}

// warnCMYK says what became of the colours of an image of inks.
func (m *Image) warnCMYK() { m.warn("CMYK is converted to RGB without its profile") }
