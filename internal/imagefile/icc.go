package imagefile

import "github.com/averaged/imaging/internal/iccprofile"

// setICC keeps a profile that describes the samples as they are in m. A grey
// image may have an RGB profile: several programs write that.
func (m *Image) setICC(profile []byte) {
	if len(profile) == 0 {
		return
	}
	space := iccprofile.Space(profile)
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
