// Operations on whole arrays: linear combinations, clipping, channels mixed by a matrix,
// Gaussian numbers. Fills and plain copies are the driver's.
#include "elements.h"

// dst = Σ a·x over the first `terms` of four; dst may be one of the x.
KERNEL LAUNCH_BOUNDS(256, 4) combine(float *dst, int64 n, int terms,
    float a0, const float *x0, float a1, const float *x1, float a2, const float *x2, float a3, const float *x3) {
    each_element(n, [&](int64 i) {
        float v = a0 * x0[i];
        if (terms > 1) v = fmaf(a1, x1[i], v);
        if (terms > 2) v = fmaf(a2, x2[i], v);
        if (terms > 3) v = fmaf(a3, x3[i], v);
        dst[i] = v;
    });
}

// dst = x·y; dst may be one of them, or both.
KERNEL LAUNCH_BOUNDS(256, 4) multiply(float *dst, const float *x, const float *y, int64 n) {
    each_element(n, [&](int64 i) { dst[i] = x[i] * y[i]; });
}

// Comparisons that are false for NaN leave it as it is.
KERNEL LAUNCH_BOUNDS(256, 4) clip(float *dst, const float *src, int64 n, float lo, float hi) {
    each_element(n, [&](int64 i) {
        float v = src[i];
        v = v <= lo ? lo : v;
        v = v >= hi ? hi : v;
        dst[i] = v;
    });
}

// dst[n,i] = Σⱼ m[i·columns+j]·src[n,j] for up to 16 rows and columns; one image of
// gridDim.y a row of blocks. A thread has all channels of its pixel in registers before it
// writes any, so dst may be src.
KERNEL LAUNCH_BOUNDS(256, 2) mix_channels(float *dst, const float *src, const float *m, int rows, int columns, int plane, int images) {
    SHARED(float, matrix, 256);
    if ((int)threadIdx.x < rows * columns) matrix[threadIdx.x] = m[threadIdx.x];
    __syncthreads();
    int pixel = (int)(blockIdx.x * 256 + threadIdx.x);
    if (pixel >= plane) return;
    for (int image = (int)blockIdx.y; image < images; image += (int)gridDim.y) {
        const float *from = src + (int64)image * columns * plane + pixel;
        float *to = dst + (int64)image * rows * plane + pixel;
        float v[16];
        UNROLL for (int j = 0; j < 16; j++) v[j] = j < columns ? from[(int64)j * plane] : 0;
        ROLLED for (int i = 0; i < rows; i++) {
            float sum = matrix[i * columns] * v[0];
            UNROLL for (int j = 1; j < 16; j++) {
                if (j < columns) sum = fmaf(matrix[i * columns + j], v[j], sum);
            }
            to[(int64)i * plane] = sum;
        }
    }
}

// The finaliser of SplitMix64.
DEVICE uint64 mix64(uint64 z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

// ln u for u in (0, 1]; see logarithm in package backend, whose operations these are, in
// their order.
DEVICE double logarithm(double u) {
    uint64 bits = __double_as_ulonglong(u);
    int e = (int)(bits >> 52) - 1022;
    double m = __ulonglong_as_double((bits & ((1ull << 52) - 1)) | 1022ull << 52);
    if (m < 1.41421356237309504880168872420969807856967187537694 / 2) {
        m *= 2;
        e--;
    }
    double t = (m - 1) / (m + 1);
    double t2 = t * t, sum = 0;
    UNROLL for (int k = 19; k >= 1; k -= 2) sum = sum * t2 + 1 / (double)k;
    return 2 * t * sum + (double)e * 0.693147180559945309417232121458176568075500134360255254120680009;
}

// Elements 2k and 2k+1 of the standard normal sequence of backend.GaussianAt, to the bit.
DEVICE void gaussian_pair(uint64 seed, uint64 k, float &even, float &odd) {
    constexpr uint64 golden = 0x9e3779b97f4a7c15ull;
    uint64 base = mix64(seed ^ golden);
    uint64 a = mix64(base + (2 * k + 1) * golden);
    uint64 b = mix64(base + (2 * k + 2) * golden);
    double u = (double)((a >> 11) + 1) * 0x1p-53;
    double v = (double)(b >> 11) * 0x1p-53;
    double r = sqrt(-2 * logarithm(u));
    double quarter = floor(4 * v + 0.5);
    double x = (v - quarter * 0.25) * (2 * 3.14159265358979323846264338327950288419716939937510582097494459);
    double x2 = x * x, s = 0, c = 0;
    UNROLL for (int i = 15; i >= 1; i -= 2) {
        s = 1 - s * x2 / (double)((i + 1) * (i + 2));
        c = 1 - c * x2 / (double)(i * (i + 1));
    }
    s *= x;
    double sine, cosine;
    switch ((int)quarter % 4) {
    case 0: sine = s, cosine = c; break;
    case 1: sine = c, cosine = -s; break;
    case 2: sine = -s, cosine = -c; break;
    default: sine = -c, cosine = s;
    }
    even = (float)(r * cosine);
    odd = (float)(r * sine);
}

KERNEL LAUNCH_BOUNDS(256, 2) gaussian(float *dst, int64 n, int64 seed, float mean, float deviation) {
    one_by_one((n + 1) / 2, [&](int64 k) {
        float even, odd;
        gaussian_pair((uint64)seed, (uint64)k, even, odd);
        dst[2 * k] = mean + deviation * even;
        if (2 * k + 1 < n) dst[2 * k + 1] = mean + deviation * odd;
    });
}

// dst = dy times the slope of LeakyReLU, whose output tells the sign of its argument; dst
// may be dy.
KERNEL LAUNCH_BOUNDS(256, 4) activation_gradient(float *dst, const float *out, const float *dy, int64 n, float slope) {
    each_element(n, [&](int64 i) { dst[i] = out[i] <= 0 ? dy[i] * slope : dy[i]; });
}
