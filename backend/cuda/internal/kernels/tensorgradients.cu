// The gradient of 3×3 convolutions with respect to their filters on tensor cores: for each of
// the nine taps the product of dy (outputs × pixels) and x, shifted (pixels × inputs). As in
// gradients.cu, ranges of pixels are summed apart; they are whole tiles here.
//
// architectures: 80
#include "loops.h"
#include "tensor.h"

#if DEVICE_ARCH >= 80

// A block has OUTPUTS × INPUTS filters, a warp 32 × 8 of them, and takes in TILE×TILE pixels
// of dy and as many of x with a margin at a time. Distances of channels are 8 modulo 32: the
// 4 channels × 4 pairs of pixels that half a warp reads lie in 32 different banks.
constexpr int OUTPUTS = 64, INPUTS = 32, TILE = 8, SIDE = TILE + 2, TAPS = 9, BLOCK = 256;
constexpr int DY = TILE * TILE + 8, X = SIDE * SIDE + 4, STAGE = OUTPUTS * DY + INPUTS * X;
static_assert(DY % 32 == 8 && X % 32 == 8, "distances of channels");

struct Images {
    const float *x, *dy;
    int outputs, inputs, h, w, across, down;
};

// Begins to copy to shared memory one word of each of CHANNELS channels from `from`, far apart by
// `plane`, or a 0 where there is none: the first `count` channels are there, where a pixel is
// inside. A thread has every STEP-th channel from c on, which lie STEP·DISTANCE apart in shared
// memory.
template <int CHANNELS, int STEP, int DISTANCE>
DEVICE void copy_channels(float *to, const float *from, int64 plane, int c, int count, bool inside) {
    const float *any = from;
    unsigned bytes = inside ? 4 : 0;
    from += inside ? c * plane : 0;
    plane = inside ? STEP * plane : 0;
    to += c * DISTANCE;
    if (count >= CHANNELS) { // as most blocks have it, without a question for each
        UNROLL for (int k = 0; k < CHANNELS / STEP; k++, from += plane) cp_async_4(to + k * STEP * DISTANCE, from, bytes);
        return;
    }
    ROLLED for (int k = 0; k < CHANNELS / STEP; k++, c += STEP, from += plane, to += STEP * DISTANCE) {
        cp_async_4(to, c < count ? from : any, c < count ? bytes : 0);
    }
}

// Begins to copy tile number `tile` of all images.
DEVICE void fetch(float *stage, const Images &m, int64 tile, int o0, int i0) {
    int64 plane = (int64)m.h * m.w, n = tile / (m.across * m.down);
    int within = (int)(tile % (m.across * m.down));
    int y0 = within / m.across * TILE, x0 = within % m.across * TILE;
    const float *dy = m.dy + (n * m.outputs + o0) * plane, *x = m.x + (n * m.inputs + i0) * plane;
    int p = (int)threadIdx.x % (TILE * TILE), v = y0 + p / TILE, u = x0 + p % TILE;
    bool inside = v < m.h && u < m.w;
    copy_channels<OUTPUTS, BLOCK / (TILE * TILE), DY>(stage + p, dy + (inside ? (int64)v * m.w + u : 0), plane,
        (int)threadIdx.x / (TILE * TILE), m.outputs - o0, inside);
    stage += OUTPUTS * DY;
    // Two channels of SIDE·SIDE words at a time; the threads that are left have nothing to do.
    p = (int)threadIdx.x % (SIDE * SIDE), v = y0 - 1 + p / SIDE, u = x0 - 1 + p % SIDE;
    inside = (unsigned)v < (unsigned)m.h && (unsigned)u < (unsigned)m.w;
    if (threadIdx.x < 2 * SIDE * SIDE) {
        copy_channels<INPUTS, 2, X>(stage + p, x + (inside ? (int64)v * m.w + u : 0), plane, (int)threadIdx.x / (SIDE * SIDE), m.inputs - i0,
            inside);
    }
    cp_async_commit();
}

template <Form form> DEVICE void product(float (&sum)[4], const unsigned (&a)[4], const unsigned (&small_a)[4], const unsigned (&b)[2], const unsigned (&small_b)[2]) {
    if (form == TF32) return mma_m16n8k8_tf32(sum, a, b);
    float part[4];
    mma_m16n8k8_tf32_from_zero(part, a, small_b);
    mma_m16n8k8_tf32(part, small_a, b);
    mma_m16n8k8_tf32(part, a, b);
    UNROLL for (int k = 0; k < 4; k++) sum[k] += part[k];
}

// A word as the form wants it. The parts of EXACT are made where they are wanted.
template <Form form> DEVICE unsigned word_of(float v) { return form == TF32 ? float_to_tf32(v) : __float_as_uint(v); }

template <Form form> DEVICE unsigned large_of(unsigned word) { return form == EXACT ? large(word) : word; }

template <Form form> DEVICE unsigned small_of(unsigned word) { return form == EXACT ? small(word) : 0; }

// Four words of a row of x from column 2t on: what all three columns of taps need for pixels 2t
// and 2t+1.
template <Form form> DEVICE void take(unsigned (&row)[4], const float *x) {
    UNROLL for (int k = 0; k < 2; k++) {
        float2 two = *(const float2 *)(x + 2 * k);
        row[2 * k] = word_of<form>(two.x), row[2 * k + 1] = word_of<form>(two.y);
    }
}

// Four neighbours of a row of x from column 2t on, as the three pairs that the columns of taps need
// for pixels 2t and 2t+1.
DEVICE void take_pairs(unsigned (&row)[3], const float *x) {
    float2 two = *(const float2 *)x, next = *(const float2 *)(x + 2);
    row[0] = pack_bfloat2(two.x, two.y), row[1] = pack_bfloat2(two.y, next.x), row[2] = pack_bfloat2(next.x, next.y);
}

// multiply, below, for BFLOAT16, two rows of 8 pixels at a time: pixels 2t and 2t+1 of the first are
// numbers 2t and 2t+1 of what is summed over, and those of the second 2t+8 and 2t+9. Of x four rows
// are kept.
DEVICE void multiply_pairs(float (&sum)[2][TAPS][4], const float *dy, const float *x) {
    unsigned rows[4][3];
    take_pairs(rows[2], x);
    take_pairs(rows[3], x + SIDE);
    x += 2 * SIDE;
    ROLLED for (int y = 0; y < TILE; y += 2, dy += 2 * TILE, x += 2 * SIDE) {
        UNROLL for (int k = 0; k < 3; k++) rows[0][k] = rows[2][k], rows[1][k] = rows[3][k];
        take_pairs(rows[2], x);
        take_pairs(rows[3], x + SIDE);
        unsigned a[2][4];
        UNROLL for (int m = 0; m < 2; m++) {
            UNROLL for (int k = 0; k < 4; k++) {
                float2 two = *(const float2 *)(dy + (16 * m + k % 2 * 8) * DY + k / 2 * TILE);
                a[m][k] = pack_bfloat2(two.x, two.y);
            }
        }
        UNROLL for (int tap = 0; tap < TAPS; tap++) {
            unsigned b[2] = {rows[tap / 3][tap % 3], rows[tap / 3 + 1][tap % 3]};
            UNROLL for (int m = 0; m < 2; m++) mma_m16n8k16_bf16(sum[m][tap], a[m], b);
        }
    }
}

// Adds the products of a tile, a row of 8 pixels at a time. The warp's outputs begin at dy, its
// inputs at x; a lane has those of g and pixels 2t and 2t+1, which are numbers t and t+4 of what
// is summed over: in which order the pixels are counted is the same to a sum, and so shared memory
// is read in words of 8 bytes. Of x three rows are kept, of which the next row of pixels needs two.
template <Form form> DEVICE void multiply(float (&sum)[2][TAPS][4], const float *dy, const float *x) {
    if constexpr (form == BFLOAT16) return multiply_pairs(sum, dy, x);
    unsigned rows[3][4];
    take<form>(rows[1], x);
    take<form>(rows[2], x + SIDE);
    x += 2 * SIDE;
    ROLLED for (int y = 0; y < TILE; y++, dy += TILE, x += SIDE) {
        UNROLL for (int k = 0; k < 4; k++) rows[0][k] = rows[1][k], rows[1][k] = rows[2][k];
        take<form>(rows[2], x);
        unsigned a[2][4], small_a[2][4];
        UNROLL for (int m = 0; m < 2; m++) {
            UNROLL for (int k = 0; k < 2; k++) {
                float2 two = *(const float2 *)(dy + (16 * m + 8 * k) * DY);
                unsigned first = word_of<form>(two.x), second = word_of<form>(two.y);
                a[m][k] = large_of<form>(first), a[m][k + 2] = large_of<form>(second);
                small_a[m][k] = small_of<form>(first), small_a[m][k + 2] = small_of<form>(second);
            }
        }
        UNROLL for (int r = 0; r < 3; r++) {
            unsigned all[4], rest[4];
            UNROLL for (int k = 0; k < 4; k++) all[k] = large_of<form>(rows[r][k]), rest[k] = small_of<form>(rows[r][k]);
            UNROLL for (int c = 0; c < 3; c++) {
                unsigned b[2] = {all[c], all[c + 1]}, small_b[2] = {rest[c], rest[c + 1]};
                UNROLL for (int m = 0; m < 2; m++) product<form>(sum[m][3 * r + c], a[m], small_a[m], b, small_b);
            }
        }
    }
}

// partial[split][tap][o][i] for tiles [split·range, (split+1)·range) of the images' `tiles`.
// Blocks count splits along x, outputs along y and inputs along z. There is room for ahead + 1
// tiles: with 1 the next one is on its way while one is multiplied, with 0 it is another block,
// on the same multiprocessor, that multiplies meanwhile.
#define TENSOR_GRADIENT(name, form)                                                                             \
    KERNEL LAUNCH_BOUNDS(256, 2) filter_gradient_##name(float *partial, const float *x, const float *dy, int outputs, int inputs, \
        int h, int w, int across, int down, int64 tiles, int range, int ahead) {                                \
        DYNAMIC_SHARED(float, memory);                                                                          \
        Images images{x, dy, outputs, inputs, h, w, across, down};                                              \
        int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP, g = lane / 4, t = lane % 4;         \
        int o0 = (int)blockIdx.y * OUTPUTS, i0 = (int)blockIdx.z * INPUTS;                                      \
        int o = warp % 2 * 32 + g, i = warp / 2 * 8;                                                            \
        int64 first = (int64)blockIdx.x * range, last = first + range < tiles ? first + range : tiles;          \
        float sum[2][TAPS][4] = {};                                                                             \
        ROLLED for (int64 tile = first; tile < last + ahead; tile++) {                                          \
            int turn = (int)(tile - first) & ahead;                                                             \
            if (tile < last) fetch(memory + turn * STAGE, images, tile, o0, i0);                                \
            if (tile < first + ahead) continue;                                                                 \
            if (ahead && tile < last) {                                                                         \
                cp_async_wait<1>();                                                                             \
            } else {                                                                                            \
                cp_async_wait<0>();                                                                             \
            }                                                                                                   \
            __syncthreads();                                                                                    \
            float *stage = memory + (ahead - turn) * STAGE;                                                        \
            multiply<form>(sum, stage + o * DY + 2 * t, stage + OUTPUTS * DY + (i + g) * X + 2 * t);            \
            __syncthreads();                                                                                    \
        }                                                                                                       \
        UNROLL for (int m = 0; m < 2; m++) {                                                                    \
            UNROLL for (int k = 0; k < 4; k += 2) {                                                             \
                int output = o0 + o + 16 * m + 4 * k, input = i0 + i + 2 * t;                                   \
                if (output >= outputs || input >= inputs) continue;                                             \
                float *to = partial + ((int64)blockIdx.x * TAPS * outputs + output) * inputs + input;           \
                UNROLL for (int tap = 0; tap < TAPS; tap++, to += (int64)outputs * inputs) {                    \
                    if (inputs % 2 == 0) { /* both are there, and suit the type */                              \
                        *(float2 *)to = make_float2(sum[m][tap][k], sum[m][tap][k + 1]);                        \
                    } else {                                                                                    \
                        to[0] = sum[m][tap][k];                                                                 \
                        if (input + 1 < inputs) to[1] = sum[m][tap][k + 1];                                     \
                    }                                                                                           \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
    }

TENSOR_GRADIENT(exact, EXACT)
TENSOR_GRADIENT(tf32, TF32)
TENSOR_GRADIENT(bf16, BFLOAT16)

#endif
