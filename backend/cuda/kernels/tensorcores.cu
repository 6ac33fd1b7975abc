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
        const unsigned *from = src + first * plane + (inside ? (int64)y * pitch + x : 0);
        unsigned bytes = inside ? 4 : 0;
        if (first + CHUNK <= words) {
            UNROLL for (int c = 0; c < CHUNK; c++, from += plane) cp_async_4(stage + c * PATCH + i, from, bytes);
        } else {
            ROLLED for (int c = 0; c < CHUNK; c++, from += plane) {
                bool there = first + c < words;
                cp_async_4(stage + c * PATCH + i, there ? from : src, there ? bytes : 0);
            }
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
// `row` + m. A column of the filter at a time: its three taps share the rows of the patch, and
// shared memory, which has less to give than the tensor cores take, is read once for them.
template <Form form, int WIDE, int ROWS, int TILES>
DEVICE void multiply(float (&sum)[ROWS][TILES][4], const unsigned *stage, int row, int wide, int lane) {
    int g = lane / 4, t = lane % 4;
    const unsigned *patch = stage + t * PATCH + row * SIDE + g;
    const unsigned *bank = stage + CHUNK * PATCH + wide * (TILES * 2 * WARP) + 2 * lane;
    ROLLED for (int s = 0; s < 3; s++, patch++, bank += WIDE * TILES * 2 * WARP) {
        unsigned words[ROWS + 2][4];
        UNROLL for (int m = 0; m < ROWS + 2; m++) {
            const unsigned *at = patch + m * SIDE;
            words[m][0] = at[0], words[m][1] = at[8], words[m][2] = at[4 * PATCH], words[m][3] = at[4 * PATCH + 8];
            if (form == TF32) {
                UNROLL for (int k = 0; k < 4; k++) words[m][k] = float_to_tf32(__uint_as_float(words[m][k]));
            }
        }
        UNROLL for (int r = 0; r < 3; r++) {
            unsigned b[TILES][2], small_b[TILES][2];
            UNROLL for (int j = 0; j < TILES; j++) {
                uint2 w = *(const uint2 *)(bank + (r * 3 * WIDE * TILES + j) * (2 * WARP));
                b[j][0] = form == EXACT ? large(w.x) : w.x, b[j][1] = form == EXACT ? large(w.y) : w.y;
                if (form == EXACT) small_b[j][0] = small(w.x), small_b[j][1] = small(w.y);
            }
            UNROLL for (int m = 0; m < ROWS; m++) {
                unsigned (&word)[4] = words[m + r];
                if (form == EXACT) {
                    unsigned a[4], small_a[4];
                    UNROLL for (int k = 0; k < 4; k++) a[k] = large(word[k]), small_a[k] = small(word[k]);
                    float part[TILES][4];
                    UNROLL for (int j = 0; j < TILES; j++) mma_m16n8k8_tf32_from_zero(part[j], small_a, b[j]);
                    UNROLL for (int j = 0; j < TILES; j++) mma_m16n8k8_tf32(part[j], a, small_b[j]);
                    UNROLL for (int j = 0; j < TILES; j++) mma_m16n8k8_tf32(part[j], a, b[j]);
                    UNROLL for (int j = 0; j < TILES; j++) {
                        UNROLL for (int k = 0; k < 4; k++) sum[m][j][k] += part[j][k];
                    }
                }
                UNROLL for (int j = 0; j < TILES; j++) {
                    if (form == TF32) mma_m16n8k8_tf32(sum[m][j], word, b[j]);
                    if (form == HALF) mma_m16n8k16_f16(sum[m][j], word, b[j]);
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

// What the end of a layer needs of outputs o+8j and o+8j+1, for all pixels of a thread.
template <int TILES> struct Channels {
    float bias[TILES][2], radius[TILES][2];
};

template <int TILES> DEVICE Channels<TILES> channels_of(const LayerEnd &e, int outputs, int o) {
    Channels<TILES> all;
    UNROLL for (int j = 0; j < TILES; j++) {
        UNROLL for (int k = 0; k < 2; k++) {
            int c = o + 8 * j + k;
            all.bias[j][k] = e.bias && c < outputs ? __ldg(e.bias + c) : 0;
            all.radius[j][k] = e.radius && c < outputs ? __ldg(e.radius + c / e.group) : 0;
        }
    }
    return all;
}

// The end of a layer at one pixel, of which v[j] has outputs o+8j and o+8j+1. Groups of
// channels lie in neighbouring lanes, and beyond 8 in neighbouring tiles, so all lanes come
// here, with pixels inside the result or not.
template <int TILES>
DEVICE void finish(const LayerEnd &e, const Channels<TILES> &of, float (&v)[TILES][2], int outputs, int o, int y, int x, bool inside) {
    UNROLL for (int j = 0; j < TILES; j++) {
        UNROLL for (int k = 0; k < 2; k++) v[j][k] += of.bias[j][k];
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
            float scale = ball_scale(squares[j][0], of.radius[j][0]);
            v[j][0] *= scale;
            v[j][1] *= e.group >= 2 ? scale : ball_scale(squares[j][1], of.radius[j][1]);
        }
    } else {
        UNROLL for (int j = 0; j < TILES; j++) {
            UNROLL for (int k = 0; k < 2; k++) v[j][k] = rectified(v[j][k], e.slope);
        }
    }
    if (!inside) return;
    if (e.dst.data) {
        float *to = e.dst.data + ((int64)y * e.dst.pitch + x);
        UNROLL for (int j = 0; j < TILES; j++, to += 8 * e.dst.plane) {
            if (o + 8 * j < outputs) to[0] = v[j][0];
            if (o + 8 * j + 1 < outputs) to[e.dst.plane] = v[j][1];
        }
    }
    if (e.pairs.data) {
        unsigned *to = e.pairs.data + ((int64)y * e.pairs.pitch + x);
        UNROLL for (int j = 0; j < TILES; j++, to += 4 * e.pairs.plane) {
            if (o + 8 * j < outputs) *to = pack_half2(v[j][0], o + 8 * j + 1 < outputs ? v[j][1] : 0);
        }
    }
}

// Adds at one pixel; v as above. Of start what is needed is under way before any of it is
// waited for.
template <int TILES> DEVICE void add(const Addition &a, const float (&v)[TILES][2], int outputs, int o, int y, int x) {
    const float *from = a.start.data + ((int64)y * a.start.pitch + x);
    int known = a.beta != 0 ? a.known : 0;
    float start[TILES][2];
    UNROLL for (int j = 0; j < TILES; j++, from += 8 * a.start.plane) {
        start[j][0] = o + 8 * j < known ? from[0] : 0;
        start[j][1] = o + 8 * j + 1 < known ? from[a.start.plane] : 0;
    }
    float *to = a.dst.data + ((int64)y * a.dst.pitch + x);
    unsigned *pair = a.pairs.data + ((int64)y * a.pairs.pitch + x);
    UNROLL for (int j = 0; j < TILES; j++, to += 8 * a.dst.plane, pair += 4 * a.pairs.plane) {
        float first = fmaf(a.beta, start[j][0], a.scale * v[j][0]), second = fmaf(a.beta, start[j][1], a.scale * v[j][1]);
        if (o + 8 * j < outputs) to[0] = first;
        if (o + 8 * j + 1 < outputs) to[a.dst.plane] = second;
        if (a.pairs.data && o + 8 * j < outputs) *pair = pack_half2(first, o + 8 * j + 1 < outputs ? second : 0);
    }
}

// An addition as seen from channel o of image n.
DEVICE Addition from_channel(Addition a, int n, int o) {
    a.dst = from_channel(a.dst, n, o);
    a.start = from_channel(a.start, n, o);
    a.pairs = from_channel(a.pairs, n, o / 2);
    return a;
}

// The block's place is that of CONVOLUTION_BODY in convolution.cu, and so is the loop over the
// pixels of a thread: 16 of them, in rows, of which it has one of the first 8 and the one 8
// further. In between its sums lie in shared memory, for registers have no index but a
// constant one. `padded` is how many outputs the filters were packed with.
#define TENSOR_BODY(form, WIDE, TILES)                                                                               \
    DYNAMIC_SHARED(unsigned, memory);                                                                                \
    using L = Layout<WIDE, TILES>;                                                                                   \
    Geometry g{height, width, top, left, rows, columns};                                                             \
    int n = (int)blockIdx.z, y0 = (int)blockIdx.x / across * TILE, x0 = (int)blockIdx.x % across * TILE;             \
    int tile = (int)blockIdx.y * (WIDE * TILES);                                                                     \
    float sum[L::ROWS][TILES][4] = {};                                                                               \
    accumulate<form, WIDE>(sum, src + n * src_image, src_plane, src_pitch, channels, weights + tile * (2 * WARP),    \
        padded / 8, g, top + y0, left + x0, memory);                                                                 \
    float2 *sums = (float2 *)memory + threadIdx.x;                                                                   \
    UNROLL for (int i = 0; i < 2 * L::ROWS * TILES; i++) {                                                           \
        const float *pair = sum[i / TILES / 2][i % TILES] + i / TILES % 2 * 2;                                       \
        sums[i * (WARPS * WARP)] = make_float2(pair[0], pair[1]);                                                    \
    }                                                                                                                \
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;                                              \
    int o = (tile + warp % WIDE * TILES) * 8 + lane % 4 * 2;                                                         \
    y0 += warp / WIDE * L::ROWS;                                                                                     \
    x0 += lane / 4;                                                                                                  \
    LayerEnd end = LAYER_END;                                                                                        \
    Channels<TILES> of = channels_of<TILES>(end, outputs, o);                                                        \
    end.dst = from_channel(end.dst, n, o);                                                                           \
    end.pairs = from_channel(end.pairs, n, o / 2);                                                                   \
    Addition one = from_channel(ADDITION(1), n, o), other = from_channel(ADDITION(2), n, o);                         \
    ROLLED for (int i = 0; i < 2 * L::ROWS; i++) {                                                                   \
        int y = y0 + i / 2, x = x0 + i % 2 * 8;                                                                      \
        bool inside = y < rows && x < columns;                                                                       \
        float v[TILES][2];                                                                                           \
        UNROLL for (int j = 0; j < TILES; j++, sums += WARPS * WARP) v[j][0] = sums->x, v[j][1] = sums->y;           \
        if (!dst1) {                                                                                                 \
            finish(end, of, v, outputs, o, y, x, inside);                                                            \
        } else if (inside) {                                                                                         \
            add(one, v, outputs, o, y, x);                                                                           \
            if (dst2) add(other, v, outputs, o, y, x);                                                               \
        }                                                                                                            \
    }

// For up to 8 outputs, and for 32 and 64 a block. A block of 32 has half the sums, and takes 39
// KiB of shared memory instead of 64: two of them fit where a multiprocessor has 100 KiB.
#define TENSOR(name, form, WIDE, TILES)                                                          \
    KERNEL LAUNCH_BOUNDS(256, 2) convolve_##name(SOURCE_ARGUMENTS(unsigned), END_ARGUMENTS) { TENSOR_BODY(form, WIDE, TILES) }

TENSOR(exact_8, EXACT, 1, 1)
TENSOR(exact_32, EXACT, 1, 4)
TENSOR(exact_64, EXACT, 2, 4)
TENSOR(tf32_8, TF32, 1, 1)
TENSOR(tf32_32, TF32, 1, 4)
TENSOR(tf32_64, TF32, 2, 4)
TENSOR(half_8, HALF, 1, 1)
TENSOR(half_32, HALF, 1, 4)
TENSOR(half_64, HALF, 2, 4)

#endif
