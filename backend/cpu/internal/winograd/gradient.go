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
func correlate(u []float32, uRow int, v []float32, vTile int, p []float32, pTile, tiles, in, out int, add bool) {
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
				if add {
					sum[k] += to[k]
				}
				to[k] = sum[k]
			}
		}
	}
}

// flag is how the assembly takes a condition: 1 or 0.
func flag(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

// toTaps returns Gᵀy, the transpose of atPoints.
func toTaps(y *[Patch]float64) [Taps]float64 {
	g := &filterTransform
	s1, s2, s3 := y[1]+y[2], y[3]+y[4], y[5]+y[6]
	d1, d2, d3 := y[2]-y[1], y[3]-y[4], y[5]-y[6]
	return [Taps]float64{
		y[0] + g[1][0]*s1 + g[3][0]*s2 + g[5][0]*s3,
		g[2][1]*d1 + g[3][1]*d2 + g[5][1]*d3,
		y[7] + g[1][2]*s1 + g[3][2]*s2 + g[5][2]*s3,
	}
}

// contract is the definition of Kernels.Contract. It goes in blocks, so that cache lines
// are read once.
func contract(taps []float32, parts [][]float32, at, point, channels int, _ *Scratch) {
	for first := 0; first < channels; first += Block {
		var half [Block][Taps][Patch]float64
		for k := range Patch {
			var sums [Block][Patch]float64
			for l := range Patch {
				for _, part := range parts {
					for o, v := range (*[Block]float32)(part[(k*Patch+l)*point+at+first:]) {
						sums[o][l] += float64(v)
					}
				}
			}
			for o := range sums {
				for s, v := range toTaps(&sums[o]) {
					half[o][s][k] = v
				}
			}
		}
		for o := range half {
			for s := range Taps {
				for r, v := range toTaps(&half[o][s]) {
					taps[(r*Taps+s)*channels+first+o] = float32(v)
				}
			}
		}
	}
}

// FilterGradient sets, for input channel i, dw = beta·dw + scale·Gᵀ dU G, where dw has
// layout [out][in][3][3] and dU is the sum of parts, at least one, each of the layout of a
// transformed filter. With beta = 0 the old dw is not read. It sums in float64, in the
// order of the parts.
func (k *Kernels) FilterGradient(dw []float32, parts [][]float32, out, in, i int, beta, scale float32, s *FilterScratch) {
	padded, taps := Padded(out), s.tapsOf(out)
	k.Contract(taps, parts, i*padded, FilterPoint(in, out), padded, &s.scratch)
	for o := range out {
		to := (*[Taps * Taps]float32)(dw[(o*in+i)*Taps*Taps:])
		for t := range to {
			v := float64(scale) * float64(taps[t*padded+o])
			if beta != 0 {
				v += float64(beta) * float64(to[t])
			}
			to[t] = float32(v)
		}
	}
}
