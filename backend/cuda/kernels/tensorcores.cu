// 3×3 convolutions on tensor cores, as implicit matrix products: rows of the product are
// pixels, columns are outputs, and what is summed over is channels times taps. Sums are in
// float32, factors in one of the three forms of tensor.h.
//
// All three move words of 4 bytes by the same code. The source has planes of words: of one
// channel or, for HALF, of two. What is summed up and its order are the same for a pixel
// wherever it lies.
//
// architectures: 80
#include "convolution.h"
#include "tensor.h"

#if DEVICE_ARCH >= 80

// A block's tile of pixels, and the patch of the source that it needs. The distance of the
// patch's planes is 8 modulo 32, so that the 4 planes × 8 pixels that a warp reads at a time
// lie in 32 different banks.
constexpr int TILE = 16, SIDE = TILE + 2, PATCH = 328;
static_assert(PATCH >= SIDE * SIDE && PATCH % 32 == 8, "planes of the patch");

// Words of the source that are taken in at a time, and warps of a block.
constexpr int CHUNK = 8, WARPS = 8, TAPS = 9;

// A block has WIDE·TILES·8 outputs: its warps are WIDE across the outputs, with TILES tiles
// of 8 each, and the others down the rows of pixels.
template <int WIDE, int TILES> struct Layout {
    static constexpr int ROWS = TILE * WIDE / WARPS;            // of pixels, of a warp
    static constexpr int BANK = TAPS * WIDE * TILES * 2 * WARP; // words of a chunk's filters
    static constexpr int STAGE = CHUNK * PATCH + BANK;
};

// Begins to copy chunk number `chunk` of source and filters to shared memory.
template <int WIDE, int TILES>
DEVICE void fetch(unsigned *stage, const unsigned *src, int64 plane, int pitch, int words, const unsigned *weights, int tiles,
    const Geometry &g, int y0, int x0, int chunk) {
    using L = Layout<WIDE, TILES>;
    int first = chunk * CHUNK;
    ROLLED for (int i = (int)threadIdx.x; i < SIDE * SIDE; i += WARPS * WARP) {
        int y = y0 - 1 + i / SIDE, x = x0 - 1 + i % SIDE;
        bool inside = (unsigned)y < (unsigned)g.height && (unsigned)x < (unsigned)g.width;
        const unsigned *from = src + (inside ? (int64)y * pitch + x : 0);
        ROLLED for (int c = 0; c < CHUNK; c++) {
            bool there = inside && first + c < words;
            cp_async_4(stage + c * PATCH + i, there ? from + (first + c) * plane : src, there ? 4 : 0);
        }
    }
    constexpr int row = WIDE * TILES * 2 * WARP; // of one tap
    const unsigned *w = weights + (int64)chunk * TAPS * tiles * (2 * WARP);
    ROLLED for (int i = 4 * (int)threadIdx.x; i < L::BANK; i += 4 * WARPS * WARP) {
        cp_async_16(stage + CHUNK * PATCH + i, w + (i / row) * tiles * (2 * WARP) + i % row);
    }
    cp_async_commit();
}

// Adds the products of one chunk. Of the warp's rows of pixels, row m lies at patch row
// `row` + m.
template <Form form, int WIDE, int ROWS, int TILES>
DEVICE void multiply(float (&sum)[ROWS][TILES][4], const unsigned *stage, int row, int wide, int lane) {
    int g = lane / 4, t = lane % 4;
    const unsigned *patch = stage + t * PATCH + row * SIDE + g;
    const unsigned *bank = stage + CHUNK * PATCH + wide * (TILES * 2 * WARP) + 2 * lane;
    ROLLED for (int r = 0; r < 3; r++, patch += SIDE, bank += 3 * WIDE * TILES * 2 * WARP)
    UNROLL for (int s = 0; s < 3; s++) {
        unsigned b[TILES][2], small_b[TILES][2];
        UNROLL for (int j = 0; j < TILES; j++) {
            uint2 w = *(const uint2 *)(bank + (s * WIDE * TILES + j) * (2 * WARP));
            b[j][0] = form == EXACT ? large(w.x) : w.x, b[j][1] = form == EXACT ? large(w.y) : w.y;
            if (form == EXACT) small_b[j][0] = small(w.x), small_b[j][1] = small(w.y);
        }
        UNROLL for (int m = 0; m < ROWS; m++) {
            const unsigned *at = patch + m * SIDE + s;
            unsigned a[4] = {at[0], at[8], at[4 * PATCH], at[4 * PATCH + 8]};
            if (form == TF32) {
                UNROLL for (int k = 0; k < 4; k++) a[k] = float_to_tf32(__uint_as_float(a[k]));
            }
            if (form == EXACT) {
                unsigned small_a[4];
                UNROLL for (int k = 0; k < 4; k++) small_a[k] = small(a[k]), a[k] = large(a[k]);
                UNROLL for (int j = 0; j < TILES; j++) mma_m16n8k8_tf32(sum[m][j], small_a, b[j]);
                UNROLL for (int j = 0; j < TILES; j++) mma_m16n8k8_tf32(sum[m][j], a, small_b[j]);
            }
            UNROLL for (int j = 0; j < TILES; j++) {
                if (form == HALF) {
                    mma_m16n8k16_f16(sum[m][j], a, b[j]);
                } else {
                    mma_m16n8k8_tf32(sum[m][j], a, b[j]);
                }
            }
        }
    }
}

// The sums of a block's tile at (y0, x0) of the source, with the next chunk on its way while
// one is multiplied.
template <Form form, int WIDE, int ROWS, int TILES>
DEVICE void accumulate(float (&sum)[ROWS][TILES][4], const unsigned *src, int64 plane, int pitch, int words,
    const unsigned *weights, int tiles, const Geometry &g, int y0, int x0, unsigned *memory) {
    using L = Layout<WIDE, TILES>;
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    int chunks = (words + CHUNK - 1) / CHUNK;
    ROLLED for (int chunk = 0; chunk <= chunks; chunk++) {
        if (chunk < chunks) fetch<WIDE, TILES>(memory + chunk % 2 * L::STAGE, src, plane, pitch, words, weights, tiles, g, y0, x0, chunk);
        if (chunk == 0) continue;
        if (chunk < chunks) {
            cp_async_wait<1>();
        } else {
            cp_async_wait<0>();
        }
        __syncthreads();
        multiply<form, WIDE>(sum, memory + (chunk - 1) % 2 * L::STAGE, warp / WIDE * ROWS, warp % WIDE, lane);
        __syncthreads(); // before the stage is written again
    }
}

// The end of a layer at one pixel, of which v[j] has outputs o+8j and o+8j+1. Groups of
// channels lie in neighbouring lanes, and beyond 8 in neighbouring tiles, so all lanes come
// here, with pixels inside the result or not.
template <int TILES> DEVICE void finish(const LayerEnd &e, float (&v)[TILES][2], int outputs, int n, int o, int y, int x, bool inside) {
    UNROLL for (int j = 0; j < TILES; j++) {
        UNROLL for (int k = 0; k < 2; k++) {
            if (e.bias && o + 8 * j + k < outputs) v[j][k] += __ldg(e.bias + o + 8 * j + k);
        }
    }
    if (e.radius) {
        float squares[TILES][2];
        UNROLL for (int j = 0; j < TILES; j++) {
            float a = v[j][0] * v[j][0], b = v[j][1] * v[j][1];
            bool both = e.group >= 2;
            squares[j][0] = both ? a + b : a;
            squares[j][1] = both ? a + b : b;
        }
        UNROLL for (int lanes = 1; lanes <= 2; lanes *= 2) {
            if (e.group < 4 * lanes) continue;
            UNROLL for (int j = 0; j < TILES; j++) {
                squares[j][0] = squares[j][1] = squares[j][0] + __shfl_xor_sync(FULL_MASK, squares[j][0], lanes);
            }
        }
        UNROLL for (int step = 1; step < TILES; step *= 2) {
            if (e.group < 16 * step) continue;
            float sums[TILES];
            UNROLL for (int j = 0; j < TILES; j++) sums[j] = squares[j][0] + squares[j ^ step][0];
            UNROLL for (int j = 0; j < TILES; j++) squares[j][0] = squares[j][1] = sums[j];
        }
        UNROLL for (int j = 0; j < TILES; j++) {
            UNROLL for (int k = 0; k < 2; k++) {
                int c = o + 8 * j + k;
                if (c < outputs) v[j][k] *= ball_scale(squares[j][k], __ldg(e.radius + c / e.group));
            }
        }
    } else {
        UNROLL for (int j = 0; j < TILES; j++) {
            UNROLL for (int k = 0; k < 2; k++) v[j][k] = rectified(v[j][k], e.slope);
        }
    }
    if (!inside) return;
    if (e.dst.data) {
        float *to = at(e.dst, n, o, y, x);
        UNROLL for (int j = 0; j < TILES; j++, to += 8 * e.dst.plane) {
            if (o + 8 * j < outputs) to[0] = v[j][0];
            if (o + 8 * j + 1 < outputs) to[e.dst.plane] = v[j][1];
        }
    }
    if (e.pairs.data) {
        unsigned *to = at(e.pairs, n, o / 2, y, x);
        UNROLL for (int j = 0; j < TILES; j++, to += 4 * e.pairs.plane) {
            if (o + 8 * j < outputs) *to = pack_half2(v[j][0], o + 8 * j + 1 < outputs ? v[j][1] : 0);
        }
    }
}

// Adds at one pixel; v as above.
template <int TILES> DEVICE void add(const Addition &a, const float (&v)[TILES][2], int outputs, int n, int o, int y, int x) {
    float *to = at(a.dst, n, o, y, x);
    const float *from = at(a.start, n, o, y, x);
    unsigned *pair = at(a.pairs, n, o / 2, y, x);
    UNROLL for (int j = 0; j < TILES; j++) {
        int c = o + 8 * j;
        if (c >= outputs) break;
        bool two = c + 1 < outputs;
        float first = blend(a, v[j][0], c, from), second = 0;
        to[0] = first;
        if (two) {
            second = blend(a, v[j][1], c + 1, from + a.start.plane);
            to[a.dst.plane] = second;
        }
        if (a.pairs.data) *pair = pack_half2(first, second);
        to += 8 * a.dst.plane, from += 8 * a.start.plane, pair += 4 * a.pairs.plane;
    }
}

// The block's place is that of CONVOLUTION_BODY in convolution.cu, and so is the loop over the
// pixels of a thread: 16 of them, in rows, of which it has one of the first 8 and the one 8
// further. `padded` is how many outputs the filters were packed with.
#define TENSOR_BODY(form, WIDE, TILES)                                                                               \
    DYNAMIC_SHARED(unsigned, memory);                                                                                \
    using L = Layout<WIDE, TILES>;                                                                                   \
    Geometry g{height, width, top, left, rows, columns};                                                             \
    int n = (int)blockIdx.z, y0 = (int)blockIdx.x / across * TILE, x0 = (int)blockIdx.x % across * TILE;             \
    int tile = (int)blockIdx.y * (WIDE * TILES);                                                                     \
    float sum[L::ROWS][TILES][4] = {};                                                                               \
    accumulate<form, WIDE>(sum, src + n * src_image, src_plane, src_pitch, channels, weights + tile * (2 * WARP),    \
        padded / 8, g, top + y0, left + x0, memory);                                                                 \
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;                                              \
    int o = (tile + warp % WIDE * TILES) * 8 + lane % 4 * 2;                                                         \
    y0 += warp / WIDE * L::ROWS;                                                                                     \
    x0 += lane / 4;                                                                                                  \
    ROLLED for (int i = 0; i < 2 * L::ROWS; i++) {                                                                   \
        int y = y0 + i / 2, x = x0 + i % 2 * 8;                                                                      \
        bool inside = y < rows && x < columns;                                                                       \
        float v[TILES][2];                                                                                           \
        UNROLL for (int j = 0; j < TILES; j++) {                                                                     \
            UNROLL for (int k = 0; k < 2; k++) {                                                                     \
                v[j][k] = sum[0][j][k];                                                                              \
                UNROLL for (int m = 1; m < 2 * L::ROWS; m++) v[j][k] = i == m ? sum[m / 2][j][m % 2 * 2 + k] : v[j][k]; \
            }                                                                                                        \
        }                                                                                                            \
        if (!dst1) {                                                                                                 \
            finish(LAYER_END, v, outputs, n, o, y, x, inside);                                                       \
        } else if (inside) {                                                                                         \
            Addition a = ADDITION(1);                                                                                \
            ROLLED for (int k = 0; k < (dst2 ? 2 : 1); k++) {                                                        \
                add(a, v, outputs, n, o, y, x);                                                                      \
                a = ADDITION(2);                                                                                     \
            }                                                                                                        \
        }                                                                                                            \
    }

// For up to 8 outputs, and for 64 a block.
#define TENSOR(name, form, WIDE, TILES)                                                          \
    KERNEL LAUNCH_BOUNDS(256, 2) convolve_##name(SOURCE_ARGUMENTS(unsigned), END_ARGUMENTS) { TENSOR_BODY(form, WIDE, TILES) }

TENSOR(exact_8, EXACT, 1, 1)
TENSOR(exact_64, EXACT, 2, 4)
TENSOR(tf32_8, TF32, 1, 1)
TENSOR(tf32_64, TF32, 2, 4)
TENSOR(half_8, HALF, 1, 1)
TENSOR(half_64, HALF, 2, 4)

#endif
