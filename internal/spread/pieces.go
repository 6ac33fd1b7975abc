package spread

import "github.com/averaged/imaging/backend"

// pieces cuts a region at multiples of the grid into rows and columns of rectangles, at most
// count, so that the costliest is as cheap as can be: a strip is mostly its halo where there are
// many of them.
func pieces(r backend.Region, count, grid int, cost func(backend.Region) float64) []backend.Region {
	var best []backend.Region
	least := 0.0
	for rows := 1; rows <= count; rows++ {
		for columns := 1; rows*columns <= count; columns++ {
			var list []backend.Region
			dearest := 0.0
			for _, y := range parts(r.Y0, r.Y1, rows, grid) {
				for _, x := range parts(r.X0, r.X1, columns, grid) {
					piece := backend.Region{Y0: y[0], Y1: y[1], X0: x[0], X1: x[1]}
					list = append(list, piece)
					dearest = max(dearest, cost(piece))
				}
			}
			if best == nil || dearest < least {
				best, least = list, dearest
			}
		}
	}
	return best
}

// parts cuts [from, to) at multiples of the grid into at most count ranges of about one length.
func parts(from, to, count, grid int) [][2]int {
	var list [][2]int
	for i := range count {
		end := from + (to-from)*(i+1)/count
		if i+1 < count {
			end -= end % grid
		}
		if start := from; len(list) > 0 {
			start = list[len(list)-1][1]
			if end > start {
				list = append(list, [2]int{start, end})
			}
		} else if end > start {
			list = append(list, [2]int{start, end})
		}
	}
	return list
}

// area is in pixels.
func area(r backend.Region) float64 {
	h, w := r.Size()
	return float64(h) * float64(w)
}
