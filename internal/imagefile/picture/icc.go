package picture

import "github.com/averaged/imaging/internal/iccprofile"

// SetICC keeps a profile that describes the samples as they are in m. A grey
// image may have an RGB profile: several programs write that.
func (m *Image) SetICC(profile []byte) {
	if len(profile) == 0 {
		return
	}
	space := iccprofile.Space(profile)
	switch {
	case space == "":
		m.Warn("the colour profile is dropped: it is not an ICC profile")
	case space == "RGB ", space == "GRAY" && m.Channels == 1:
		m.Metadata.ICC = profile
	default:
		m.Warn("the colour profile is dropped: it is for %q samples, and the image is %s now", space, map[int]string{1: "grey", 3: "RGB"}[m.Channels])
	}
}

// WarnCMYK says what became of the colours of an image of inks.
func (m *Image) WarnCMYK() { m.Warn("CMYK is converted to RGB without its profile") }
