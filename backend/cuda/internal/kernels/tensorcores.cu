// 3×3 convolutions on tensor cores, as implicit matrix products: rows of the product are
// pixels, columns are outputs, and what is summed over is channels times taps. Sums are in
// float32, factors EXACT, TF32 or HALF (tensor.h).
//
// All three move words of 4 bytes by the same code. The source has planes of words: of one
// channel or, for HALF, of two. What is summed up and its order are the same for a pixel
// wherever it lies.
//
// architectures: 80
#include "convolution.h"
#include "tensor.h"

#if DEVICE_ARCH >= 80

// A block's tile of pixels, and the patch of the source that it needs: rows of SIDE words, for
// which there is room for whole words of 16 bytes, wherever they begin. The distance of the
// patch's planes is 8 modulo 32, so that the 4 planes × 8 pixels that a warp reads at a time
// lie in 32 different banks.
constexpr int TILE = 16, SIDE = TILE + 2, FOURS = 6, ROW = 4 * FOURS, PATCH = 456;
static_assert(ROW >= SIDE + 3 && PATCH >= SIDE * ROW && PATCH % 32 == 8, "planes of the patch");

// The distance of the planes of sums, 4 modulo 16: what a warp writes at a time, 8 pixels of 4
// channels that are 2 apart, lies in 32 different banks.
constexpr int SUMS = TILE * TILE + 4;
static_assert(SUMS % 16 == 4, "planes of sums");

// Words of the source that are taken in at a time, and warps of a block.
constexpr int CHUNK = 8, WARPS = 8, TAPS = 9;

// A block has WIDE·TILES·8 outputs: its warps are WIDE across the outputs, with TILES tiles
// of 8 each, and the others down the rows of pixels.
template <int WIDE, int TILES> struct Layout {
    static constexpr int ROWS = TILE * WIDE / WARPS;            // of pixels, of a warp
    static constexpr int BANK = TAPS * WIDE * TILES * 2 * WARP; // words of a chunk's filters
    static constexpr int STAGE = CHUNK * PATCH + BANK;
};

// A plane of the source as a block sees it: its patch begins at row y0−1 and, in shared memory, at
// word `skip` of each row.
struct Patch {
    const unsigned *src;
    int64 plane;
    int pitch, y0, x0, skip;
    bool fours; // rows begin at multiples of 16 bytes, all of them
};

DEVICE Patch patch_at(const unsigned *src, int64 plane, int pitch, int y0, int x0) {
    bool fours = ((uint64)src % 16 | (uint64)plane % 4 | (unsigned)pitch % 4) == 0;
    return Patch{src, plane, pitch, y0, x0, fours ? (x0 - 1) & 3 : 0, fours};
}

// Begins to copy CHUNK planes of the source from plane `first` on. There are zeros outside the
// image, and in planes that do not exist.
DEVICE void fetch_patch(unsigned *stage, const Patch &p, int first, int words, const Geometry &g) {
    const unsigned *src = p.src + first * p.plane;
    bool all = first + CHUNK <= words;
    if (p.fours) {
        // Half of the threads have every other plane: one word of 16 bytes of each.
        constexpr int HALF_BLOCK = WARPS * WARP / 2;
        static_assert(SIDE * FOURS <= HALF_BLOCK, "a word of 16 bytes for each thread");
        int i = (int)fresh(threadIdx.x % HALF_BLOCK), c = (int)(threadIdx.x / HALF_BLOCK);
        if (i >= SIDE * FOURS) return;
        int y = p.y0 - 1 + i / FOURS, x = p.x0 - 1 - p.skip + 4 * (i % FOURS);
        // The frame's left edge is at a multiple of 4 words, too: x is negative for all four, or none.
        int there = (unsigned)y < (unsigned)g.height && x >= 0 ? min(4, max(0, g.width - x)) : 0;
        unsigned bytes = 4 * (unsigned)there;
        const unsigned *from = src + c * p.plane + (there > 0 ? (int64)y * p.pitch + x : 0);
        unsigned *to = stage + c * PATCH + 4 * i;
        if (all) {
            UNROLL for (int k = 0; k < CHUNK / 2; k++, from += 2 * p.plane) cp_async_16(to + 2 * k * PATCH, from, bytes);
        } else {
            ROLLED for (int k = 0; k < CHUNK / 2; k++, from += 2 * p.plane) {
                bool exists = first + c + 2 * k < words;
                cp_async_16(to + 2 * k * PATCH, exists ? from : p.src, exists ? bytes : 0);
            }
        }
        return;
    }
    ROLLED for (int i = (int)fresh(threadIdx.x); i < SIDE * SIDE; i += WARPS * WARP) {
        int y = p.y0 - 1 + i / SIDE, x = p.x0 - 1 + i % SIDE;
        bool inside = (unsigned)y < (unsigned)g.height && (unsigned)x < (unsigned)g.width;
        const unsigned *from = src + (inside ? (int64)y * p.pitch + x : 0);
        unsigned bytes = inside ? 4 : 0;
        unsigned *to = stage + i / SIDE * ROW + i % SIDE;
        if (all) {
            UNROLL for (int c = 0; c < CHUNK; c++, from += p.plane) cp_async_4(to + c * PATCH, from, bytes);
        } else {
            ROLLED for (int c = 0; c < CHUNK; c++, from += p.plane) {
                bool exists = first + c < words;
                cp_async_4(to + c * PATCH, exists ? from : p.src, exists ? bytes : 0);
            }
        }
    }
}

// Begins to copy chunk number `chunk` of source and filters to shared memory.
template <int WIDE, int TILES>
DEVICE void fetch(unsigned *stage, const Patch &p, int words, const unsigned *weights, int tiles, const Geometry &g, int chunk) {
    using L = Layout<WIDE, TILES>;
    fetch_patch(stage, p, chunk * CHUNK, words, g);
    constexpr int row = WIDE * TILES * 2 * WARP, step = 4 * WARPS * WARP; // of one tap, and of all threads
    const unsigned *w = weights + (int64)chunk * TAPS * tiles * (2 * WARP);
    stage += CHUNK * PATCH;
    int i = 4 * (int)fresh(threadIdx.x);
    UNROLL for (int k = 0; k < (L::BANK + step - 1) / step; k++, i += step) {
        if (i < L::BANK) cp_async_16(stage + i, w + (i / row) * tiles * (2 * WARP) + i % row);
    }
    cp_async_commit();
}

// Adds the products of one chunk. Of the warp's rows of pixels, row m lies at patch row
// `row` + m. A column of the filter at a time: its three taps share the rows of the patch, and
// shared memory, which has less to give than the tensor cores take, is read once for them.
template <Form form, int WIDE, int ROWS, int TILES>
DEVICE void multiply(float (&sum)[ROWS][TILES][4], const unsigned *stage, int row, int skip, int wide, int lane) {
    int g = lane / 4, t = lane % 4;
    const unsigned *patch = stage + t * PATCH + row * ROW + skip + g;
    const unsigned *bank = stage + CHUNK * PATCH + wide * (TILES * 2 * WARP) + 2 * lane;
    ROLLED for (int s = 0; s < 3; s++, patch++, bank += WIDE * TILES * 2 * WARP) {
        unsigned words[ROWS + 2][4];
        UNROLL for (int m = 0; m < ROWS + 2; m++) {
            const unsigned *at = patch + m * ROW;
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

// The sums of a block's tile, with the next chunk on its way while one is multiplied.
template <Form form, int WIDE, int ROWS, int TILES>
DEVICE void accumulate(float (&sum)[ROWS][TILES][4], const Patch &p, int words, const unsigned *weights, int tiles, const Geometry &g,
    unsigned *memory) {
    using L = Layout<WIDE, TILES>;
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    int chunks = (words + CHUNK - 1) / CHUNK;
    ROLLED for (int chunk = 0; chunk <= chunks; chunk++) {
        if (chunk < chunks) fetch<WIDE, TILES>(memory + chunk % 2 * L::STAGE, p, words, weights, tiles, g, chunk);
        if (chunk == 0) continue;
        if (chunk < chunks) {
            cp_async_wait<1>();
        } else {
            cp_async_wait<0>();
        }
        __syncthreads();
        multiply<form, WIDE>(sum, memory + (chunk - 1) % 2 * L::STAGE, warp / WIDE * ROWS, p.skip, warp % WIDE, lane);
        __syncthreads(); // before the stage is written again
    }
}

// The squares of a group of more than 8 channels, added up, of which `sums` has the first one's sum.
DEVICE float squares_of_group(const LayerEnd &e, const float *sums, int count, int o) {
    float total = 0;
    ROLLED for (int first = 0; first < e.group; first += 8) {
        float squares[8];
        UNROLL for (int k = 0; k < 8; k++) {
            float v = sums[(first + k) * SUMS] + (e.bias && first + k < count ? __ldg(e.bias + o + first + k) : 0);
            squares[k] = v * v;
        }
        total += ((squares[0] + squares[1]) + (squares[2] + squares[3])) + ((squares[4] + squares[5]) + (squares[6] + squares[7]));
    }
    return total;
}

// The end of a layer at pixel (y, x) of image n, where channel o is the first one of `sums`, a batch of
// channels at a time; groups are of 1, 2, 4, 8 or a multiple of the batch.
template <int OUTPUTS> DEVICE void finish(const LayerEnd &e, const float *sums, int outputs, int n, int o, int y, int x) {
    constexpr int BATCH = OUTPUTS < 16 ? OUTPUTS : 16, EIGHT = 8;
    int count = outputs - o;
    bool numbers = e.dst.data != nullptr, pairs = e.pairs.data != nullptr;
    float *to = at(e.dst, n, o, y, x);
    unsigned *pair = at(e.pairs, n, o / 2, y, x);
    float total = 0; // the squares of the channels of a group of more than 8
    ROLLED for (int first = 0; first < OUTPUTS && first < count; first += BATCH) {
        float v[BATCH];
        UNROLL for (int k = 0; k < BATCH; k++) {
            v[k] = sums[(first + k) * SUMS] + (e.bias && first + k < count ? __ldg(e.bias + o + first + k) : 0);
        }
        if (e.radius) {
            if (e.group > EIGHT && first % e.group == 0) total = squares_of_group(e, sums + first * SUMS, count - first, o + first);
            float squares[BATCH];
            UNROLL for (int k = 0; k < BATCH; k++) squares[k] = v[k] * v[k];
            UNROLL for (int step = 1; step < EIGHT; step *= 2) {
                if (e.group <= step) continue;
                float both[BATCH];
                UNROLL for (int k = 0; k < BATCH; k++) both[k] = squares[k] + squares[k ^ step];
                UNROLL for (int k = 0; k < BATCH; k++) squares[k] = both[k];
            }
            UNROLL for (int k = 0; k < BATCH; k++) {
                float radius = first + k < count ? __ldg(e.radius + (o + first + k) / e.group) : 0;
                v[k] *= ball_scale(e.group > EIGHT ? total : squares[k], radius);
            }
        } else {
            UNROLL for (int k = 0; k < BATCH; k++) v[k] = rectified(v[k], e.slope);
        }
        bool all = first + BATCH <= count;
        if (numbers) {
            UNROLL for (int k = 0; k < BATCH; k++, to += e.dst.plane) {
                if (all || first + k < count) *to = v[k];
            }
        }
        if (pairs) {
            UNROLL for (int k = 0; k < BATCH; k += 2, pair += e.pairs.plane) {
                if (all || first + k < count) *pair = pack_half2(v[k], all || first + k + 1 < count ? v[k + 1] : 0);
            }
        }
    }
}

// A batch of an addition's channels, of which `count` are wanted and `known` are there of start: all of
// them, or not. Of start all is under way before any of it is waited for.
template <bool ALL, int BATCH>
DEVICE void add_batch(const Addition &a, const float *sums, const float *from, float *to, unsigned *pair, bool pairs, int count, int known) {
    float v[BATCH];
    int64 plane = fresh(a.start.plane);
    UNROLL for (int k = 0; k < BATCH; k++, from += plane) v[k] = ALL || k < known ? *from : 0;
    UNROLL for (int k = 0; k < BATCH; k++) v[k] = fmaf(a.beta, v[k], a.scale * sums[k * SUMS]);
    plane = fresh(a.dst.plane);
    UNROLL for (int k = 0; k < BATCH; k++, to += plane) {
        if (ALL || k < count) *to = v[k];
    }
    if (!pairs) return;
    UNROLL for (int k = 0; k < BATCH; k += 2, pair += plane) {
        if (ALL || k < count) *pair = pack_half2(v[k], ALL || k + 1 < count ? v[k + 1] : 0);
    }
}

// Adds at pixel (y, x) of image n, where channel o is the first one of `sums`: all channels at once,
// for which the registers of the sums are free now, or eight at a time where some are not there.
template <int OUTPUTS> DEVICE void add(const Addition &a, const float *sums, int outputs, int n, int o, int y, int x) {
    constexpr int BATCH = 8;
    int count = outputs - o, known = a.beta != 0 ? a.known - o : 0;
    const float *from = at(a.start, n, o, y, x);
    float *to = at(a.dst, n, o, y, x);
    bool pairs = a.pairs.data != nullptr;
    unsigned *pair = at(a.pairs, n, o / 2, y, x);
    if (OUTPUTS <= min(count, known)) return add_batch<true, OUTPUTS>(a, sums, from, to, pair, pairs, count, known);
    ROLLED for (int first = 0; first < OUTPUTS && first < count; first += BATCH) {
        add_batch<false, BATCH>(a, sums, from, to, pair, pairs, count - first, known - first);
        sums += BATCH * SUMS, from += BATCH * a.start.plane, to += BATCH * a.dst.plane, pair += BATCH / 2 * a.pairs.plane;
    }
}

// Has the second level cache fetch what an addition will read of start in a block's tile, a row of
// a channel in two pieces of 32 bytes, while the block computes its sums.
template <int OUTPUTS> DEVICE void announce(const Addition &a, int n, int o, int y0, int x0, const Geometry &g) {
    int known = a.beta != 0 ? a.known - o : 0;
    unsigned count = 2 * TILE * (unsigned)max(0, min(known, OUTPUTS));
    ROLLED for (unsigned i = threadIdx.x; i < count; i += WARPS * WARP) {
        int y = y0 + (int)(i / 2 % TILE), x = x0 + (int)(i % 2) * 8;
        if (y < g.rows && x < g.columns) prefetch_l2(at(a.start, n, o + (int)(i / (2 * TILE)), y, x));
    }
}

// The block's place is that of CONVOLUTION_BODY in convolution.cu. Sums go through shared memory
// from the lanes that have them to the thread of their pixel, which has all their channels then:
// what it reads and writes lies next to what its neighbours do. `padded` is how many outputs the
// filters were packed with.
#define TENSOR_BODY(form, WIDE, TILES)                                                                               \
    DYNAMIC_SHARED(unsigned, memory);                                                                                \
    using L = Layout<WIDE, TILES>;                                                                                   \
    constexpr int OUTPUTS = WIDE * TILES * 8;                                                                        \
    Geometry g{height, width, top, left, rows, columns};                                                             \
    int n = (int)blockIdx.z, y0 = (int)blockIdx.x / across * TILE, x0 = (int)blockIdx.x % across * TILE;             \
    int tile = (int)blockIdx.y * (WIDE * TILES), o = tile * 8;                                                       \
    if (dst1) announce<OUTPUTS>(ADDITION(1), n, o, y0, x0, g);                                                       \
    if (dst2 && start2 != start1) announce<OUTPUTS>(ADDITION(2), n, o, y0, x0, g);                                   \
    float sum[L::ROWS][TILES][4] = {};                                                                               \
    accumulate<form, WIDE>(sum, patch_at(src + n * src_image, src_plane, src_pitch, top + y0, left + x0), channels,  \
        weights + tile * (2 * WARP), padded / 8, g, memory);                                                         \
    unsigned thread = fresh(threadIdx.x), warp = thread / WARP, lane = thread % WARP;                                \
    float *sums = (float *)memory;                                                                                   \
    UNROLL for (int m = 0; m < L::ROWS; m++) {                                                                       \
        float *to = sums + ((warp % WIDE * TILES * 8 + lane % 4 * 2) * SUMS + (warp / WIDE * L::ROWS + m) * TILE + lane / 4); \
        UNROLL for (int j = 0; j < TILES; j++, to += 8 * SUMS) {                                                     \
            to[0] = sum[m][j][0], to[SUMS] = sum[m][j][1], to[8] = sum[m][j][2], to[SUMS + 8] = sum[m][j][3];        \
        }                                                                                                            \
    }                                                                                                                \
    __syncthreads();                                                                                                 \
    sums += thread;                                                                                                  \
    int place = (int)fresh(blockIdx.x);                                                                              \
    y0 = place / across * TILE + (int)(thread / TILE), x0 = place % across * TILE + (int)(thread % TILE);            \
    if (y0 >= rows || x0 >= columns) return;                                                                         \
    n = (int)fresh(blockIdx.z), o = (int)fresh(blockIdx.y) * OUTPUTS;                                                \
    if (dst1) {                                                                                                      \
        add<OUTPUTS>(ADDITION(1), sums, outputs, n, o, y0, x0);                                                      \
        if (dst2) add<OUTPUTS>(ADDITION(2), sums, outputs, n, o, y0, x0);                                            \
        return;                                                                                                      \
    }                                                                                                                \
    finish<OUTPUTS>(LAYER_END, sums, outputs, n, o, y0, x0);

// For up to 8 outputs, and for 32 and 64 a block. A block of 32 has half the sums, and takes 47
// KiB of shared memory instead of 65: two of them fit where a multiprocessor has 100 KiB.
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
