package cpu

import "github.com/averaged/imaging/backend/cpu/internal/convrow"

const (
	// gradientOutputs and gradientInputs are how many channels of dy and of x one piece
	// of work of a filter gradient has: it goes through all images once for them.
	gradientOutputs, gradientInputs = 16, 16
	// gradientPixels is how many pixels a tile has: few enough that those of eight
	// outputs stay in the L1 cache while all taps pass by, and that their float32
	// sums are accurate.
	gradientPixels = 1024
	// gradientColumns is the most columns that a tile has.
	gradientColumns = 128
)

// filterGradient sets dw = beta·dw + scale·Σ dy·x, over all positions of the taps.
func (d *host) filterGradient(dw, x, dy *buffer, beta, scale float32) {
	w := dw.Shape
	across := (w.C + gradientInputs - 1) / gradientInputs
	down := (w.N + gradientOutputs - 1) / gradientOutputs
	d.pool.For(down*across, func(piece int) {
		o, i := piece/across*gradientOutputs, piece%across*gradientInputs
		g := newFilterGradient(d, dw, x, dy, o, i)
		for n := range x.Shape.N {
			for y := 0; y < g.h; y += g.rows {
				for x := 0; x < g.w; x += g.columns {
					g.tile(n, y, x)
				}
			}
		}
		g.store(beta, scale)
	})
}

// filterGradient is the gradient of some outputs' weights of some inputs.
type filterGradient struct {
	dw, x, dy        *buffer
	output, outputs  int // the first, and how many
	input, inputs    int
	h, w             int // of an image
	kh, kw           int
	rows, columns    int // of a tile
	packed           convrow.Tile
	planeX           int // distance of the inputs in memoryX
	taps             *convrow.Taps
	sums             []float64 // by outputs, inputs and taps
	memoryY, memoryX []float32 // a tile of dy, and of x with its margin
	kernels          *convrow.Kernels
}

func newFilterGradient(d *host, dw, x, dy *buffer, output, input int) *filterGradient {
	w := dw.Shape
	g := &filterGradient{
		dw: dw, x: x, dy: dy,
		output: output, outputs: min(gradientOutputs, w.N-output),
		input: input, inputs: min(gradientInputs, w.C-input),
		h: x.Shape.H, w: x.Shape.W, kh: w.H, kw: w.W,
		kernels: d.kernels.convolution,
	}
	if g.kh == 1 && g.kw == 1 { // rows do not matter
		g.h, g.w = 1, g.h*g.w
	}
	g.columns = min(roundUp(g.w, convrow.Lanes), gradientColumns)
	if g.h == 1 {
		g.columns = min(roundUp(g.w, convrow.Lanes), gradientPixels)
	}
	g.rows = min(g.h, gradientPixels/g.columns)
	pitch := roundUp(g.columns+g.kw-1, convrow.Lanes)
	g.packed = convrow.Tile{Columns: g.columns, PlaneY: g.rows * g.columns, PitchY: g.columns, PitchX: pitch}
	g.planeX = (g.rows + g.kh - 1) * pitch
	g.taps = convrow.NewTaps(g.inputs, g.kh, g.kw, g.planeX, pitch)
	g.sums = make([]float64, g.outputs*g.terms())
	g.memoryY = make([]float32, g.outputs*g.packed.PlaneY)
	g.memoryX = make([]float32, g.inputs*g.planeX)
	return g
}

// terms is how many weights an output has here.
func (g *filterGradient) terms() int { return g.inputs * g.kh * g.kw }

// tile adds the products of image n in the tile at row y and column x.
func (g *filterGradient) tile(n, y, x int) {
	h, w := min(g.rows, g.h-y), min(g.columns, g.w-x)
	tile := g.packed
	// Where a row of dy ends within a vector it goes on with zeros, and so does x.
	tile.Rows, tile.Columns = h, roundUp(w, convrow.Lanes)
	plane := g.h * g.w
	dy := planes{data: g.dy.Data[(n*g.dy.Shape.C+g.output)*plane:], h: g.h, w: g.w}
	dy.pack(g.memoryY, g.outputs, tile.PlaneY, tile.PitchY, y, x, h, w, tile.Columns)
	in := planes{data: g.x.Data[(n*g.x.Shape.C+g.input)*plane:], h: g.h, w: g.w}
	in.pack(g.memoryX, g.inputs, g.planeX, tile.PitchX, y-g.kh/2, x-g.kw/2, h+g.kh-1, w+g.kw-1, tile.Columns+g.kw-1)
	for o := 0; o < g.outputs; {
		outputs := g.kernels.Outputs(g.outputs - o)
		for k := 0; k < g.terms(); k += convrow.CorrelatedTaps {
			var products convrow.Products
			g.kernels.Correlate(&products, g.memoryY[o*tile.PlaneY:], g.memoryX, g.taps, k, outputs, tile)
			for t := range min(convrow.CorrelatedTaps, g.terms()-k) {
				for j, v := range products[t][:outputs] {
					g.sums[(o+j)*g.terms()+k+t] += float64(v)
				}
			}
		}
		o += outputs
	}
}

// store sets the weights' gradient from the sums.
func (g *filterGradient) store(beta, scale float32) {
	all := g.dw.Shape.C * g.kh * g.kw
	for o := range g.outputs {
		dw := g.dw.Data[(g.output+o)*all+g.input*g.kh*g.kw:][:g.terms()]
		for k, sum := range g.sums[o*g.terms():][:g.terms()] {
			v := float32(float64(scale) * sum)
			if beta != 0 {
				v += float32(beta * dw[k])
			}
			dw[k] = v
		}
	}
}
