// The gradient of a convolution with respect to its filter, in float32: a product of two
// matrices, dy (outputs × pixels) and the taps that each pixel sees (pixels × inputs·taps).
// Ranges of pixels are summed apart, and these sums added up in float64.
#include "elements.h"

// A block makes SIDE×SIDE elements, a thread EACH×EACH of them, STEP pixels at a time.
constexpr int SIDE = 64, EACH = 4, STEP = 16, PITCH = SIDE + 4;

// Pixel number p of all images.
struct Pixel {
    int n, y, x;
};

// partial[split][o][k], k counting inputs and taps, for pixels [split·range, (split+1)·range).
// Blocks count splits along x, outputs along y, and inputs·taps along z.
KERNEL LAUNCH_BOUNDS(256, 2) filter_gradient(float *partial, const float *x, const float *dy, int outputs, int inputs, int kh, int kw,
    int h, int w, int64 pixels, int range) {
    SHARED2(float, a, STEP, PITCH);
    SHARED2(float, b, STEP, PITCH);
    int thread = (int)threadIdx.x, row = thread / (SIDE / EACH), column = thread % (SIDE / EACH);
    int o0 = (int)blockIdx.y * SIDE, k0 = (int)blockIdx.z * SIDE;
    int64 plane = (int64)h * w, first = (int64)blockIdx.x * range;
    int64 last = first + range < pixels ? first + range : pixels;

    // What this thread brings in: one pixel of every step, for these outputs and taps.
    int mine = thread % STEP, lane = thread / STEP, terms = inputs * kh * kw;
    Pixel at;
    int64 p = first + mine, within = p % plane;
    at.n = (int)(p / plane);
    at.y = (int)(within / w);
    at.x = (int)(within % w);
    int64 from[EACH];
    int down[EACH], right[EACH];
    UNROLL for (int i = 0; i < EACH; i++) {
        int k = k0 + lane + i * STEP;
        int tap = k % (kh * kw);
        down[i] = tap / kw - kh / 2;
        right[i] = tap % kw - kw / 2;
        from[i] = (int64)(k / (kh * kw)) * plane + (int64)down[i] * w + right[i];
    }

    float sum[EACH][EACH] = {};
    for (int64 step = first; step < last; step += STEP, p += STEP) {
        __syncthreads();
        bool there = p < last;
        int64 pixel = (int64)at.y * w + at.x;
        UNROLL for (int i = 0; i < EACH; i++) {
            int o = o0 + lane + i * STEP;
            a[mine][lane + i * STEP] = there && o < outputs ? dy[((int64)at.n * outputs + o) * plane + pixel] : 0;
        }
        UNROLL for (int i = 0; i < EACH; i++) {
            bool inside = there && k0 + lane + i * STEP < terms &&
                (unsigned)(at.y + down[i]) < (unsigned)h && (unsigned)(at.x + right[i]) < (unsigned)w;
            b[mine][lane + i * STEP] = inside ? x[(int64)at.n * inputs * plane + from[i] + pixel] : 0;
        }
        at.x += STEP;
        if (at.x >= w) {
            at.y += at.x / w;
            at.x %= w;
            if (at.y >= h) {
                at.n += at.y / h;
                at.y %= h;
            }
        }
        __syncthreads();
        ROLLED for (int i = 0; i < STEP; i += 4)
        UNROLL for (int k = 0; k < 4; k++) {
            float u[EACH], v[EACH];
            *(float4 *)u = *(const float4 *)&a[i + k][row * EACH];
            *(float4 *)v = *(const float4 *)&b[i + k][column * EACH];
            UNROLL for (int r = 0; r < EACH; r++) {
                UNROLL for (int c = 0; c < EACH; c++) sum[r][c] = fmaf(u[r], v[c], sum[r][c]);
            }
        }
    }
    UNROLL for (int r = 0; r < EACH; r++) {
        UNROLL for (int c = 0; c < EACH; c++) {
            int o = o0 + row * EACH + r, k = k0 + column * EACH + c;
            if (o < outputs && k < terms) partial[((int64)blockIdx.x * outputs + o) * terms + k] = sum[r][c];
        }
    }
}

// dw = beta·dw + scale·the sum of the splits' partial sums. With beta = 0 the old dw is not
// read. The partial sums are in `taps` parts of weights/taps each, one for each tap of all
// filters; with taps = 1 they lie as dw does. Blocks count BLOCK weights along x.
KERNEL LAUNCH_BOUNDS(256, 4) add_up_filter(float *dw, const float *partial, int weights, int splits, int taps, float beta, float scale) {
    constexpr int AT_A_TIME = 8; // loads under way, or each would wait for the one before
    int i = (int)blockIdx.x * BLOCK + (int)threadIdx.x;
    if (i >= weights) return;
    const float *from = partial + i;
    double sum = 0;
    ROLLED for (int s = 0; s < splits; s += AT_A_TIME) {
        float v[AT_A_TIME];
        UNROLL for (int k = 0; k < AT_A_TIME; k++) v[k] = s + k < splits ? from[(int64)(s + k) * weights] : 0;
        UNROLL for (int k = 0; k < AT_A_TIME; k++) sum += (double)v[k];
    }
    int filters = weights / taps;
    float *to = dw + (int64)(i % filters) * taps + i / filters;
    float v = (float)((double)scale * sum);
    if (beta != 0) v += beta * *to;
    *to = v;
}
