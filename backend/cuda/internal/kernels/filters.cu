// Filters put into the order in which convolutions read them: for A as they are, and for Aᵀ
// with input and output exchanged and both axes reversed.
#include "elements.h"

// The weight, of w with the shape (outputs, inputs, taps), of a convolution with these
// channels: A, or Aᵀ, whose inputs are the outputs of w. 0 where there is none.
struct Bank {
    const float *w;
    int outputs, inputs, taps, adjoint;
};

DEVICE float weight(const Bank &b, int64 output, int64 input, int tap) {
    if (b.adjoint) {
        if (output >= b.inputs || input >= b.outputs) return 0;
        return b.w[(input * b.inputs + output) * b.taps + b.taps - 1 - tap];
    }
    if (output >= b.outputs || input >= b.inputs) return 0;
    return b.w[(output * b.inputs + input) * b.taps + tap];
}

// dst[input·taps + tap][padded]: what convolution.cu reads.
KERNEL LAUNCH_BOUNDS(256, 4) pack_rows(float *dst, const float *w, int outputs, int inputs, int taps, int adjoint, int padded, int64 n) {
    Bank b{w, outputs, inputs, taps, adjoint};
    one_by_one(n, [&](int64 i) {
        int64 row = i / padded;
        dst[i] = weight(b, i % padded, row / taps, (int)(row % taps));
    });
}

#if DEVICE_ARCH >= 80

// dst[chunk][tap][tile][lane][2], what tensorcores.cu reads: words of a matrix product's B,
// 8 of them a chunk along the inputs, 8 outputs a tile. Lane 4g + t has words t and t+4 of
// output g. A word is one float32, two halves (half = 1), or a float rounded to TF32.
KERNEL LAUNCH_BOUNDS(256, 4) pack_fragments(unsigned *dst, const float *w, int outputs, int inputs, int taps, int adjoint, int tiles, int half, int round, int64 n) {
    Bank b{w, outputs, inputs, taps, adjoint};
    one_by_one(n, [&](int64 i) {
        int j = (int)(i % 2), lane = (int)(i / 2 % WARP);
        int64 rest = i / (2 * WARP);
        int64 output = rest % tiles * 8 + lane / 4;
        rest /= tiles;
        int tap = (int)(rest % taps);
        int64 word = rest / taps * 8 + lane % 4 + 4 * j;
        if (half) {
            dst[i] = pack_half2(weight(b, output, 2 * word, tap), weight(b, output, 2 * word + 1, tap));
            return;
        }
        float v = weight(b, output, word, tap);
        dst[i] = round ? float_to_tf32(v) : __float_as_uint(v);
    });
}

// Two planes of an image to one of pairs of halves: word k has channels 2k and 2k+1, the
// last one a 0 where there is no second. h×w pixels of the source go to whole planes of the
// result, which the grid's blocks share in y. A thread reads AT_A_TIME pairs of planes before it
// writes any: with one, memory would be half idle.
KERNEL LAUNCH_BOUNDS(256, 4) pack_pairs(unsigned *dst, const float *src, int64 src_image, int64 src_plane, int src_pitch, int channels, int h, int w, int images) {
    constexpr int AT_A_TIME = 4;
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= (unsigned)h * (unsigned)w) return;
    int pairs = (channels + 1) / 2, planes = pairs * images;
    int64 place = (int64)(i / (unsigned)w) * src_pitch + i % (unsigned)w;
    for (int first = (int)blockIdx.y * AT_A_TIME; first < planes; first += (int)gridDim.y * AT_A_TIME) {
        float v[AT_A_TIME][2];
        UNROLL for (int j = 0; j < AT_A_TIME; j++) {
            int k = first + j, c = k % pairs * 2;
            const float *from = src + k / pairs * src_image + c * src_plane + place;
            v[j][0] = k < planes ? from[0] : 0;
            v[j][1] = k < planes && c + 1 < channels ? from[src_plane] : 0;
        }
        UNROLL for (int j = 0; j < AT_A_TIME; j++) {
            if (first + j < planes) dst[(int64)(first + j) * h * w + i] = pack_half2(v[j][0], v[j][1]);
        }
    }
}

#endif
