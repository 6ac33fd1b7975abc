// Package memory says what restorations hold at once, and has garbage collected as suits them.
package memory

import (
	"os"
	"runtime/debug"

	"github.com/averaged/imaging/pnp"
)

// AfterReading has garbage collected as suits an image of so many pixels that was read. The decoder's
// own copies of a large one are garbage then. Without this their pages would stay with the process while the solver asks for more.
func AfterReading(pixels int) {
	const small = 5e5
	if pixels >= small {
		Collect(Eagerly)
	}
	if pixels >= largeImage {
		debug.FreeOSMemory()
	}
}

// largeImage is how many pixels an image has from which on the memory of its restoration is limited (Limit).
const largeImage = 4e6

// OfDeblurring is what deblurring by a network holds at once, in bytes, which is the most that a
// restoration does: some seven images of 32-bit samples, the points of its acceleration, two images each, and
// what does not depend on their size; less if the data step works by channel (pnp.ByChannel). Below it every allocation would have garbage collected.
func OfDeblurring(samples int, byChannel bool) int64 {
	all, sample := 420e6, 30.5
	if byChannel {
		all, sample = 300e6, 20.7
	}
	points := 2 * 4 * float64(pnp.AutomaticMemory(samples))
	if points == 0 { // a residual of one channel
		points = 4. / 3
	}
	return int64(all + (sample+points)*float64(samples))
}

// OfDenoising is what denoising by a network with a guide holds at once, in bytes, and room for the garbage of a tile. While the
// guide looks, the image has 12 bytes a pixel in colour and the radii 10: 40 of a byte for four pixels. Then the result has 12 more.
// Networks, tiles and strips take the rest.
func OfDenoising(pixels int) int64 {
	const guide, guided, network, frozen = 450e6, 22, 235e6, 34
	return max(guide+guided*int64(pixels), network+frozen*int64(pixels))
}

// OfDenoisingRaw is OfDenoising, and the numbers of the file.
func OfDenoisingRaw(pixels int) int64 { return OfDenoising(pixels) + 2*int64(pixels) }

// The heap is a handful of arrays as large as the image. At the default of 100 % the collector would let garbage grow to
// their size before it looks, so it looks eagerly. But where the image is small most of the heap is what a process makes
// once, as it begins, and looking at that again and again took a tenth of the time of a call.
const Eagerly, Seldom = 20, 200

// Collect has garbage collected when memory has grown by that many percent since the last time, unless the
// environment's GOGC says when.
func Collect(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// Limit has garbage collected as soon as there are that many bytes, and not only when
// memory has doubled since the last time, unless the environment's GOMEMLIMIT says when, or an image of so many pixels is small.
// Memory that is in use may be more.
func Limit(pixels int, bytes int64) {
	if pixels >= largeImage && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}
