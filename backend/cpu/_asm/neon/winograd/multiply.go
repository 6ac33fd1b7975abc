package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// tiles is how many tiles a register block has: with a block of output channels
// they have 24 sums, six vectors of inputs, one for each tile, and two of weights,
// which are all 32 registers.
const tiles = 6

// multiply emits a product of matrices, block by block of output channels. Four
// input channels of a register block take 6 loads of inputs, 8 of pairs of vectors
// of weights, and 96 multiplications with addition, each by a number that stands
// in a lane of an input.
func multiply(p *neon.Program) {
	f := p.Function("multiplyNEON",
		"func(m *float32, mTile int, v *float32, vTile int, u *float32, uRow, tiles, in, out int)",
		"multiplyNEON is multiply.")
	g := product{f: f}
	g.m, g.u, g.out = f.Parameter("m"), f.Parameter("u"), f.Parameter("out")
	g.vTile, g.mTile, g.uRow = distance(f, "vTile"), distance(f, "mTile"), distance(f, "uRow")
	f.Label("block")
	f.Scope(g.allTiles)
	f.AddConstant(g.m, g.m, blockBytes)
	f.AddConstant(g.u, g.u, blockBytes)
	f.AddConstant(g.out, g.out, -block)
	f.BranchNotZero(g.out, "block")
	f.Return()
}

// product is the product for a block of columns of u.
type product struct {
	f                     *neon.Function
	m, u, out             neon.R
	vTile, mTile, uRow    neon.R
	v, to                 neon.R   // the rows of v and m that are next
	rows                  []neon.R // of v or m, one of each tile of a register block
	at, weights, channels neon.R
}

// allTiles goes down the tiles in full register blocks, and then takes what is
// left.
func (g product) allTiles() {
	f := g.f
	left := f.Parameter("tiles")
	g.v, g.to = f.Parameter("v"), f.General()
	f.Move(g.to, g.m)
	g.at, g.weights, g.channels = f.General(), f.General(), f.General()
	for range tiles {
		g.rows = append(g.rows, f.General())
	}
	inRegisterBlocks(f, left, tiles, g.registerBlock)
}

// inRegisterBlocks emits register blocks of the given height for as many rows as
// there are, and one of less for those that are left.
func inRegisterBlocks(f *neon.Function, rows neon.R, height int, registerBlock func(n int)) {
	f.BranchLess(rows, height, "rest")
	f.Label("full")
	f.Scope(func() { registerBlock(height) })
	f.AddConstant(rows, rows, -height)
	f.BranchNotLess(rows, height, "full")
	f.Label("rest")
	for n := height - 1; n > 0; n-- {
		f.BranchLess(rows, n, fmt.Sprintf("fewer%d", n))
		f.Scope(func() { registerBlock(n) })
		f.Branch("fewer1")
		f.Label(fmt.Sprintf("fewer%d", n))
	}
}

// registerBlock multiplies n tiles and moves on to the next ones.
func (g product) registerBlock(n int) {
	f := g.f
	sums := make([][]neon.V, n)
	for t := range sums {
		sums[t] = f.Vectors(parts)
		for _, sum := range sums[t] {
			f.Zero(sum)
		}
	}
	g.take(g.v, g.vTile, n)
	f.Constant(g.at, 0)
	f.Move(g.weights, g.u)
	channels := f.Parameter("in")
	four, one, end := fmt.Sprintf("four%d", n), fmt.Sprintf("one%d", n), fmt.Sprintf("end%d", n)
	f.AddConstant(channels, channels, -lanes)
	f.BranchLess(channels, 0, one)
	f.Label(four)
	g.channelsOf(sums, lanes)
	f.AddConstant(channels, channels, -lanes)
	f.BranchNotLess(channels, 0, four)
	f.Label(one)
	f.AddConstant(channels, channels, lanes)
	f.BranchZero(channels, end)
	f.Label(one + "more")
	g.channelsOf(sums, 1)
	f.AddConstant(channels, channels, -1)
	f.BranchNotZero(channels, one+"more")
	f.Label(end)
	g.take(g.to, g.mTile, n)
	for t := range n {
		for c := 0; c < parts; c += 2 {
			f.StorePair(sums[t][c], sums[t][c+1], neon.At(g.rows[t], c*bytes))
		}
	}
}

// take sets the first n rows to those at a pointer and moves it on.
func (g product) take(pointer, stride neon.R, n int) {
	for t := range n {
		g.f.Move(g.rows[t], pointer)
		g.f.Add(pointer, pointer, stride)
	}
}

// channelsOf adds the products of one or four input channels.
func (g product) channelsOf(sums [][]neon.V, channels int) {
	f := g.f
	inputs := f.Vectors(len(sums))
	for t, input := range inputs {
		f.Load(4*channels, input, neon.Indexed(g.rows[t], g.at))
	}
	f.AddConstant(g.at, g.at, 4*channels)
	w := f.Vectors(2)
	for i := range channels {
		for c := 0; c < parts; c += 2 {
			f.LoadPair(w[0], w[1], neon.At(g.weights, c*bytes))
			for t, input := range inputs {
				f.FMLAElement(neon.S4, sums[t][c], w[0], input, i)
				f.FMLAElement(neon.S4, sums[t][c+1], w[1], input, i)
			}
		}
		f.Add(g.weights, g.weights, g.uRow)
	}
	f.Free(inputs...)
	f.Free(w...)
}
