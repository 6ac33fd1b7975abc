//go:build !noasm

package convrow

func init() { AVX2, AVX512 = &avx2, &avx512 }

var avx2 = Kernels{lanes: 8, blocks: [maxChannels + 1][vectors]blockKernel{
	1: {block1x1AVX2, block1x2AVX2, block1x3AVX2},
	2: {block2x1AVX2, block2x2AVX2, block2x3AVX2},
	3: {block3x1AVX2, block3x2AVX2, block3x3AVX2},
	4: {block4x1AVX2, block4x2AVX2, block4x3AVX2},
}, correlate: [maxChannels + 1]correlateKernel{1: correlate1AVX2, 2: correlate2AVX2, 4: correlate4AVX2}}

var avx512 = Kernels{lanes: 16, blocks: [maxChannels + 1][vectors]blockKernel{
	1: {block1x1AVX512, block1x2AVX512, block1x3AVX512},
	2: {block2x1AVX512, block2x2AVX512, block2x3AVX512},
	3: {block3x1AVX512, block3x2AVX512, block3x3AVX512},
	4: {block4x1AVX512, block4x2AVX512, block4x3AVX512},
	8: {block8x1AVX512, block8x2AVX512, block8x3AVX512},
}, correlate: [maxChannels + 1]correlateKernel{1: correlate1AVX512, 2: correlate2AVX512, 4: correlate4AVX512, 8: correlate8AVX512}}
