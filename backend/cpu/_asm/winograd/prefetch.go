package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// prefetch asks for cache lines, into the second level: it runs between products of
// matrices, which fill the first.
func prefetch() {
	TEXT("prefetch", NOSPLIT, "func(p *float32, lines int)")
	p, lines := argument("p"), argument("lines")
	Label("lines")
	PREFETCHT1(Mem{Base: p})
	ADDQ(U8(64), p)
	DECQ(lines)
	JNZ(LabelRef("lines"))
	RET()
}
