// Blur in the frequency domain. An image of two planes, one the real and one the imaginary
// part, is extended by its boundary, transformed along rows, then along columns, multiplied
// by the kernel's spectrum and transformed back: three kernels, each of which reads and
// writes the array once. Lines are as long as a power of two and are transformed in shared
// memory.
#include "continuation.h"

constexpr int BLOCK = 256;

typedef float2 complex;

DEVICE complex times(complex a, complex b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// The place of element i of a line whose elements a transform takes in bit-reversed order.
DEVICE int reversed(int i, int bits) {
    unsigned v = (unsigned)i;
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
    v = v >> 16 | v << 16;
    return (int)(v >> (32 - bits) & ((1u << bits) - 1));
}

// Where element i of a block's lines lies in shared memory. Half a warp takes 16 elements at
// a time, from 16 pairs of banks: they are told apart by any four neighbouring bits of i, and
// by any four of the lowest five, and with these numbers both always name different banks.
DEVICE int place(int i) {
    int fold = i ^ i >> 5 ^ i >> 10;
    return i ^ (i >> 5 & 15) ^ (i >> 10 & 15) ^ (fold >> 4 & 1) * 15;
}

// Transforms lines of 2^bits elements that stand one behind the other in bit-reversed order
// (Cooley and Tukey 1965). roots[k] is exp(−2πik/2^bits); inverse takes their conjugates,
// and does not scale.
DEVICE void transform(complex *lines, int count, int bits, const complex *roots, bool inverse) {
    int half_line = (1 << bits) / 2;
    for (int level = 0; level < bits; level++) {
        __syncthreads();
        int span = 1 << level;
        for (int i = (int)threadIdx.x; i < count * half_line; i += BLOCK) {
            int line = i / half_line, k = i % half_line, within = k % span;
            int at = line * 2 * half_line + (k / span) * 2 * span + within;
            complex root = __ldg(roots + (within << (bits - 1 - level)));
            if (inverse) root.y = -root.y;
            complex *first = lines + place(at), *second = lines + place(at + span);
            complex a = *first, b = times(*second, root);
            *first = make_float2(a.x + b.x, a.y + b.y);
            *second = make_float2(a.x - b.x, a.y - b.y);
        }
    }
    __syncthreads();
}

// Puts the lines, which are in order, into bit-reversed order. A transform waits for it.
DEVICE void reorder(complex *lines, int count, int bits) {
    int length = 1 << bits;
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
        int line = i / length, k = i % length, to = reversed(k, bits);
        if (k >= to) continue;
        complex *one = lines + place(line * length + k), *other = lines + place(line * length + to), v = *one;
        *one = *other;
        *other = v;
    }
}

// Rows of extended images, transformed. Pair k of spectra, of 2^bits_y × 2^bits rows and
// columns, is made of planes 2k and 2k+1 of src, of h×w pixels: place (y, x) of the array
// holds sample (y − top, x − left), continued so far as the extended image's extended_h ×
// extended_w samples reach, 0 beyond. Blocks count `count` rows along x and pairs along y.
KERNEL LAUNCH_BOUNDS(256, 2) fourier_rows(complex *spectra, const float *src, const complex *roots, int bits, int bits_y, int count,
    int planes, int h, int w, int top, int left, int extended_h, int extended_w, int continuation) {
    DYNAMIC_SHARED(complex, lines);
    int length = 1 << bits, first = (int)blockIdx.x * count, pair = (int)blockIdx.y;
    const float *real = src + (int64)2 * pair * h * w, *imaginary = real + (int64)h * w;
    bool two = 2 * pair + 1 < planes;
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
        int line = i / length, column = i % length, row = first + line;
        complex v = make_float2(0, 0);
        if (row < extended_h && column < extended_w) {
            int y = sample(row - top, h, continuation), x = sample(column - left, w, continuation);
            if (y >= 0 && x >= 0) {
                int64 at = (int64)y * w + x;
                v = make_float2(real[at], two ? imaginary[at] : 0);
            }
        }
        lines[place(line * length + reversed(column, bits))] = v;
    }
    transform(lines, count, bits, roots, false);
    complex *to = spectra + (((int64)pair << bits_y) + first) * length;
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) to[i] = lines[place(i)];
}

// Columns, transformed in place; and with a spectrum to multiply by, or with its conjugate,
// also multiplied and transformed back. Blocks count `count` columns along x and pairs along
// y. scale is that of the two inverse transforms.
KERNEL LAUNCH_BOUNDS(256, 2) fourier_columns(complex *spectra, const complex *roots, const complex *spectrum, int conjugate, int bits, int bits_x, int count, float scale) {
    DYNAMIC_SHARED(complex, lines);
    int length = 1 << bits, width = 1 << bits_x, first = (int)blockIdx.x * count;
    complex *from = spectra + ((int64)blockIdx.y << (bits + bits_x)) + first;
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
        int row = i / count, line = i % count;
        lines[place(line * length + reversed(row, bits))] = from[(int64)row * width + line];
    }
    transform(lines, count, bits, roots, false);
    if (spectrum) {
        for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
            int row = i / count, line = i % count;
            complex s = __ldg(spectrum + (int64)row * width + first + line);
            if (conjugate) s.y = -s.y;
            complex *at = lines + place(line * length + row), v = times(*at, s);
            *at = make_float2(v.x * scale, v.y * scale);
        }
        __syncthreads();
        reorder(lines, count, bits);
        transform(lines, count, bits, roots, true);
    }
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
        int row = i / count, line = i % count;
        from[(int64)row * width + line] = lines[place(line * length + row)];
    }
}

// Rows transformed back, of which h×w samples from (top, left) on go to planes 2k and 2k+1
// of dst.
KERNEL LAUNCH_BOUNDS(256, 2) fourier_rows_back(float *dst, const complex *spectra, const complex *roots, int bits, int bits_y, int count,
    int planes, int h, int w, int top, int left) {
    DYNAMIC_SHARED(complex, lines);
    int length = 1 << bits, first = (int)blockIdx.x * count, pair = (int)blockIdx.y;
    const complex *from = spectra + (((int64)pair << bits_y) + first) * length;
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
        lines[place(i / length * length + reversed(i % length, bits))] = from[i];
    }
    transform(lines, count, bits, roots, true);
    float *real = dst + (int64)2 * pair * h * w, *imaginary = real + (int64)h * w;
    bool two = 2 * pair + 1 < planes;
    for (int i = (int)threadIdx.x; i < count * length; i += BLOCK) {
        int y = first + i / length - top, x = i % length - left;
        if ((unsigned)y >= (unsigned)h || (unsigned)x >= (unsigned)w) continue;
        int64 at = (int64)y * w + x;
        complex v = lines[place(i)];
        real[at] = v.x;
        if (two) imaginary[at] = v.y;
    }
}

// The adjoint of extending an image: sample (y, x) of dst, of h×w, is the sum of all places of
// the extended image, of extended_h × extended_w, that were made from it. Its own place is
// (y + top, x + left).
KERNEL LAUNCH_BOUNDS(256, 4) fold(float *dst, const float *extended, int planes, int h, int w, int top, int left,
    int extended_h, int extended_w, int continuation) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= (unsigned)h * (unsigned)w) return;
    int y = (int)(i / (unsigned)w), x = (int)(i % (unsigned)w);
    for (int plane = (int)blockIdx.y; plane < planes; plane += (int)gridDim.y) {
        const float *from = extended + (int64)plane * extended_h * extended_w;
        float sum = 0;
        for (int v = first_copy(y, top, h, continuation); v < extended_h; v = next_copy(v - top, h, continuation) + top) {
            for (int u = first_copy(x, left, w, continuation); u < extended_w; u = next_copy(u - left, w, continuation) + left) {
                sum += from[(int64)v * extended_w + u];
            }
        }
        dst[(int64)plane * h * w + i] = sum;
    }
}
