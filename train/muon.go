package train

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
)

// orthogonaliser replaces the singular values of a matrix by ones, roughly: the direction
// of steepest descent where lengths are measured by the spectral norm, the norm that a
// block's budget is spent in (Bernstein and Newhouse 2024). Under Adam a few singular
// values outrun the others, and dividing by the norm takes from those.
//
// It is the iteration of Newton and Schulz with the polynomial of Jordan et al. (Muon,
// 2024), which lets all singular values come near 1 in five steps, between 0.7 and 1.2,
// without a decomposition. The products of matrices are convolutions of size 1×1 on
// images of rows channels and columns pixels.
type orthogonaliser struct {
	rows, columns int
	x, mx, mmx    backend.Buffer
	gram          backend.Buffer // M = XXᵀ
	product       backend.Filter // by M
}

const newtonSchulzSteps = 5

// newtonSchulz are the coefficients of aX + bMX + cM²X.
var newtonSchulz = [3]float32{3.4445, -4.7750, 2.0315}

// newOrthogonaliser allocates for matrices of n×m numbers, or m×n.
func newOrthogonaliser(q *devicequeue.Queue, memory *devicequeue.Pool, n, m int) *orthogonaliser {
	o := &orthogonaliser{rows: min(n, m), columns: max(n, m)}
	image := backend.Image(o.rows, 1, o.columns)
	o.x, o.mx, o.mmx = memory.Take(q, image), memory.Take(q, image), memory.Take(q, image)
	o.gram = memory.Take(q, backend.Shape{N: o.rows, C: o.rows, H: 1, W: 1})
	q.Do(func() (err error) {
		o.product, err = q.Dev.NewFilter(o.gram)
		return err
	})
	return o
}

// lay puts a matrix, divided by its Frobenius norm, into the order of the device's image, and tells
// whether it is not all zeros: no singular value is above that norm.
func (o *orthogonaliser) lay(host, src []float32, rows int) bool {
	sum := 0.0
	for _, v := range src {
		sum += float64(float64(v) * float64(v))
	}
	if sum == 0 {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	columns := len(src) / rows
	for i, v := range src {
		host[o.at(i, rows, columns)] = float32(scale * float64(v))
	}
	return true
}

// iterate replaces what lay has made by its orthogonal part.
func (o *orthogonaliser) iterate(q *devicequeue.Queue, host []float32) {
	q.Upload(o.x, host)
	for range newtonSchulzSteps {
		q.FilterGradient(o.gram, o.x, o.x, 0, 1)
		q.UpdateFilter(o.product, o.gram)
		q.Convolve(o.mx, o.x, o.product, backend.ConvEnd{})
		q.Convolve(o.mmx, o.mx, o.product, backend.ConvEnd{})
		q.Combine(o.x,
			backend.Term{A: newtonSchulz[0], X: o.x}, backend.Term{A: newtonSchulz[1], X: o.mx}, backend.Term{A: newtonSchulz[2], X: o.mmx})
	}
	q.Download(host, o.x)
}

// take brings what iterate has made back into the order of a matrix.
func (o *orthogonaliser) take(dst, host []float32, rows int) {
	columns := len(dst) / rows
	for i := range dst {
		dst[i] = host[o.at(i, rows, columns)]
	}
}

// at is where number i of a matrix stands in the image: the transposed matrix is taken
// where that has fewer rows.
func (o *orthogonaliser) at(i, rows, columns int) int {
	if rows == o.rows {
		return i
	}
	return i%columns*rows + i/columns
}

func (o *orthogonaliser) free() {
	if o.product != nil {
		o.product.Free()
	}
}
