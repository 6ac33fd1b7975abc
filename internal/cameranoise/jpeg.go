package cameranoise

import (
	"math"

	"github.com/averaged/imaging/internal/jpegblock"
)

// Compress replaces planes, one of brightness or three of red, green and blue, of h×w samples in [0,1],
// by what an 8-bit JPEG file keeps of them. It panics if j is not what Check accepts of a Camera.
func (j JPEG) Compress(planes []float32, channels, h, w int) {
	if err := j.check(); err != nil {
		panic(err)
	}
	compress(planes, make([]float32, paddedSize(h, w)), channels, h, w, j)
}

// compress replaces channels planes of h×w in [0,1] by what an 8-bit JPEG file keeps of them. The
// entropy coding loses nothing, and is left out. Components are rounded to 8 bits, as encoders
// and decoders do. room has paddedSize(h, w) samples.
func compress(planes, room []float32, channels, h, w int, j JPEG) {
	steps := jpegblock.Steps(j.Quality)
	n := h * w
	if channels == 1 {
		for i, v := range planes[:n] {
			planes[i] = rounded8(v * 255)
		}
		compressComponent(planes[:n], room, h, w, 1, 1, &steps[0])
		for i := range n {
			planes[i] /= 255
		}
		return
	}
	toComponents(planes, n)
	subX, subY := 1, 1
	if j.Subsampling != Full {
		subX = 2
	}
	if j.Subsampling == Quarter {
		subY = 2
	}
	compressComponent(planes[:n], room, h, w, 1, 1, &steps[0])
	compressComponent(planes[n:2*n], room, h, w, subX, subY, &steps[1])
	compressComponent(planes[2*n:3*n], room, h, w, subX, subY, &steps[1])
	fromComponents(planes, n)
}

// paddedSize is how many samples a plane of h×w has in whole blocks.
func paddedSize(h, w int) int { return blocks(h) * blocks(w) }

func blocks(n int) int { return (n + 7) &^ 7 }

// rounded8 is the nearest whole number from 0 to 255.
func rounded8(v float32) float32 {
	return float32(math.Floor(float64(min(max(v, 0), 255)) + 0.5))
}

// toComponents takes red, green and blue in [0,1] to luma, Cb and Cr of JFIF, whole numbers.
func toComponents(planes []float32, n int) {
	for i := range n {
		r, g, b := rounded8(planes[i]*255), rounded8(planes[n+i]*255), rounded8(planes[2*n+i]*255)
		y := lumaWeights.of(r, g, b)
		planes[i] = rounded8(y)
		planes[n+i] = rounded8((b-y)/1.772 + 128)
		planes[2*n+i] = rounded8((r-y)/1.402 + 128)
	}
}

// fromComponents is the way back, to multiples of 1/255.
func fromComponents(planes []float32, n int) {
	for i := range n {
		y, cb, cr := planes[i], planes[n+i]-128, planes[2*n+i]-128
		planes[i] = rounded8(y+float32(1.402*cr)) / 255
		planes[n+i] = rounded8(y-float32(0.344136*cb)-float32(0.714136*cr)) / 255
		planes[2*n+i] = rounded8(y+float32(1.772*cb)) / 255
	}
}

// compressComponent replaces one component by what a file keeps of it. A file has one
// of subX×subY samples, their mean.
func compressComponent(plane, room []float32, h, w, subX, subY int, steps *[64]int) {
	inH, inW := (h+subY-1)/subY, (w+subX-1)/subX
	stride, rows := blocks(inW), blocks(inH)
	for y := range rows {
		for x := range stride {
			sum := float32(0)
			for dy := range subY {
				for dx := range subX {
					sum += plane[min(y*subY+dy, h-1)*w+min(x*subX+dx, w-1)]
				}
			}
			room[y*stride+x] = sum / float32(subX*subY)
		}
	}
	for y := 0; y < rows; y += 8 {
		for x := 0; x < stride; x += 8 {
			compressBlock(room[y*stride+x:], stride, steps)
		}
	}
	for y := range h {
		nearY, farY := neighbours(y, subY, inH)
		near, far := room[nearY*stride:][:stride], room[farY*stride:][:stride]
		for x := range w {
			nearX, farX := neighbours(x, subX, inW)
			a := float32(0.75*near[nearX]) + float32(0.25*near[farX])
			b := float32(0.75*far[nearX]) + float32(0.25*far[farX])
			plane[y*w+x] = float32(0.75*a) + float32(0.25*b)
		}
	}
}

// neighbours are the two samples between which sample i of sub times as many lies, a quarter of
// their distance from the first; both are the first where it is that sample itself. This is the
// interpolation of libjpeg.
func neighbours(i, sub, n int) (near, far int) {
	near = i / sub
	if sub == 1 {
		return near, near
	}
	return near, min(max(near-1+i%2*2, 0), n-1)
}

// compressBlock quantises the 8×8 samples that v begins with.
func compressBlock(v []float32, stride int, steps *[64]int) {
	var b [64]float32
	for i := range b {
		b[i] = rounded8(v[i/8*stride+i%8]) - 128
	}
	jpegblock.Forward(&b)
	for i, s := range steps {
		step := float32(s)
		b[i] = step * float32(math.Round(float64(b[i]/step)))
	}
	jpegblock.Inverse(&b)
	for i, s := range b {
		v[i/8*stride+i%8] = rounded8(s + 128)
	}
}
