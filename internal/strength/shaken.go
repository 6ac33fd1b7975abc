package strength

// What is blurred looks like coarse noise: the noise profile of 96 photographs without noise, in colour and in
// grey, under camera shakes of 13 to 27 pixels, had levels of up to 4.8 of 255. So what has blurredMost is
// noise, and from blurredLeast on what is even.
const blurredLeast, blurredMost = 5.0 / 255, 8.0 / 255

// SeenInBlur tells whether coarse noise of the level sigma, even or not (noiselevel.Profile.Even), is noise and
// not what is blurred.
func SeenInBlur(sigma float64, even bool) bool {
	return sigma >= blurredMost || even && sigma >= blurredLeast
}

// Coarse noise is the stronger, the longer its waves are, and deblurring amplifies long waves too. Up to shakenFrom of
// the learned rule the level that is best for denoising is best for deblurring, and from shakenTo on the rule's
// level and shakenMore of it (NOTEBOOK.md).
const shakenFrom, shakenTo, shakenMore = 6.0 / 255, 14.0 / 255, 1.1

// ShakenLevel returns the noise level that deblurring goes by, of a photograph with coarse noise of the level
// sigma of which the learned rule says learned: at least either, and never less for more of one of them.
func ShakenLevel(sigma, learned float64) float64 {
	more := min(max((learned-shakenFrom)/(shakenTo-shakenFrom), 0), 1)
	return max(sigma, learned*(1+shakenMore*more))
}
