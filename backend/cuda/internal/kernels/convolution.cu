// Convolutions of images in planes (NCHW) in float32, by direct sums: channel by channel, in
// these column by column of the filter, in these row by row. The order is that for every
// pixel wherever it lies, so a pixel has the same bits in every tile and every cut.
//
// Filters come as rows of `padded` outputs, one for each (channel, row, column), the outputs
// beyond the last one 0.
#include "convolution.h"

// A block computes TILE_W × 8·BANDS pixels of OUTPUTS·GROUPS outputs; GROUPS·BANDS is its 8
// warps. A thread has one column of 8 rows, of OUTPUTS outputs.
constexpr int TILE_W = 32, ROWS = 8;

struct Source {
    const float *data;
    int64 plane;
    int pitch, channels;
};

// Adds to sum what the filters make of the source. KH and KW are the filter's size, or 0 if
// kh and kw tell it. chunk is how many channels fit the block's memory, which holds
//
//     patch[chunk][8·BANDS + kh − 1][TILE_W + kw − 1], then weights[chunk·kh·kw][GROUPS·OUTPUTS].
template <int GROUPS, int BANDS, int OUTPUTS, int KH, int KW>
DEVICE void accumulate(float (&sum)[OUTPUTS][ROWS], Source src, const float *weights, int padded, Geometry g,
    int y0, int x0, int chunk, int kh, int kw, float *memory) {
    if (KH) kh = KH, kw = KW;
    constexpr int BLOCK = WARP * GROUPS * BANDS, WIDE = GROUPS * OUTPUTS;
    int thread = (int)threadIdx.x, lane = thread % WARP, warp = thread / WARP;
    int group = warp % GROUPS, band = warp / GROUPS;
    int taps = kh * kw, patch_w = TILE_W + kw - 1, patch = (ROWS * BANDS + kh - 1) * patch_w;
    // The weights are read four at a time.
    float *bank = memory + (chunk * patch + 3) / 4 * 4;

    ROLLED for (int first = 0; first < src.channels; first += chunk) {
        int n = min(chunk, src.channels - first);
        __syncthreads();
        ROLLED for (int i = thread; i < patch; i += BLOCK) {
            int y = y0 + i / patch_w - kh / 2, x = x0 + i % patch_w - kw / 2;
            bool inside = (unsigned)y < (unsigned)g.height && (unsigned)x < (unsigned)g.width;
            const float *from = src.data + first * src.plane + (int64)y * src.pitch + x;
            ROLLED for (int c = 0; c < n; c++) memory[c * patch + i] = inside ? from[c * src.plane] : 0;
        }
        const float *w = weights + (int64)first * taps * padded;
        ROLLED for (int i = thread; i < n * taps * (WIDE / 4); i += BLOCK) {
            int row = i / (WIDE / 4), column = i % (WIDE / 4) * 4;
            *(float4 *)(bank + row * WIDE + column) = __ldg((const float4 *)(w + (int64)row * padded + column));
        }
        __syncthreads();

        ROLLED for (int c = 0; c < n; c++) {
            const float *in = memory + c * patch + ROWS * band * patch_w + lane;
            const float *b = bank + c * taps * WIDE + group * OUTPUTS;
            if (KH) {
                ROLLED for (int s = 0; s < KW; s++) {
                    float v[ROWS + (KH ? KH : 1) - 1];
                    UNROLL for (int r = 0; r < ROWS + KH - 1; r++) v[r] = in[r * patch_w + s];
                    UNROLL for (int r = 0; r < KH; r++) {
                        float f[OUTPUTS];
                        UNROLL for (int o = 0; o < OUTPUTS; o += 4) *(float4 *)(f + o) = *(const float4 *)(b + (r * KW + s) * WIDE + o);
                        UNROLL for (int o = 0; o < OUTPUTS; o++) {
                            UNROLL for (int y = 0; y < ROWS; y++) sum[o][y] = fmaf(f[o], v[y + r], sum[o][y]);
                        }
                    }
                }
                continue;
            }
            ROLLED for (int s = 0; s < kw; s++) {
                ROLLED for (int r = 0; r < kh; r++) {
                    float v[ROWS], f[OUTPUTS];
                    UNROLL for (int y = 0; y < ROWS; y++) v[y] = in[(y + r) * patch_w + s];
                    UNROLL for (int o = 0; o < OUTPUTS; o += 4) *(float4 *)(f + o) = *(const float4 *)(b + (r * kw + s) * WIDE + o);
                    UNROLL for (int o = 0; o < OUTPUTS; o++) {
                        UNROLL for (int y = 0; y < ROWS; y++) sum[o][y] = fmaf(f[o], v[y], sum[o][y]);
                    }
                }
            }
        }
    }
}

// The end of a layer for OUTPUTS outputs from o on at one pixel.
template <int OUTPUTS> DEVICE void finish(const LayerEnd &e, float (&v)[OUTPUTS], int outputs, int n, int o, int y, int x) {
    UNROLL for (int k = 0; k < OUTPUTS; k++) {
        if (e.bias && o + k < outputs) v[k] += __ldg(e.bias + o + k);
    }
    if (e.radius) {
        float squares[OUTPUTS];
        UNROLL for (int k = 0; k < OUTPUTS; k++) squares[k] = v[k] * v[k];
        UNROLL for (int step = 1; step < OUTPUTS; step *= 2) {
            if (e.group <= step) continue;
            float sums[OUTPUTS];
            UNROLL for (int k = 0; k < OUTPUTS; k++) sums[k] = squares[k] + squares[k ^ step];
            UNROLL for (int k = 0; k < OUTPUTS; k++) squares[k] = sums[k];
        }
        UNROLL for (int k = 0; k < OUTPUTS; k++) {
            if (o + k < outputs) v[k] *= ball_scale(squares[k], __ldg(e.radius + (o + k) / e.group));
        }
    } else {
        UNROLL for (int k = 0; k < OUTPUTS; k++) v[k] = rectified(v[k], e.slope);
    }
    float *to = at(e.dst, n, o, y, x);
    UNROLL for (int k = 0; k < OUTPUTS; k++, to += e.dst.plane) {
        if (o + k < outputs) *to = v[k];
    }
}

template <int OUTPUTS> DEVICE void add(const Addition &a, const float (&v)[OUTPUTS], int outputs, int n, int o, int y, int x) {
    float *to = at(a.dst, n, o, y, x);
    const float *from = at(a.start, n, o, y, x);
    UNROLL for (int k = 0; k < OUTPUTS; k++, to += a.dst.plane, from += a.start.plane) {
        if (o + k < outputs) *to = blend(a, v[k], o + k, from);
    }
}

#define END(OUTPUTS)                                                       \
    if (dst1) {                                                            \
        Addition a = ADDITION(1);                                          \
        ROLLED for (int i = 0; i < (dst2 ? 2 : 1); i++) {                  \
            add(a, v, outputs, n, o, y, x);                                \
            a = ADDITION(2);                                               \
        }                                                                  \
    } else {                                                               \
        finish(LAYER_END, v, outputs, n, o, y, x);                         \
    }

// The block's place: its tile counts along x, `across` to a row, its outputs along y, its
// image along z. There is one copy of the end's code instead of ROWS of them; registers have
// no index but a constant one.
#define CONVOLUTION_BODY(GROUPS, BANDS, OUTPUTS, KH, KW, kh, kw)                                                    \
    DYNAMIC_SHARED(float, memory);                                                                                  \
    Geometry g{height, width, top, left, rows, columns};                                                            \
    int n = (int)blockIdx.z, y0 = (int)blockIdx.x / across * (ROWS * BANDS), x0 = (int)blockIdx.x % across * TILE_W; \
    int wide = (int)blockIdx.y * (GROUPS * OUTPUTS);                                                                \
    float sum[OUTPUTS][ROWS] = {};                                                                                  \
    accumulate<GROUPS, BANDS, OUTPUTS, KH, KW>(sum, Source{src + n * src_image, src_plane, src_pitch, channels},    \
        weights + wide, padded, g, top + y0, left + x0, chunk, kh, kw, memory);                                     \
    int warp = (int)threadIdx.x / WARP, x = x0 + (int)threadIdx.x % WARP, o = wide + warp % GROUPS * OUTPUTS;       \
    y0 += warp / GROUPS * ROWS;                                                                                     \
    if (x >= columns) return;                                                                                       \
    ROLLED for (int r = 0; r < ROWS && y0 + r < rows; r++) {                                                        \
        int y = y0 + r;                                                                                             \
        float v[OUTPUTS];                                                                                           \
        UNROLL for (int k = 0; k < OUTPUTS; k++) {                                                                  \
            v[k] = sum[k][0];                                                                                       \
            UNROLL for (int i = 1; i < ROWS; i++) v[k] = r == i ? sum[k][i] : v[k];                                 \
        }                                                                                                           \
        END(OUTPUTS)                                                                                                \
    }

// For filters of 3×3, and of any size; chunk is how many channels fit the memory.
#define CONVOLUTION(name, GROUPS, BANDS, OUTPUTS)                                                                   \
    KERNEL LAUNCH_BOUNDS(WARP * GROUPS * BANDS, 2) convolve3_##name(SOURCE_ARGUMENTS(float), int chunk, END_ARGUMENTS) { \
        CONVOLUTION_BODY(GROUPS, BANDS, OUTPUTS, 3, 3, 3, 3)                                                        \
    }                                                                                                               \
    KERNEL LAUNCH_BOUNDS(WARP * GROUPS * BANDS, 2) convolve_##name(SOURCE_ARGUMENTS(float), int chunk, int kh, int kw, END_ARGUMENTS) { \
        CONVOLUTION_BODY(GROUPS, BANDS, OUTPUTS, 0, 0, kh, kw)                                                      \
    }

CONVOLUTION(8, 1, 8, 8)
CONVOLUTION(64, 8, 1, 8)

// The same sums for filters that are too large for the block's memory, from where they are.
// A thread has one pixel of one output.
DEVICE float distant_sum(Source src, const float *weights, int padded, Geometry g, int y, int x, int kh, int kw) {
    float sum = 0;
    for (int c = 0; c < src.channels; c++) {
        for (int s = 0; s < kw; s++) {
            for (int r = 0; r < kh; r++) {
                int v = g.top + y + r - kh / 2, u = g.left + x + s - kw / 2;
                if ((unsigned)v >= (unsigned)g.height || (unsigned)u >= (unsigned)g.width) continue;
                float f = __ldg(weights + ((int64)c * kh * kw + r * kw + s) * padded);
                sum = fmaf(f, src.data[c * src.plane + (int64)v * src.pitch + u], sum);
            }
        }
    }
    return sum;
}

KERNEL LAUNCH_BOUNDS(256, 2) convolve_distant(SOURCE_ARGUMENTS(float), int kh, int kw, END_ARGUMENTS) {
    Geometry g{height, width, top, left, rows, columns};
    int n = (int)blockIdx.z, o = (int)blockIdx.y;
    int y = (int)blockIdx.x / across * ROWS + (int)threadIdx.x / TILE_W;
    int x = (int)blockIdx.x % across * TILE_W + (int)threadIdx.x % TILE_W;
    if (y >= rows || x >= columns) return;
    float v[1] = {distant_sum(Source{src + n * src_image, src_plane, src_pitch, channels}, weights + o, padded, g, y, x, kh, kw)};
    END(1)
}
