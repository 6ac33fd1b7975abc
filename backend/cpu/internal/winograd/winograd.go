// Package winograd has the kernels of 3×3 convolutions by Winograd's algorithm
// F(6×6, 3×3) (Winograd 1980; for networks Lavin and Gray 2016): a tile of 6×6
// outputs is made of a patch of 8×8 inputs with 64 multiplications for each pair
// of an input and an output channel, where the definition takes 324.
//
// With Y the outputs of a tile, W the filter and D the patch,
//
//	Y = Aᵀ [ Σ over input channels of (G W Gᵀ) ⊙ (Bᵀ D B) ] A,
//
// where A, B and G interpolate polynomials at the eight points 0, ±1, ±2, ±½ and ∞.
// At each of the 64 pairs of points the sum is a product of matrices, (tiles × in)
// by (in × out): that is where the time goes.
//
// # Layout
//
// Images are in rows of pixels with the channels of a pixel side by side, padded
// with zeros to a multiple of Block. Transformed patches are in one array per
// point, [tile][in], and transformed outputs likewise, [tile][out]. Transformed
// filters are [point][in][out], with a gap between points (FilterPoint).
//
// # Rounding
//
// For 64 channels of random numbers the error is 3.4e-6 of the root mean square of
// the result, ten times that of F(2×2, 3×3) and a hundredth of the rounding of
// TF32's inputs; package backendtest has the limit. The operations on one tile do not depend
// on the tiles beside it, and their order is the same for any number of tiles.
package winograd

//go:generate go -C ../../_asm run ./winograd -pkg winograd -out ../internal/winograd/kernels_amd64.s -stubs ../internal/winograd/kernels_amd64.go
//go:generate go -C ../../_asm run ./neon/winograd -out ../internal/winograd

// The sizes of the algorithm.
const (
	Tile   = 6 // rows and columns of outputs
	Patch  = 8 // rows and columns of inputs
	Points = Patch * Patch
	// Block is the number of channels that a pixel's channels are padded to a
	// multiple of.
	Block = 16
)

// Padded returns the number of channels with their padding.
func Padded(channels int) int { return (channels + Block - 1) / Block * Block }

// Scratch is memory that one kernel needs while it runs; aligned to a cache line
// it is fastest.
type Scratch = [Points * Block]float32

// Kernels are the loops of the algorithm in one instruction set. Numbers of channels
// are multiples of Block; strides are distances in floats.
type Kernels struct {
	// Input transforms the patch whose row y begins at rows[y][x], with pixels at
	// distance pixel, and puts what belongs to point k at v[k·point:].
	Input func(v []float32, point int, rows *[Patch][]float32, x, pixel, channels int, scratch *Scratch)
	// Multiply is one product of matrices: for every tile t and output channel o
	//
	//	m[t·mTile + o] = Σ over i < in of v[t·vTile + i] · u[i·uRow + o],
	//
	// summed in the order of i. in is at least 1 and need not be a multiple of Block.
	Multiply func(m []float32, mTile int, v []float32, vTile int, u []float32, uRow, tiles, in, out int)
	// Activate makes the outputs y of a tile of what stands at m[k·point:] for point
	// k, and puts max(y + bias, slope·(y + bias)) at dst, the first of them, with rows
	// and pixels at the distances given. Only the first rows of the tile are written.
	Activate func(dst []float32, row, pixel int, m []float32, point int, bias []float32, slope float32, rows, channels int, scratch *Scratch)
	// Update is the same with the end dst = src + scale·y. src has strides of its own
	// and may be dst.
	Update func(dst []float32, row, pixel int, src []float32, srcRow, srcPixel int, m []float32, point int, scale float32, rows, channels int, scratch *Scratch)
	// Project projects each group of size channels, 4, 8 or 16, of the pixels in the first
	// rows of a tile at dst onto a ball around 0: it multiplies them by r/max(norm, r), r
	// the group's radius, which stands in radius for each of its channels, padding
	// included, where radiusRow is 0. Elsewhere it is the distance of the rows of radii of a
	// tile's pixels, which SpreadRadii has laid out, for groups of 8 and 16. Squares are added as a
	// balanced tree of neighbours, as vectors.Kernels.ProjectBalls does.
	Project func(dst []float32, row, pixel int, radius []float32, radiusRow, size, rows, channels int)
	// Pack turns rows of planes into pixels: dst[x·pixel + c] = src[c·plane + x] for
	// any number of pixels and channels. Padding is left alone.
	Pack func(dst []float32, pixel int, src []float32, plane, pixels, channels int)
	// Unpack is the way back: dst[c·plane + x] = src[x·pixel + c] + beta·dst[c·plane + x].
	// With beta = 0 the old dst is not read.
	Unpack func(dst []float32, plane int, src []float32, pixel, pixels, channels int, beta float32)
	// Spread transforms the gradients with respect to the outputs of a tile, which
	// stand at src with rows and pixels at the distances given: A dY Aᵀ, what belongs
	// to point k at v[k·point:].
	Spread func(v []float32, point int, src []float32, row, pixel, channels int, scratch *Scratch)
	// Correlate is a product of matrices: for every input channel i < in and output
	// channel o < out
	//
	//	u[i·uRow + o] = Σ over tiles t of v[t·vTile + i] · p[t·pTile + o],
	//
	// to which, where add says so, the old u is added. in is at least 1 and need not be a
	// multiple of Block.
	Correlate func(u []float32, uRow int, v []float32, vTile int, p []float32, pTile, tiles, in, out int, add bool)
	// Expand transforms filters of one input channel, tap t of that to output channel o
	// at taps[t·channels + o], to G W Gᵀ, what belongs to point k at u[k·point:]. It
	// computes in float64 and rounds once.
	Expand func(u []float32, point int, taps []float32, channels int, scratch *Scratch)
	// Contract is its transpose, Gᵀ dU G, of the sum of the parts, at least one, of
	// which point k begins at part[k·point + at]. It computes in float64 and rounds once.
	Contract func(taps []float32, parts [][]float32, at, point, channels int, scratch *Scratch)
	// Prefetch says that the numbers will be read soon. It may do nothing.
	Prefetch func(x []float32)
}
