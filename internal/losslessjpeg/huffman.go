package losslessjpeg

import (
	"math/bits"
	"slices"
)

const (
	// categories is the number of symbols: symbol s stands for a difference of s bits (table H.2).
	categories = 17
	// longest is the bits of the longest code word.
	longest = 16
)

// huffmanTable is a table as a DHT segment gives it.
type huffmanTable struct {
	counts  [longest + 1]int // code words of each length; [0] is not used
	symbols []byte           // in the order of their code words
}

// lookup has an entry for every beginning of a stream: 16·symbol + length − 1 of the code word
// that stands there, or noCode. Its index is the next bits bits.
type lookup struct {
	entries []uint16
	bits    int
}

const noCode = 0xFFFF

// lookup makes the table that decodes. It fails if there are more code words than bits allow, or
// symbols that are no categories.
func (t *huffmanTable) lookup() (lookup, error) {
	var l lookup
	for n, count := range t.counts {
		if count > 0 {
			l.bits = n
		}
	}
	if l.bits == 0 {
		return l, malformed("a Huffman table without codes")
	}
	l.entries = slices.Repeat([]uint16{noCode}, 1<<l.bits)
	at, next := 0, 0
	for n := 1; n <= l.bits; n++ {
		for range t.counts[n] {
			s := t.symbols[next]
			span := 1 << (l.bits - n)
			if s >= categories {
				return l, malformed("difference of %d bits, 16 is the most", s)
			}
			if at+span > len(l.entries) {
				return l, malformed("a Huffman table with too many codes")
			}
			for i := range span {
				l.entries[at+i] = uint16(s)<<4 | uint16(n-1)
			}
			at += span
			next++
		}
	}
	return l, nil
}

// newHuffmanTable returns the table that codes symbols of these frequencies in the fewest bits,
// with code words of at most 16 bits, none of them all ones (annex K.2).
func newHuffmanTable(frequency *[categories]int) *huffmanTable {
	// A symbol that is not used takes the code word of all ones.
	const reserved = categories
	type tree struct {
		weight  int
		symbols []int
	}
	trees := []tree{{1, []int{reserved}}}
	for s, f := range frequency {
		if f > 0 {
			trees = append(trees, tree{f, []int{s}})
		}
	}
	var depth [categories + 1]int
	for len(trees) > 1 {
		// The earlier one of equal weights comes first, so that the table follows from the frequencies alone.
		slices.SortStableFunc(trees, func(a, b tree) int { return a.weight - b.weight })
		merged := tree{trees[0].weight + trees[1].weight, append(trees[0].symbols, trees[1].symbols...)}
		for _, s := range merged.symbols {
			depth[s]++
		}
		trees = append(trees[2:], merged)
	}
	// There are 18 symbols, so that a code word has at most 17 bits.
	var counts [longest + 2]int
	var order []int
	for s, d := range depth {
		if d > 0 {
			counts[d]++
			order = append(order, s)
		}
	}
	for counts[longest+1] > 0 {
		// Two of the longest become one that is a bit shorter, and the other one goes below a
		// shorter code word (figure K.3).
		j := longest - 1
		for counts[j] == 0 {
			j--
		}
		counts[longest+1] -= 2
		counts[longest]++
		counts[j]--
		counts[j+1] += 2
	}
	// The reserved symbol has the last code word, which has most bits.
	for n := longest; ; n-- {
		if counts[n] > 0 {
			counts[n]--
			break
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return depth[a] - depth[b] })
	t := &huffmanTable{}
	copy(t.counts[:], counts[:longest+1])
	for _, s := range order {
		if s != reserved {
			t.symbols = append(t.symbols, byte(s))
		}
	}
	return t
}

// code is a code word in the low bits.
type code struct {
	word   uint32
	length uint
}

func (t *huffmanTable) codes() (codes [categories]code) {
	word, next := uint32(0), 0
	for n := 1; n <= longest; n++ {
		for range t.counts[n] {
			codes[t.symbols[next]] = code{word, uint(n)}
			word++
			next++
		}
		word <<= 1
	}
	return codes
}

// category is the number of bits of a difference, 0 to 16, where −32768 is taken as 32768: both
// are the same modulo 2¹⁶, which is how differences are computed (H.1.2.2).
func category(difference int16) int {
	d := int(difference)
	if d < 0 {
		d = -d
	}
	return bits.Len(uint(d))
}
