package curves

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Lengths of a picture in points (1/72 inch), and its dots an inch.
const (
	margin     = 12
	headHeight = 24
	resolution = 96
)

// encode draws panels in columns under a title, and returns the PNG.
func encode(title string, panels []*panel, columns int) ([]byte, error) {
	width, height := size(len(panels), columns)
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution))
	if err := paint(draw.New(canvas), title, panels, columns); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// Thin lines on white: the best compression would take five times as long for 4 % less.
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, canvas.Image()); err != nil {
		return nil, fmt.Errorf("curves: %w", err)
	}
	return b.Bytes(), nil
}

// size returns the width and height of a picture of n panels.
func size(n, columns int) (width, height vg.Length) {
	rows := (n + columns - 1) / columns
	return vg.Length(columns*panelWidth + 2*margin), vg.Length(rows*panelHeight + 2*margin + headHeight)
}

// paint draws on a canvas of the size of the picture.
func paint(canvas draw.Canvas, title string, panels []*panel, columns int) error {
	cache, err := typeface()
	if err != nil {
		return err
	}
	style := draw.TextStyle{
		Color: textColour, Font: font.Font{Typeface: "Go", Size: 10}, Handler: text.Plain{Fonts: cache},
		XAlign: draw.XCenter, YAlign: draw.YTop,
	}
	page := draw.Crop(canvas, margin, -margin, margin, -margin)
	head := style
	head.Font.Size = 14
	page.FillText(head, vg.Point{X: page.Center().X, Y: page.Max.Y}, printable(title))
	for i, p := range panels {
		left, top := page.Min.X+vg.Length(i%columns)*panelWidth, page.Max.Y-headHeight-vg.Length(i/columns)*panelHeight
		p.paint(draw.Canvas{Canvas: canvas.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - panelHeight}, Max: vg.Point{X: left + panelWidth, Y: top},
		}}, style)
	}
	return nil
}

// typeface is the font of all texts, Go Regular, parsed when it is first needed.
var typeface = sync.OnceValues(func() (*font.Cache, error) {
	face, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("curves: font: %w", err)
	}
	return font.NewCache(font.Collection{{Font: font.Font{Typeface: "Go"}, Face: face}}), nil
})

// longestTitle is how many characters fit over two columns.
const longestTitle = 100

// printable is a title on one line that is not too long for it.
func printable(title string) string {
	r := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, title))
	if len(r) > longestTitle {
		r = append(r[:longestTitle-1], '…')
	}
	return string(r)
}
