// Package scene renders a small still life: spheres on a wooden table in front
// of a brick wall. It is the picture that the documentation shows and that tests
// restore, so that the project needs nobody's photograph. It has what natural
// pictures have and test patterns lack: soft shadows, texture at several scales,
// sharp and defocused edges, highlights and dark corners.
package scene

import (
	"image"
	"image/color"
	"math"
	"sync"

	"github.com/averaged/imaging/internal/srgb"
)

//go:generate go run ./render ../../testdata/scene.png

// samplesPerSide squared is the number of rays of a pixel.
const samplesPerSide = 6

// Render returns the still life, w×h pixels in 8-bit sRGB. The same size gives
// the same picture.
func Render(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	var wg sync.WaitGroup
	for y := range h {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for x := range w {
				img.SetRGBA(x, y, pixel(x, y, w, h))
			}
		}()
	}
	wg.Wait()
	return img
}

func pixel(x, y, w, h int) color.RGBA {
	noise := generator(uint64(y)*0x9e3779b97f4a7c15 ^ uint64(x)*0xd1b54a32d192ed03)
	var sum vec
	for sy := range samplesPerSide {
		for sx := range samplesPerSide {
			u := (float64(x) + (float64(sx)+noise.next())/samplesPerSide) / float64(w)
			v := (float64(y) + (float64(sy)+noise.next())/samplesPerSide) / float64(h)
			sum = sum.add(trace(cameraRay(u, v, float64(w)/float64(h), &noise), 0, &noise))
		}
	}
	sum = sum.scale(1.0 / (samplesPerSide * samplesPerSide))
	return color.RGBA{R: encode(sum.x), G: encode(sum.y), B: encode(sum.z), A: 255}
}

// encode is a soft shoulder for highlights, then the sRGB curve.
func encode(v float64) uint8 {
	v = srgb.Encoded(1 - math.Exp(-1.35*v))
	return uint8(math.Round(255 * math.Min(math.Max(v, 0), 1)))
}

// generator is SplitMix64: the picture must not change with Go's own generators.
type generator uint64

func (g *generator) next() float64 {
	*g += 0x9e3779b97f4a7c15
	return float64(mix(uint64(*g))>>11) * 0x1p-53
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

type vec struct{ x, y, z float64 }

func (a vec) add(b vec) vec        { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec        { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) times(b vec) vec      { return vec{a.x * b.x, a.y * b.y, a.z * b.z} }
func (a vec) scale(s float64) vec  { return vec{a.x * s, a.y * s, a.z * s} }
func (a vec) dot(b vec) float64    { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) unit() vec            { return a.scale(1 / math.Sqrt(a.dot(a))) }
func (a vec) mirror(n vec) vec     { return a.sub(n.scale(2 * a.dot(n))) }
func lerp(a, b vec, t float64) vec { return a.scale(1 - t).add(b.scale(t)) }
func smooth(lo, hi, v float64) float64 {
	t := math.Min(math.Max((v-lo)/(hi-lo), 0), 1)
	return t * t * (3 - 2*t)
}

type ray struct{ from, along vec }

// cameraRay starts on the lens, so that what is far from the focal plane blurs.
func cameraRay(u, v, aspect float64, noise *generator) ray {
	eye, target := vec{0, 1.75, -6.2}, vec{0, 0.82, 0}
	forward := target.sub(eye).unit()
	right := vec{forward.z, 0, -forward.x}.unit()
	up := vec{right.y*forward.z - right.z*forward.y, right.z*forward.x - right.x*forward.z, right.x*forward.y - right.y*forward.x}.scale(-1)
	if up.y < 0 {
		up = up.scale(-1)
	}
	const fieldOfView, focus, aperture = 0.42, 6.0, 0.05
	dir := forward.add(right.scale((2*u - 1) * fieldOfView * aspect)).add(up.scale((1 - 2*v) * fieldOfView))
	angle, radius := 2*math.Pi*noise.next(), aperture*math.Sqrt(noise.next())
	lens := right.scale(radius * math.Cos(angle)).add(up.scale(radius * math.Sin(angle)))
	return ray{eye.add(lens), dir.scale(focus).sub(lens).unit()}
}
