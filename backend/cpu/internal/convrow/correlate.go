package convrow

// CorrelatedTaps is how many taps of an input Correlate takes at a time.
const CorrelatedTaps = 3

// Products are the sums that Correlate makes, by taps and outputs.
type Products [CorrelatedTaps][maxChannels]float32

// Tile says where the samples of a tile are: rows of dy and of x, dy's outputs
// PlaneY floats apart.
type Tile struct {
	Rows, Columns  int // at least 1; Columns is a multiple of Lanes
	PlaneY         int
	PitchY, PitchX int // distances of rows
}

// correlateKernel is Correlate in assembly. The pitches are from the end of a row to
// the beginning of the next.
type correlateKernel func(sums *[CorrelatedTaps][maxChannels]float32, dy *float32, plane int, x *float32, offsets *[CorrelatedTaps]int, rows, vectors, pitchY, pitchX int)

// Outputs returns the largest number of outputs that Correlate takes of n.
func (k *Kernels) Outputs(n int) int {
	if k.lanes == 0 {
		return 1
	}
	n = min(n, maxChannels)
	for k.correlate[n] == nil {
		n--
	}
	return n
}

// Correlate sets sums[t][o] to the sum over the tile of dy's output o times the
// sample of x at tap first+t, for as many taps as there are, and a number of outputs
// that Outputs gave. A sum is made in float32, in lanes that differ from one
// instruction set to another: its tile should have no more than a few thousand pixels.
func (k *Kernels) Correlate(sums *Products, dy, x []float32, t *Taps, first, outputs int, l Tile) {
	var offsets [CorrelatedTaps]int
	for i := range offsets {
		offsets[i] = t.offsets[min(first+i, len(t.offsets)-1)]
	}
	dy = dy[:(outputs-1)*l.PlaneY+(l.Rows-1)*l.PitchY+l.Columns]
	x = x[:t.reach+(l.Rows-1)*l.PitchX+l.Columns]
	if k.lanes == 0 {
		for i, s := range correlatePortable(dy, x, &offsets, l) {
			sums[i][0] = s
		}
		return
	}
	k.correlate[outputs]((*[CorrelatedTaps][maxChannels]float32)(sums), &dy[0], l.PlaneY, &x[0], &offsets,
		l.Rows, l.Columns/k.lanes, l.PitchY-l.Columns, l.PitchX-l.Columns)
}

// correlatePortable makes the sums of one output, in two lanes.
func correlatePortable(dy, x []float32, offsets *[CorrelatedTaps]int, l Tile) [CorrelatedTaps]float32 {
	var a0, a1, b0, b1, c0, c1 float32
	for r := range l.Rows {
		row := func(t int) []float32 { return x[offsets[t]/4+r*l.PitchX:][:l.Columns] }
		d, a, b, c := dy[r*l.PitchY:][:l.Columns], row(0), row(1), row(2)
		for j := 1; j < len(d); j += 2 {
			a0 += d[j-1] * a[j-1]
			b0 += d[j-1] * b[j-1]
			c0 += d[j-1] * c[j-1]
			a1 += d[j] * a[j]
			b1 += d[j] * b[j]
			c1 += d[j] * c[j]
		}
	}
	return [CorrelatedTaps]float32{a0 + a1, b0 + b1, c0 + c1}
}
