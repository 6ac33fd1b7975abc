//go:build !noasm

package convrow

func init() { NEON = &neon }

var neon = Kernels{lanes: 4, blocks: [maxChannels + 1][vectors]blockKernel{
	1: {block1x1NEON, block1x2NEON, block1x3NEON},
	2: {block2x1NEON, block2x2NEON, block2x3NEON},
	3: {block3x1NEON, block3x2NEON, block3x3NEON},
	4: {block4x1NEON, block4x2NEON, block4x3NEON},
	8: {block8x1NEON, block8x2NEON, block8x3NEON},
}, correlate: [maxChannels + 1]correlateKernel{1: correlate1NEON, 2: correlate2NEON, 4: correlate4NEON, 8: correlate8NEON}}
