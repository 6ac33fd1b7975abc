package cpu

import "github.com/averaged/imaging/backend/cpu/internal/winograd"

// patches returns a function that transforms the patches of a run of tiles from a
// ring.
func (f *flow) patches(g *tileGroup, from *ring, r tileRun, channels int) func(t int, v []float32, point int) {
	var rows [winograd.Patch][]float32
	at := -1
	return func(t int, v []float32, point int) {
		row, column := r.tile(t)
		if row != at {
			at = row
			from.patchRows(&rows, row, f.height, f.zeros)
		}
		// Column 0 of the memory is one pixel to the left of the first tile.
		x := (column - f.columns.from) * winograd.Tile
		f.kernels.Input(v, point, &rows, x*from.channels, from.channels, channels, &g.scratch)
	}
}

// visible returns how many rows of pixels of a tile row are in the image.
func (f *flow) visible(row int) int { return min(winograd.Tile, f.height-row*winograd.Tile) }

// ahead returns a function that asks, a 64th at a time, for the pixels that the next run
// of tiles reads and the tile row above it has not: what comes from main memory comes
// while matrices are multiplied.
func (f *flow) ahead(from *ring, next tileRun) func(point int) {
	if next.from >= next.to {
		return nil
	}
	row, first := next.tile(0)
	last := first + next.to - next.from
	if last > next.columns.to { // what is in the next tile row is left to itself
		last = next.columns.to
	}
	x0 := (first-f.columns.from)*winograd.Tile + 2
	x1 := (last-f.columns.from)*winograd.Tile + 2
	return func(point int) {
		// Points in blocks of 10 for each of the 6 rows of pixels.
		const share = winograd.Points / winograd.Tile
		y := row*winograd.Tile + 1 + point/share
		if point >= share*winograd.Tile || y >= f.height {
			return
		}
		part := point % share
		f.kernels.Prefetch(from.pixels(y)[(x0+(x1-x0)*part/share)*from.channels : (x0+(x1-x0)*(part+1)/share)*from.channels])
	}
}

// hide computes the hidden layer of stage q on a run of tiles, and prepares for the
// next run.
func (f *flow) hide(g *tileGroup, q int, r, next tileRun) {
	s := &f.plan.stages[q]
	from, to, step := &f.arrays[s.from], &f.hidden[q], s.step
	patches := f.patches(g, from, r, winograd.Padded(s.in))
	m, point := g.multiplied(f.kernels, step.forward, s.in, step.forward.out, r.to-r.from, patches, f.ahead(from, next))
	for t := range r.to - r.from {
		row, column := r.tile(t)
		x := (column-f.columns.from)*winograd.Tile + 1
		f.kernels.Activate(to.tile(row, x), to.row, to.channels, m[t*to.channels:], point, step.bias, step.slope, f.visible(row), to.channels, &g.scratch)
		switch {
		case step.radii != nil:
			radii := f.radii(g, step, row, column)
			f.kernels.Project(to.tile(row, x), to.row, to.channels, radii, to.channels, step.group, f.visible(row), to.channels)
		case step.radius != nil:
			f.kernels.Project(to.tile(row, x), to.row, to.channels, step.radius, 0, step.group, f.visible(row), to.channels)
		}
		f.crop(to, row, column)
	}
}

// radii returns a step's radii of the pixels of a tile as the kernels want them. Beyond the
// frame, and of the channels' padding, they are 0.
func (f *flow) radii(g *tileGroup, step *flowStep, row, column int) []float32 {
	channels := step.forward.padded()
	g.radii = sized(g.radii, winograd.Tile*channels)
	clear(g.radii)
	x := column * winograd.Tile
	for group := range step.radii.shape.C {
		for y := range f.visible(row) {
			var of [winograd.Tile]float32
			step.radii.read(of[:min(winograd.Tile, f.width-x)], f.n, group, row*winograd.Tile+y, x)
			winograd.SpreadRadii(g.radii[y*channels+group*step.group:][:step.group], &of)
		}
	}
	return g.radii
}

// sum computes the sums of stage q on a run of tiles, and prepares for the next.
func (f *flow) sum(g *tileGroup, q int, r, next tileRun) {
	s := &f.plan.stages[q]
	from := &f.hidden[q]
	m, point := g.multiplied(f.kernels, s.step.back, s.step.back.in, s.out, r.to-r.from, f.patches(g, from, r, from.channels), f.ahead(from, next))
	channels := winograd.Padded(s.out)
	for t := range r.to - r.from {
		addEverywhere(m[t*channels:], point, s.step.backBias)
	}
	for t := range r.to - r.from {
		row, column := r.tile(t)
		x := (column-f.columns.from)*winograd.Tile + 1
		rows := f.visible(row)
		for _, a := range s.sums {
			to, start := &f.arrays[a.to], &f.arrays[a.start]
			known := min(a.known, channels)
			at := to.tile(row, x)
			f.kernels.Update(at, to.row, to.channels, start.tile(row, x), start.row, start.channels, m[t*channels:], point, a.scale, rows, known, &g.scratch)
			if known < channels {
				f.kernels.Update(at[known:], to.row, to.channels, f.zeros, 0, 0, m[t*channels+known:], point, a.scale, rows, channels-known, &g.scratch)
			}
			if q == len(f.plan.stages)-1 && f.dst.fine != nil {
				f.store(to, row, column)
			} else {
				f.crop(to, row, column)
			}
		}
	}
}

// addEverywhere adds a number to each output of a tile, channel by channel: at the point
// (1, 1) of m alone, where the polynomials that outputs are made of are 1.
func addEverywhere(m []float32, point int, bias []float32) {
	at := m[(winograd.Patch+1)*point:]
	for c, b := range bias {
		at[c] += b
	}
}

// crop puts zeros where a tile reaches over the right side of the image.
func (f *flow) crop(r *ring, row, column int) {
	outside := (column+1)*winograd.Tile - f.width
	if outside <= 0 {
		return
	}
	x := (column+1-f.columns.from)*winograd.Tile + 1 - outside
	r.clear(row*winograd.Tile, f.visible(row), x, x+outside)
}

// load puts the source's channels into array 0, as far down as tile row to.
func (f *flow) load(to int) {
	if f.src.fine == nil {
		return
	}
	s, z := f.src.shape, &f.arrays[0]
	known := winograd.Padded(s.C)
	x0 := f.columns.from*winograd.Tile - 1 // of memory column 0
	y0 := f.loaded * winograd.Tile
	f.device.pool.For(max(0, min(to*winograd.Tile, s.H)-y0), func(i int) {
		row, lines := z.pixels(y0+i), make([][]float32, s.C)
		for c := range lines {
			lines[c] = f.src.line(f.n, c, y0+i)
		}
		for j := range len(row) / z.channels {
			pixel := row[j*z.channels:][:known]
			clear(pixel)
			if x := (x0 + j) * f.src.factor; x >= 0 {
				for c, line := range lines {
					if x < len(line) {
						pixel[c] = line[x]
					}
				}
			}
		}
	})
	f.loaded = max(f.loaded, to)
}

// store puts a tile of the result where it belongs.
func (f *flow) store(from *ring, row, column int) {
	s, r := f.dst.shape, f.region
	x0, x1 := max(column*winograd.Tile, r.X0), min((column+1)*winograd.Tile, r.X1)
	left := f.columns.from*winograd.Tile - 1
	for y := max(row*winograd.Tile, r.Y0); y < min((row+1)*winograd.Tile, r.Y1); y++ {
		pixels := from.pixels(y)[(x0-left)*from.channels:]
		for c := range s.C {
			line, q := f.dst.line(f.n, c, y), f.dst.factor
			for x := x0; x < x1 && x*q < len(line); x++ {
				line[x*q] = pixels[(x-x0)*from.channels+c]
			}
		}
	}
}
