// Blur by direct sums over the kernel's weights that are not zero, and its adjoint. Both sum
// up weight·source at the pixel's place plus an offset, with the source continued beyond its
// frame; they differ in the offsets and in how it is continued.
#include "continuation.h"

// A block has TILE×TILE pixels, a thread a column of EACH, BLOCK_ROWS apart.
constexpr int TILE = 32, EACH = 4, BLOCK_ROWS = TILE / EACH;

// Offsets are taken PART×PART at a time, for which a patch of the source is in shared memory.
constexpr int PART = 16, PATCH = TILE + PART - 1;

// Taps that are in shared memory at a time.
constexpr int TAPS = PART * PART;

// dst[y, x] = Σ weight·source[y + dy, x + dx], where the weights come in parts: part j has
// the taps [first, first + count) whose offsets lie in [dy, dy + PART) × [dx, dx + PART);
// parts[4j …] are dy, dx, first, count. A tap is its place in the part, row·PART + column,
// and its weight. Blocks count tiles along x, `across` to a row, and planes along y.
KERNEL LAUNCH_BOUNDS(256, 3) blur(float *dst, const float *src, const int *parts, int count, const int *places, const float *weights,
    int planes, int h, int w, int source_h, int source_w, int continuation, int across) {
    SHARED(float, patch, PATCH * PATCH);
    SHARED(float, weight, TAPS);
    SHARED(int, place, TAPS);
    int thread = (int)threadIdx.x, column = thread % TILE, row = thread / TILE;
    int y0 = (int)blockIdx.x / across * TILE, x0 = (int)blockIdx.x % across * TILE;
    int flips = continuation == Folded ? 4 : 1;

    for (int plane = (int)blockIdx.y; plane < planes; plane += (int)gridDim.y) {
        const float *from = src + (int64)plane * source_h * source_w;
        float total[EACH] = {};
        for (int flip = 0; flip < flips; flip++) {
            // The places of the tile's first row and column, and this thread's within it. A
            // flipped tile begins at the place of its last one.
            bool over = flip & 1, across_too = flip & 2;
            int top = over ? 2 * source_h - TILE - y0 : y0, left = across_too ? 2 * source_w - TILE - x0 : x0;
            int u = across_too ? TILE - 1 - column : column;
            for (int j = 0; j < count; j++) {
                int dy = __ldg(parts + 4 * j), dx = __ldg(parts + 4 * j + 1), first = __ldg(parts + 4 * j + 2), n = __ldg(parts + 4 * j + 3);
                if (!any_sample(top + dy, PATCH, source_h, continuation) || !any_sample(left + dx, PATCH, source_w, continuation)) continue;
                __syncthreads();
                for (int i = thread; i < PATCH * PATCH; i += TILE * BLOCK_ROWS) {
                    int y = sample(top + dy + i / PATCH, source_h, continuation), x = sample(left + dx + i % PATCH, source_w, continuation);
                    patch[i] = y < 0 || x < 0 ? 0 : from[(int64)y * source_w + x];
                }
                if (thread < n) {
                    int p = __ldg(places + first + thread);
                    place[thread] = p / PART * PATCH + p % PART;
                    weight[thread] = __ldg(weights + first + thread);
                }
                __syncthreads();
                float sum[EACH] = {};
                for (int i = 0; i < n; i++) {
                    const float *at = patch + place[i] + u;
                    UNROLL for (int k = 0; k < EACH; k++) {
                        int y = row + k * BLOCK_ROWS;
                        sum[k] = fmaf(weight[i], at[(over ? TILE - 1 - y : y) * PATCH], sum[k]);
                    }
                }
                UNROLL for (int k = 0; k < EACH; k++) total[k] += sum[k];
            }
        }
        int x = x0 + column;
        UNROLL for (int k = 0; k < EACH; k++) {
            int y = y0 + row + k * BLOCK_ROWS;
            if (x < w && y < h) dst[((int64)plane * h + y) * w + x] = total[k];
        }
    }
}
