package synthetic

import (
	"image/color"
	"math"
)

var white = color.RGBA{255, 255, 255, 255}

// Drawings are the names of the kinds that Drawing makes, in the order in which seeds go through them.
var Drawings = []string{"page", "window", "terminal", "chart", "sketch", "poster", "gradient"}

// Drawing returns three planes of h×w samples, multiples of 1/255: a drawing or a screenshot, without any
// noise. The kind is Drawings[seed mod len(Drawings)]: a page of text, a window with buttons and text,
// light text on a dark ground, a chart, a line drawing, overlapping shapes in flat colours, and a gradient
// with text and boxes. Edges are smooth, but for one picture in eight, which is drawn at half its size and
// doubled. h and w are at least 32.
func Drawing(seed uint64, h, w int) []float32 {
	r := random(seed)
	double := r.IntN(8) == 0
	dh, dw := h, w
	if double {
		dh, dw = (h+1)/2, (w+1)/2
	}
	c := newCanvas(r, dh, dw, white)
	kinds := []func(*canvas){page, window, terminal, chart, sketch, poster, gradient}
	kinds[seed%uint64(len(kinds))](c)

	out := make([]float32, 3*h*w)
	for y := range h {
		for x := range w {
			at := c.img.RGBAAt(x, y)
			if double {
				at = c.img.RGBAAt(x/2, y/2)
			}
			i := y*w + x
			out[i], out[h*w+i], out[2*h*w+i] = float32(at.R)/255, float32(at.G)/255, float32(at.B)/255
		}
	}
	return out
}

// lines writes lines of text into a box, as many as fit, with gaps for paragraphs.
func (c *canvas) lines(x, y, h, size float64, style int, ink color.Color) {
	for row := y + size; row < y+h; row += 1.35 * size {
		if c.IntN(9) > 0 {
			c.text(x, row, size, style, ink, c.words(2+c.IntN(14)))
		}
	}
}

func page(c *canvas) {
	ground := white
	if c.IntN(2) == 0 {
		ground = c.pale()
	}
	c.box(0, 0, c.w, c.h, ground)
	size := c.between(9, 22)
	c.text(0.05*c.w, 2*size, 1.5*size, bold, c.dark(), c.words(4))
	c.lines(0.05*c.w, 2.5*size, c.h-3*size, size, regular, c.dark())
	// A page has margins.
	c.box(0.95*c.w, 0, c.w, c.h, ground)
}

func window(c *canvas) {
	ground, title := c.pale(), c.colour()
	c.box(0, 0, c.w, c.h, ground)
	c.box(0, 0, c.w, 22, title)
	c.text(8, 16, 13, bold, white, c.words(3))
	c.box(0, 22, 0.25*c.w, c.h, c.pale())
	for y := 40.; y < c.h; y += 24 {
		c.ellipse(14, y-4, 5, 5, c.colour())
		c.text(26, y, 12, regular, c.dark(), c.words(1))
	}
	for range 3 + c.IntN(5) {
		x, y := c.between(0.27, 0.9)*c.w, c.between(26, c.h-10)
		w, h := c.between(40, 140), c.between(18, 70)
		c.frame(x, y, w, h, c.dark(), c.pale())
		c.lines(x+5, y+2, h-4, c.between(10, 13), regular, c.dark())
		c.box(x+w+1, y, c.w, h, ground)
	}
}

func terminal(c *canvas) {
	c.box(0, 0, c.w, c.h, c.dark())
	size := c.between(9, 16)
	for y := 1.3 * size; y < c.h; y += 1.3 * size {
		ink := c.pale()
		if c.IntN(3) == 0 {
			ink = c.colour()
		}
		c.text(4+2*size*float64(c.IntN(4)), y, size, mono, ink, c.words(1+c.IntN(8)))
	}
}

func chart(c *canvas) {
	left, bottom := 0.1*c.w, 0.88*c.h
	for i := range 6 {
		y := bottom - float64(i)*0.15*c.h
		c.box(left, y, c.w, 1, color.RGBA{220, 220, 220, 255})
		c.text(2, y+4, 10, regular, c.dark(), c.words(1))
	}
	if c.IntN(2) == 0 {
		fill := c.colour()
		for x := left + 8; x < 0.95*c.w; x += 24 {
			top := c.between(0.1, 0.85) * c.h
			c.box(x, top, 14, bottom-top, fill)
		}
	}
	for range 1 + c.IntN(4) {
		ink, width := c.colour(), c.between(1, 3)
		at := point{left, c.between(0.1, 0.85) * c.h}
		for at.x < 0.95*c.w {
			next := point{at.x + c.between(5, 30), min(max(at.y+c.between(-0.12, 0.12)*c.h, 0.05*c.h), bottom)}
			c.line(at, next, width, ink)
			at = next
		}
	}
	c.box(left, 0.05*c.h, 1, bottom-0.05*c.h, color.Black)
	c.box(left, bottom, c.w, 1, color.Black)
	c.text(0.3*c.w, 0.97*c.h, 12, regular, color.Black, c.words(3))
}

func sketch(c *canvas) {
	c.box(0, 0, c.w, c.h, c.pale())
	ink := c.dark()
	for range 15 + c.IntN(25) {
		at, angle := point{c.Float64() * c.w, c.Float64() * c.h}, c.between(0, 2*math.Pi)
		width, bend := c.between(0.7, 3.5), c.between(-0.15, 0.15)
		for range 10 + c.IntN(40) {
			angle += bend
			sin, cos := math.Sincos(angle)
			next := point{at.x + 6*cos, at.y + 6*sin}
			c.line(at, next, width, ink)
			at = next
		}
	}
}

func poster(c *canvas) {
	c.box(0, 0, c.w, c.h, c.colour())
	for range 6 + c.IntN(20) {
		x, y, size := c.Float64()*c.w, c.Float64()*c.h, c.between(8, 0.3*c.w)
		switch fill := c.colour(); c.IntN(3) {
		case 0:
			c.ellipse(x, y, size, size*c.between(0.4, 1), fill)
		case 1:
			c.box(x, y, size, size*c.between(0.3, 1), fill)
		default:
			c.polygon([]point{{x, y}, {x + size*c.between(-1, 1), y + size}, {x + size, y + size*c.between(-1, 1)}}, fill)
		}
	}
	c.text(0.1*c.w, c.between(0.3, 0.9)*c.h, c.between(20, 60), bold, c.colour(), c.words(2))
}

func gradient(c *canvas) {
	c.gradient(0, 0, c.w, c.h, c.colour(), c.colour())
	for range c.IntN(4) {
		x, y := c.between(0, 0.7)*c.w, c.between(0, 0.7)*c.h
		c.frame(x, y, 0.25*c.w, 0.25*c.h, c.dark(), c.pale())
		c.gradient(x+4, y+4, 0.25*c.w-8, 0.12*c.h, c.colour(), c.colour())
		c.text(x+6, y+0.22*c.h, 12, regular, c.dark(), c.words(2))
	}
}
