// The gradient of 3×3 convolutions with respect to their filters on tensor cores: for each of
// the nine taps the product of dy (outputs × pixels) and x, shifted (pixels × inputs). As in
// gradients.cu, ranges of pixels are summed apart; they are whole tiles here.
//
// architectures: 80
#include "loops.h"
#include "tensor.h"

#if DEVICE_ARCH >= 80

// A block has OUTPUTS × INPUTS filters, a warp 32 × 8 of them, and takes in TILE×TILE pixels
// of dy and as many of x with a margin at a time. Distances of channels are 4 modulo 32: the
// 8 channels × 4 pixels that a warp reads lie in 32 different banks.
constexpr int OUTPUTS = 64, INPUTS = 32, TILE = 8, SIDE = TILE + 2, TAPS = 9, BLOCK = 256;
constexpr int DY = TILE * TILE + 4, X = SIDE * SIDE, STAGE = OUTPUTS * DY + INPUTS * X;
static_assert(DY % 32 == 4 && X % 32 == 4, "distances of channels");

struct Images {
    const float *x, *dy;
    int outputs, inputs, h, w, across, down;
};

// Begins to copy to shared memory, for channels c of `count` that are there and far apart by
// `plane`, one word of each from `from`, or a 0 where there is none. A thread has every
// STEP-th channel, which lie STEP·DISTANCE apart in shared memory.
template <int CHANNELS, int STEP, int DISTANCE>
DEVICE void copy_channels(float *to, const float *from, int64 plane, int c, int count, bool inside) {
    const float *any = from;
    from += inside ? c * plane : 0;
    to += c * DISTANCE;
    constexpr int AT_A_TIME = 4;
    ROLLED for (int turn = 0; turn < CHANNELS / (STEP * AT_A_TIME); turn++) {
        UNROLL for (int k = 0; k < AT_A_TIME; k++, c += STEP) {
            bool there = inside && c < count;
            cp_async_4(to + k * STEP * DISTANCE, there ? from : any, there ? 4 : 0);
            from += STEP * plane;
        }
        to += AT_A_TIME * STEP * DISTANCE;
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
    // Two channels of X words at a time; the threads that are left have nothing to do.
    p = (int)threadIdx.x % X, v = y0 - 1 + p / SIDE, u = x0 - 1 + p % SIDE;
    inside = (unsigned)v < (unsigned)m.h && (unsigned)u < (unsigned)m.w;
    if (threadIdx.x < 2 * X) {
        copy_channels<INPUTS, 2, X>(stage + p, x + (inside ? (int64)v * m.w + u : 0), plane, (int)threadIdx.x / X, m.inputs - i0, inside);
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

// A word as the form wants it, and its small part.
template <Form form> DEVICE void take(float v, unsigned &word, unsigned &rest) {
    unsigned all = __float_as_uint(v);
    word = form == TF32 ? float_to_tf32(v) : large(all);
    rest = form == EXACT ? small(all) : 0;
}

// Adds the products of a tile, a row of 8 pixels at a time. The warp's outputs begin at dy,
// its inputs at x; a lane has those of g and pixels t and t+4.
template <Form form> DEVICE void multiply(float (&sum)[2][TAPS][4], const float *dy, const float *x) {
    ROLLED for (int y = 0; y < TILE; y++, dy += TILE, x += SIDE) {
        unsigned a[2][4], small_a[2][4];
        UNROLL for (int m = 0; m < 2; m++) {
            UNROLL for (int k = 0; k < 4; k++) take<form>(dy[(16 * m + 8 * (k % 2)) * DY + 4 * (k / 2)], a[m][k], small_a[m][k]);
        }
        UNROLL for (int tap = 0; tap < TAPS; tap++) {
            unsigned b[2], small_b[2];
            UNROLL for (int k = 0; k < 2; k++) take<form>(x[tap / 3 * SIDE + tap % 3 + 4 * k], b[k], small_b[k]);
            UNROLL for (int m = 0; m < 2; m++) product<form>(sum[m][tap], a[m], small_a[m], b, small_b);
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
            multiply<form>(sum, stage + o * DY + t, stage + OUTPUTS * DY + (i + g) * X + t);                    \
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

#endif
