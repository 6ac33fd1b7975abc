package winograd

// A filter's gradient is the transpose of the algorithm: with dY the gradient with
// respect to a tile of outputs, and with respect to the transformed filter
//
//	dU = Σ over tiles of (Bᵀ D B) ⊙ (A dY Aᵀ),
//
// it is dW = Gᵀ dU G.

// values returns Ay, the transpose of evaluate.
func values(y *[Tile]float32) [Patch]float32 {
	even1, odd1 := y[0]+y[2]+y[4], y[1]+y[3]+y[5]
	even2, odd2 := y[0]+4*y[2]+16*y[4], y[1]+4*y[3]+16*y[5]
	even3, odd3 := y[0]+0.25*y[2]+0.0625*y[4], y[1]+0.25*y[3]+0.0625*y[5]
	return [Patch]float32{
		y[0],
		even1 + odd1, even1 - odd1,
		even2 + 2*odd2, even2 - 2*odd2,
		even3 + 0.5*odd3, even3 - 0.5*odd3,
		y[5],
	}
}

// spread is the definition of Kernels.Spread.
func spread(v []float32, point int, src []float32, row, pixel, channels int, _ *Scratch) {
	for c := range channels {
		var half [Patch][Tile]float32
		for y := range Tile {
			var d [Tile]float32
			for x := range Tile {
				d[x] = src[y*row+x*pixel+c]
			}
			for k, value := range values(&d) {
				half[k][y] = value
			}
		}
		for k := range Patch {
			for l, value := range values(&half[k]) {
				v[(l*Patch+k)*point+c] = value
			}
		}
	}
}

// correlate is the definition of Kernels.Correlate.
func correlate(u []float32, uRow int, v []float32, vTile int, p []float32, pTile, tiles, in, out int) {
	for i := range in {
		for o := 0; o < out; o += Block {
			var sum [Block]float32
			for t := range tiles {
				a, row := v[t*vTile+i], (*[Block]float32)(p[t*pTile+o:])
				for k := range sum {
					sum[k] += a * row[k]
				}
			}
			to := (*[Block]float32)(u[i*uRow+o:])
			for k := range sum {
				to[k] += sum[k]
			}
		}
	}
}

// FilterGradient sets, for input channel i, dw = beta·dw + scale·Gᵀ dU G, where dw has
// layout [out][in][3][3] and dU is the sum of parts, each of the layout of a transformed
// filter. It sums in float64, in the order of the parts.
func FilterGradient(dw []float32, parts [][]float32, out, in, i int, beta, scale float32) {
	padded := Padded(out)
	du := make([]float64, Points*out)
	for k := range Points {
		sum := du[k*out:][:out]
		for _, part := range parts {
			for o, v := range part[(k*in+i)*padded:][:out] {
				sum[o] += float64(v)
			}
		}
	}
	for o := range out {
		var half [3][Patch]float64
		for k := range Patch {
			for l := range Patch {
				v := du[(k*Patch+l)*out+o]
				for r := range 3 {
					half[r][l] += filterTransform[k][r] * v
				}
			}
		}
		for r := range 3 {
			for s := range 3 {
				sum := 0.0
				for l := range Patch {
					sum += filterTransform[l][s] * half[r][l]
				}
				sum *= float64(scale)
				at := &dw[((o*in+i)*3+r)*3+s]
				if beta != 0 {
					sum += float64(beta) * float64(*at)
				}
				*at = float32(sum)
			}
		}
	}
}
