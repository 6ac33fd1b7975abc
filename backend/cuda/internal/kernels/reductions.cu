// Sums over arrays, in float64 and in an order that depends on the shape only: blocks make
// partial sums of pieces of fixed length, and one block adds these.
#include "elements.h"

// Elements of a partial sum, and how many loads of a thread are under way: each would
// otherwise wait for the one before.
constexpr int PIECE = 4096, AT_A_TIME = 4;

// partial[b] = the sum over piece b of x·y (kind 0), x² (1) or (x−y)² (2).
KERNEL LAUNCH_BOUNDS(256, 4) reduce(double *partial, int kind, const float *x, const float *y, int64 n) {
    SHARED(double, part, BLOCK / WARP);
    int64 first = (int64)blockIdx.x * PIECE + threadIdx.x;
    double sum = 0;
    ROLLED for (int k = 0; k < PIECE; k += AT_A_TIME * BLOCK) {
        float u[AT_A_TIME], v[AT_A_TIME];
        UNROLL for (int j = 0; j < AT_A_TIME; j++) {
            int64 i = first + k + j * BLOCK;
            u[j] = i < n ? x[i] : 0;
            v[j] = kind != 1 && i < n ? y[i] : 0;
        }
        UNROLL for (int j = 0; j < AT_A_TIME; j++) {
            double a = u[j], b = kind == 1 ? a : (double)v[j];
            if (kind == 2) a -= b, b = a;
            sum += a * b;
        }
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// partial[b] = the sum over piece b%pieces of plane b/pieces.
KERNEL LAUNCH_BOUNDS(256, 4) sum_planes(double *partial, const float *x, int plane, int pieces) {
    SHARED(double, part, BLOCK / WARP);
    const float *from = x + (int64)(blockIdx.x / (unsigned)pieces) * plane;
    int first = (int)(blockIdx.x % (unsigned)pieces) * PIECE;
    double sum = 0;
    int n = min(PIECE, plane - first);
    ROLLED for (int k = (int)threadIdx.x; k < PIECE; k += AT_A_TIME * BLOCK) {
        float v[AT_A_TIME];
        UNROLL for (int j = 0; j < AT_A_TIME; j++) v[j] = k + j * BLOCK < n ? from[first + k + j * BLOCK] : 0;
        UNROLL for (int j = 0; j < AT_A_TIME; j++) sum += (double)v[j];
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// out[j] = the sum of partial[j + i·stride] over i < count, for j = blockIdx.x.
KERNEL LAUNCH_BOUNDS(256, 2) add_up(double *out, const double *partial, int64 count, int stride) {
    SHARED(double, part, BLOCK / WARP);
    double sum = 0;
    ROLLED for (int64 i = threadIdx.x; i < count; i += BLOCK) sum += partial[blockIdx.x + i * stride];
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// dst[c] = beta·dst[c] + the sum of partial[(n·channels + c)·pieces + k] over n and k, for
// c = blockIdx.x. With beta = 0 the old dst is not read.
KERNEL LAUNCH_BOUNDS(256, 2) add_up_channels(float *dst, const double *partial, int images, int channels, int pieces, float beta) {
    SHARED(double, part, BLOCK / WARP);
    int64 c = blockIdx.x;
    double sum = 0;
    ROLLED for (int64 i = threadIdx.x; i < (int64)images * pieces; i += BLOCK) {
        sum += partial[(i / pieces * channels + c) * pieces + i % pieces];
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) {
        float v = (float)sum;
        if (beta != 0) v += beta * dst[c];
        dst[c] = v;
    }
}
