package strength

// Cameras smooth colour over some pixels, so that its noise grows from fine detail to coarse: the floor
// of colour at periods of about 24 pixels is 4 to 11 times that at 6 on crops of PolyU, 1.1 to 3.8 on
// those of SIDD and up to 4 on simulated cameras, which have little to gain. From steepTo times on the
// rule below is whole, up to steepFrom it is nothing. Weak noise is texture more often than not, and
// noise whose finest detail is not smoothed is that of JPEG files, whose colour is not blotched: there
// the rule is nothing as well, as GuidedCoarseLevel's is.
const steepFrom, steepTo = 3.5, 4.5

// colourShare is the standard deviation of the noise over the level, in means over 4×4 pixels. White
// noise would have 0.25 there; of 0.2, 0.4 and 0.8 the middle one is best on PolyU (NOTEBOOK.md).
const colourShare = 0.4

// CoarseColourLevel returns the standard deviation of the noise of colour in means over 4×4 pixels of a
// photograph whose noise is coarse, of the level sigma above 0, where the finest detail's brightness
// has a floor of fine and the floor of colour grows by a factor of slope from periods of 6 pixels to
// those of 24; 0 where there is nothing to do.
func CoarseColourLevel(sigma, fine, slope float64) float64 {
	steep := min(max((slope-steepFrom)/(steepTo-steepFrom), 0), 1)
	return colourShare * sigma * steep * ofCamera(sigma, fine)
}
