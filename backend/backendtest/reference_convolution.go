package backendtest

import "github.com/averaged/imaging/backend"

// eachElement calls f for every index of an array.
func eachElement(s backend.Shape, f func(n, c, y, x int)) {
	for n := range s.N {
		for c := range s.C {
			for y := range s.H {
				for x := range s.W {
					f(n, c, y, x)
				}
			}
		}
	}
}

// referenceConvolution sets dst = activation(A·src + bias). The filter w has
// shape (Out, In, KH, KW), so its index is (o, i, r, s); bias may be nil.
func referenceConvolution(dst, src, w tensor, bias *tensor, a backend.Activation) {
	eachElement(dst.Shape, func(n, o, y, x int) {
		sum := 0.0
		if bias != nil {
			sum = bias.v[o]
		}
		for i := range w.C {
			for r := range w.H {
				for s := range w.W {
					sum += w.at(o, i, r, s) * src.padded(n, i, y+r-w.H/2, x+s-w.W/2)
				}
			}
		}
		dst.v[dst.index(n, o, y, x)] = a.Apply(sum)
	})
}

// referenceConvolutionAdjoint sets dst = beta·dst + scale·Aᵀ·src. Sample (v, u)
// is multiplied by w[o,i,r,s] in the result at (v − r + KH/2, u − s + KW/2).
func referenceConvolutionAdjoint(dst, src, w tensor, beta, scale float32) {
	eachElement(dst.Shape, func(n, i, v, u int) {
		sum := 0.0
		for o := range w.N {
			for r := range w.H {
				for s := range w.W {
					sum += w.at(o, i, r, s) * src.padded(n, o, v-r+w.H/2, u-s+w.W/2)
				}
			}
		}
		blend(dst, dst.index(n, i, v, u), beta, float64(scale)*sum)
	})
}

// referenceFilterGradient sets dw = beta·dw + scale·∂⟨dy, A·x⟩/∂w.
func referenceFilterGradient(dw, x, dy tensor, beta, scale float32) {
	eachElement(dw.Shape, func(o, i, r, s int) {
		sum := 0.0
		for n := range dy.N {
			for v := range dy.H {
				for u := range dy.W {
					// Beyond the frame there is nothing to multiply, not even a NaN.
					if y, x0 := v+r-dw.H/2, u+s-dw.W/2; y >= 0 && y < x.H && x0 >= 0 && x0 < x.W {
						sum += dy.at(n, o, v, u) * x.at(n, i, y, x0)
					}
				}
			}
		}
		blend(dw, dw.index(o, i, r, s), beta, float64(scale)*sum)
	})
}

// referenceBiasGradient sets db = beta·db + the sum of dy over all but channels.
func referenceBiasGradient(db, dy tensor, beta float32) {
	for c := range dy.C {
		sum := 0.0
		for n := range dy.N {
			for y := range dy.H {
				for x := range dy.W {
					sum += dy.at(n, c, y, x)
				}
			}
		}
		blend(db, c, beta, sum)
	}
}

// blend sets element i to beta times itself plus v; with beta = 0 the element is
// not read.
func blend(t tensor, i int, beta float32, v float64) {
	if beta != 0 {
		v += float64(beta) * t.v[i]
	}
	t.v[i] = v
}

// referenceActivationGradient sets dst = dy·activation'(·), given the output.
func referenceActivationGradient(dst, out, dy tensor, a backend.Activation) {
	for i, d := range dy.v {
		if a.Kind == backend.LeakyReLU && out.v[i] <= 0 {
			d *= float64(a.Slope)
		}
		dst.v[i] = d
	}
}
