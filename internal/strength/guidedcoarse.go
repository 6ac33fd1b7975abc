package strength

// Coarse noise is estimated too low on photographs of cameras that smooth most where a picture is calm, by
// 1.3 at the median, and the estimate is right on others and of what is no noise at all. A network without a
// guide is better told too little; one with a guide keeps texture all the same, and is best told the truth.
// So levels from guidedTo on are raised by guidedMore, ones up to guidedFrom, which most often are texture,
// not, and ones between by a part of it (NOTEBOOK.md).
const guidedFrom, guidedTo, guidedMore = 3.0 / 255, 6.0 / 255, 0.25

// Cameras smooth what is finest. Where its floor has more than smoothMost of the level the noise is that of
// something else, such as white noise in JPEG, and the level is not raised; smoothRange below that wholly.
const smoothMost, smoothRange = 0.9, 0.4

// GuidedCoarseLevel is the level that a network with a guide is told of coarse noise that was
// estimated as sigma, above 0, where the finest detail's brightness has a floor of fine. How certain it is that
// the camera has smoothed most where the picture is calm is quiet, from 0 to 1 (noiselevel.QuietColour). It never
// falls as sigma rises.
func GuidedCoarseLevel(sigma, fine, quiet float64) float64 {
	return sigma * (1 + guidedMore*ofCamera(sigma, fine)*quiet)
}

// ofCamera returns how certain it is, from 0 to 1, that noise is that of a camera.
func ofCamera(sigma, fine float64) float64 {
	strong := min(max((sigma-guidedFrom)/(guidedTo-guidedFrom), 0), 1)
	smooth := min(max((smoothMost-fine/sigma)/smoothRange, 0), 1)
	return strong * smooth
}

// Smoothed tells whether coarse noise of the level sigma, above 0, where the finest detail's brightness
// has a floor of fine, was smoothed by a camera or by JPEG. Where it was not, as where pixels of a
// photograph are left out, a network for white noise leaves less: 34.6 dB on SIDD where one for
// the noise of cameras has 34.4.
func Smoothed(sigma, fine float64) bool { return fine < smoothMost*sigma }
