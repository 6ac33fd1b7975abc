package imagefile

// Tables of ISO/IEC 10918-1: the quantisation steps of annex K.1 and the Huffman
// codes of annex K.3, which nearly all encoders use.

// jpegSteps are the quantisation steps of luma and chroma at quality 50, in rows.
var jpegSteps = [2][64]int{
	{
		16, 11, 10, 16, 24, 40, 51, 61,
		12, 12, 14, 19, 26, 58, 60, 55,
		14, 13, 16, 24, 40, 57, 69, 56,
		14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77,
		24, 35, 55, 64, 81, 104, 113, 92,
		49, 64, 78, 87, 103, 121, 120, 101,
		72, 92, 95, 98, 112, 100, 103, 99,
	},
	{
		17, 18, 24, 47, 99, 99, 99, 99,
		18, 21, 26, 66, 99, 99, 99, 99,
		24, 26, 56, 99, 99, 99, 99, 99,
		47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
	},
}

// zigzag gives the place in rows of each coefficient in the order of coding.
var zigzag = func() (z [64]int) {
	i := 0
	for s := range 15 {
		for k := range s + 1 {
			x, y := k, s-k
			if s%2 == 1 {
				x, y = y, x
			}
			if x < 8 && y < 8 {
				z[i] = 8*y + x
				i++
			}
		}
	}
	return z
}()

// huffmanTable is a code: how many words of each length from 1 to 16 there are,
// and what they mean, in order.
type huffmanTable struct {
	lengths [16]byte
	symbols string
}

const jpegDCSymbols = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"

// jpegHuffman are the codes of luma and chroma, for DC and AC coefficients.
var jpegHuffman = [2][2]huffmanTable{
	{
		{[16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, jpegDCSymbols},
		{
			[16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
			"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71" +
				"\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0\x24\x33\x62\x72" +
				"\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34\x35\x36\x37" +
				"\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58\x59" +
				"\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x83" +
				"\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3" +
				"\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3" +
				"\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2" +
				"\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa",
		},
	},
	{
		{[16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, jpegDCSymbols},
		{
			[16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
			"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22" +
				"\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0\x15\x62\x72\xd1" +
				"\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26\x27\x28\x29\x2a\x35\x36" +
				"\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58" +
				"\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a" +
				"\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a" +
				"\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba" +
				"\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda" +
				"\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa",
		},
	},
}

// huffmanCode is a code word: its bits, and how many they are.
type huffmanCode struct {
	bits   uint32
	length uint8
}

// codes assigns the code words in order of length (annex C.2).
func (t *huffmanTable) codes() (c [256]huffmanCode) {
	word, k := uint32(0), 0
	for i, n := range t.lengths {
		for range n {
			c[t.symbols[k]] = huffmanCode{word, uint8(i + 1)}
			word++
			k++
		}
		word <<= 1
	}
	return c
}
