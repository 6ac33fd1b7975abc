package denoise

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/nn/guide"
	"github.com/averaged/imaging/internal/nn/tile"
)

// Radii of 40 groups at half the resolution take 40 bytes for a pixel of the photograph, more than
// three images in colour. Those of a large photograph are therefore kept on the host, in a byte
// each. Devices in host memory read them there (backend.ShuffledFlows); on others they become
// numbers for one window after the other. They are frozen all the same: what is proven is of the
// radii that the bytes stand for.

// maxRadii is what radii may take as numbers, in bytes.
const maxRadii = 160 << 20

// maxWindow is what those of a window may take, in bytes: the halo is some seventy pixels on each
// side, and costs a third where the photograph is many windows.
const maxWindow = 128 << 20

// codedRadii are the radii base[block][group]·factor(code).
type codedRadii struct {
	shape  backend.Shape // of the pixels that the blocks see
	base   [][]float32
	factor func(code uint8) float32 // guide.Coded, or mapFactor
	codes  [][]uint8                // of each block N×groups×H×W
}

func newCodedRadii(shape backend.Shape, groups []int) *codedRadii {
	r := &codedRadii{shape: shape, factor: guide.Coded}
	for _, g := range groups {
		r.base = append(r.base, make([]float32, g))
		r.codes = append(r.codes, make([]uint8, shape.N*g*shape.Plane()))
	}
	return r
}

// setBase sets the radii that factors are of, to strength·base.
func (r *codedRadii) setBase(base [][]float32, strength float64) {
	for i, b := range base {
		for g, v := range b {
			r.base[i][g] = float32(min(strength*float64(v), math.MaxFloat32))
		}
	}
}

// setLevels has the codes stand for parts of base, the radii at the highest level of a map.
func (r *codedRadii) setLevels(base [][]float32) { r.base, r.factor = base, mapFactor }

// mapFactor is the factor of a code of radii by a map of levels: 0, and from 2·mapEnd to 2 in equal ratios
// of 3 %.
func mapFactor(code uint8) float32 {
	if code == 0 {
		return 0
	}
	return guide.MaxFactor * float32(math.Exp(float64(255-int(code))/254*mapEnd))
}

// mapEnd is the logarithm of the least factor but 0, over guide.MaxFactor.
var mapEnd = math.Log(1.0 / 2048)

// mapCode returns the code nearest to a factor, in ratio.
func mapCode(factor float32) uint8 {
	switch t := &mapCodes; {
	case !(factor >= t.lowest[1]):
		return 0
	case factor >= t.lowest[255]:
		return 255
	default:
		code := t.cells[(math.Float32bits(factor)-math.Float32bits(mapLowest))>>cellShift]
		if factor >= t.lowest[code+1] {
			code++
		}
		return code
	}
}

// Cells are 64 parts of each octave from mapLowest on, so that none has two codes' lowest factors: a photograph of 12
// megapixels has a hundred million radii, and a logarithm of each took a tenth of a call.
const mapLowest, cellShift = guide.MaxFactor / 4096., 23 - 6

// mapCodes has the lowest factor of each code, and the code of the lowest factor of each cell.
var mapCodes = func() (t struct {
	lowest [256]float32
	cells  [12 << (23 - cellShift)]uint8
}) {
	for code := range t.lowest {
		t.lowest[code] = guide.MaxFactor * float32(math.Exp((255.5-float64(code))/254*mapEnd))
	}
	code := 0
	for i := range t.cells {
		for code < 255 && t.lowest[code+1] <= math.Float32frombits(math.Float32bits(mapLowest)+uint32(i)<<cellShift) {
			code++
		}
		t.cells[i] = uint8(code)
	}
	return t
}()

// setRadii sets the codes of a block in a region from radii, images×groups×pixels, which are 0 or more.
func (r *codedRadii) setRadii(region backend.Region, block int, radii []float32) {
	h, w := region.Size()
	base := r.base[block]
	var wait sync.WaitGroup
	for n := range r.shape.N * len(base) {
		wait.Go(func() {
			of, b := radii[n*h*w:][:h*w], base[n%len(base)]
			for y := range h {
				to := r.row(block, n/len(base), n%len(base), region.Y0+y)[region.X0:]
				for x, v := range of[y*w:][:w] {
					to[x] = mapCode(v / b)
				}
			}
		})
	}
	wait.Wait()
}

// set sets the codes of a block in a region from what the guide said there.
func (r *codedRadii) set(region backend.Region, block int, factors []float32) error {
	h, w := region.Size()
	groups := len(r.base[block])
	var wait sync.WaitGroup
	errs := make([]error, r.shape.N*groups)
	for n := range errs {
		wait.Go(func() { errs[n] = r.setGroup(region, block, n/groups, n%groups, factors[n*h*w:][:h*w]) })
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// setGroup is set for one group of one image.
func (r *codedRadii) setGroup(region backend.Region, block, n, group int, factors []float32) error {
	h, w := region.Size()
	for y := range h {
		to := r.row(block, n, group, region.Y0+y)[region.X0:]
		for x, v := range factors[y*w:][:w] {
			code, ok := guide.Code(v)
			if !ok {
				return notARadius(float64(v))
			}
			to[x] = code
		}
	}
	return nil
}

// row is a row of codes.
func (r *codedRadii) row(block, n, group, y int) []uint8 {
	return r.codes[block][((n*len(r.base[block])+group)*r.shape.H+y)*r.shape.W:][:r.shape.W]
}

// radii returns those that a group's codes stand for.
func (r *codedRadii) radii(block, group int) (table [256]float32) {
	for code := range table {
		table[code] = min(r.base[block][group]*r.factor(uint8(code)), math.MaxFloat32)
	}
	return table
}

// window returns the radii of a block in a window, in the memory of values if that is enough.
func (r *codedRadii) window(values []float32, block int, window backend.Region) []float32 {
	h, w := window.Size()
	groups := len(r.base[block])
	n := r.shape.N * groups * h * w
	values = slices.Grow(values[:0], n)[:n]
	var wait sync.WaitGroup
	for i := range r.shape.N * groups {
		wait.Go(func() {
			to, table := values[i*h*w:][:h*w], r.radii(block, i%groups)
			for y := range h {
				codes := r.row(block, i/groups, i%groups, window.Y0+y)[window.X0:window.X1]
				for x, code := range codes {
					to[y*w+x] = table[code]
				}
			}
		})
	}
	wait.Wait()
	return values
}

// totals returns the root of the sum of the squares of the radii of each block.
func (r *codedRadii) totals() []float64 {
	total := make([]float64, len(r.base))
	for i, base := range r.base {
		for g := range base {
			table := r.radii(i, g)
			var counts [256]int
			for n := range r.shape.N {
				for _, code := range r.codes[i][(n*len(base)+g)*r.shape.Plane():][:r.shape.Plane()] {
					counts[code]++
				}
			}
			for code, count := range counts {
				total[i] += float64(count) * float64(table[code]) * float64(table[code])
			}
		}
		total[i] = math.Sqrt(total[i]) * (1 + 1e-9)
	}
	return total
}

// codedFlow is an explicit network with coded radii, which borrows its filters.
type codedFlow struct {
	flow  *explicit // with other radii
	radii *codedRadii
	steps []backend.CodedRadii // for each step of flow, the same
}

func newCodedFlow(flow *explicit, r *codedRadii) *codedFlow {
	c := &codedFlow{flow: flow, radii: r}
	for i, b := range flow.blocks {
		coded := backend.CodedRadii{Shape: r.shape, Codes: r.codes[i], Tables: make([][256]float32, len(r.base[i]))}
		coded.Shape.C = len(r.base[i])
		for g := range coded.Tables {
			coded.Tables[g] = r.radii(i, g)
		}
		for range b.steps {
			c.steps = append(c.steps, coded)
		}
	}
	return c
}

func (c *codedFlow) plan(backend.Buffer, backend.Shape, float64) (tile.Plan, func() float64, error) {
	return c, exactly, nil
}

// Cut implements tile.Cuttable.
func (c *codedFlow) Cut(s *tile.Scratch, window backend.Region) (tile.Plan, error) {
	blocks := make([]deviceBlock, len(c.flow.blocks))
	var values []float32
	for i, b := range c.flow.blocks {
		shape := c.radii.shape
		shape.C = len(c.radii.base[i])
		shape.H, shape.W = window.Size()
		m, err := s.Alloc(shape)
		if err != nil {
			return nil, err
		}
		values = c.radii.window(values, i, window)
		if err := c.flow.dev.Upload(m, values); err != nil {
			return nil, err
		}
		b.balls = m
		blocks[i] = b
	}
	return newExplicit(c.flow.dev, c.flow.tableau, blocks), nil
}

// Apply implements tile.Plan where the image is a single window.
func (c *codedFlow) Apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	if s := src.Shape(); s.H != c.radii.shape.H || s.W != c.radii.shape.W {
		return errors.New("a network with coded radii is applied to a window without its radii")
	}
	s := tile.NewScratch(c.flow.dev)
	defer s.Free()
	whole, err := c.Cut(s, c.radii.shape.Whole())
	if err != nil {
		return err
	}
	return whole.Apply(ctx, dst, src, r)
}

// TakesWhole implements tile.Whole.
func (c *codedFlow) TakesWhole(s backend.Shape) bool {
	return s.N == c.radii.shape.N && s.H == c.radii.shape.H && s.W == c.radii.shape.W && c.flow.dev.MakesShuffledFlow(c.flow.steps, c.steps)
}

// ApplyWhole implements tile.Whole.
func (c *codedFlow) ApplyWhole(ctx context.Context, dst, src backend.Buffer, factor int) error {
	return c.flow.dev.ShuffledFlow(ctx, dst, src, factor, c.flow.steps, c.steps)
}

// Side implements tile.Plan.
func (c *codedFlow) Side(s backend.Shape, grid int) int {
	groups := 0
	for _, base := range c.radii.base {
		groups += len(base)
	}
	return c.flow.reach.SideWithin(maxWindow, groups, s, grid)
}

// Layers implements tile.Plan.
func (c *codedFlow) Layers() tile.Reach { return c.flow.reach }

func (c *codedFlow) free() {}
