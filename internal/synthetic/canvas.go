package synthetic

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// canvas draws shapes with smooth edges, and text.
type canvas struct {
	*rand.Rand
	img  *image.RGBA
	w, h float64
}

func newCanvas(r *rand.Rand, h, w int, ground color.Color) *canvas {
	c := &canvas{r, image.NewRGBA(image.Rect(0, 0, w, h)), float64(w), float64(h)}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	return c
}

type point struct{ x, y float64 }

// polygon fills one with a colour. Only the pixels around it are looked at.
func (c *canvas) polygon(p []point, fill color.Color) {
	low, high := p[0], p[0]
	for _, q := range p {
		low.x, low.y = min(low.x, q.x), min(low.y, q.y)
		high.x, high.y = max(high.x, q.x), max(high.y, q.y)
	}
	around := image.Rect(int(math.Floor(low.x)), int(math.Floor(low.y)), int(math.Ceil(high.x)), int(math.Ceil(high.y))).Intersect(c.img.Bounds())
	if around.Empty() {
		return
	}
	x, y := float64(around.Min.X), float64(around.Min.Y)
	z := vector.NewRasterizer(around.Dx(), around.Dy())
	z.MoveTo(float32(p[0].x-x), float32(p[0].y-y))
	for _, q := range p[1:] {
		z.LineTo(float32(q.x-x), float32(q.y-y))
	}
	z.ClosePath()
	z.Draw(c.img, around, image.NewUniform(fill), image.Point{})
}

// box fills a rectangle whose edges are whole pixels.
func (c *canvas) box(x, y, w, h float64, fill color.Color) {
	r := image.Rect(int(x), int(y), int(x+w), int(y+h))
	draw.Draw(c.img, r, image.NewUniform(fill), image.Point{}, draw.Src)
}

// frame draws the outline of a box, one pixel wide.
func (c *canvas) frame(x, y, w, h float64, edge, fill color.Color) {
	c.box(x, y, w, h, edge)
	c.box(x+1, y+1, w-2, h-2, fill)
}

// line draws one of a width.
func (c *canvas) line(a, b point, width float64, ink color.Color) {
	length := math.Hypot(b.x-a.x, b.y-a.y)
	if length == 0 {
		return
	}
	dx, dy := width/2*(b.y-a.y)/length, width/2*(a.x-b.x)/length
	c.polygon([]point{{a.x + dx, a.y + dy}, {b.x + dx, b.y + dy}, {b.x - dx, b.y - dy}, {a.x - dx, a.y - dy}}, ink)
}

// ellipse fills one.
func (c *canvas) ellipse(x, y, rx, ry float64, fill color.Color) {
	const corners = 48
	p := make([]point, corners)
	for i := range p {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		p[i] = point{x + rx*cos, y + ry*sin}
	}
	c.polygon(p, fill)
}

// gradient fills a box with colours from one to another, along x and y.
func (c *canvas) gradient(x, y, w, h float64, from, to color.RGBA) {
	angle := c.between(0, math.Pi/2)
	sin, cos := math.Sincos(angle)
	for j := int(y); j < int(y+h); j++ {
		for i := int(x); i < int(x+w); i++ {
			t := ((float64(i)-x)*cos/w + (float64(j)-y)*sin/h) / (sin + cos)
			mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + t*(float64(b)-float64(a)))) }
			c.img.SetRGBA(i, j, color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 255})
		}
	}
}

// parsed are the fonts, once they were asked for: so that a program that never draws does not carry them.
var parsed struct {
	once sync.Once
	list []*opentype.Font
}

// fonts returns the fonts of golang.org/x/image. They are part of the program, so that one that cannot be
// read is a mistake of it, which any test finds.
func fonts() []*opentype.Font {
	parsed.once.Do(func() {
		for _, data := range [][]byte{goregular.TTF, gobold.TTF, gomono.TTF} {
			f, err := opentype.Parse(data)
			if err != nil {
				panic("synthetic: a font of golang.org/x/image cannot be read: " + err.Error())
			}
			parsed.list = append(parsed.list, f)
		}
	})
	return parsed.list
}

// The fonts, in the order of fonts.
const (
	regular = iota
	bold
	mono
)

// text writes words from a point on the base line, of letters of a size in pixels.
func (c *canvas) text(x, y, size float64, style int, ink color.Color, words string) {
	face, err := opentype.NewFace(fonts()[style], &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.Hinting(c.IntN(3))})
	if err != nil {
		panic("synthetic: " + err.Error()) // only for options that are not finite
	}
	defer face.Close()
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(ink), Face: face, Dot: fixed.Point26_6{X: fixed.Int26_6(64 * x), Y: fixed.Int26_6(64 * y)}}
	d.DrawString(words)
}

// words makes some that look like language.
func (c *canvas) words(n int) string {
	const letters = "eeeeeetttttaaaaooooiiinnnsssshhhrrrddllcumwfgypbvkxzEATSN0123456789.,"
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		for range 1 + c.IntN(9) {
			b.WriteByte(letters[c.IntN(len(letters))])
		}
	}
	return b.String()
}

func (c *canvas) between(low, high float64) float64 { return low + (high-low)*c.Float64() }

// colour is any.
func (c *canvas) colour() color.RGBA {
	return color.RGBA{uint8(c.IntN(256)), uint8(c.IntN(256)), uint8(c.IntN(256)), 255}
}

// pale is a colour for grounds, and dark one for ink.
func (c *canvas) pale() color.RGBA {
	return color.RGBA{uint8(225 + c.IntN(31)), uint8(225 + c.IntN(31)), uint8(225 + c.IntN(31)), 255}
}

func (c *canvas) dark() color.RGBA {
	return color.RGBA{uint8(c.IntN(70)), uint8(c.IntN(70)), uint8(c.IntN(70)), 255}
}
