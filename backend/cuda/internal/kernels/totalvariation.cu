// The steps of the primal-dual algorithm for the ROF model; package backend says what they
// compute. Direction 1 (down) of channel c is channel 2c of p, direction 2 (right) 2c+1.
#include "elements.h"

// Images are cut into pixels, BLOCK·PIXELS of them a block, in x, and groups of channels,
// which blocks share in y.
constexpr int PIXELS = 4;

struct Frame { int h, w; int64 plane; };

// ∇ᵀp at pixel i = (y, x); p1 and p2 are the planes of the directions. T is float, or double
// where the duality gap is evaluated.
template <class T> DEVICE T gradient_adjoint(const float *p1, const float *p2, Frame f, int64 i, int y, int x) {
    T v = 0;
    if (y > 0) v += (T)p1[i - f.w];
    if (y + 1 < f.h) v -= (T)p1[i];
    if (x > 0) v += (T)p2[i - 1];
    if (x + 1 < f.w) v -= (T)p2[i];
    return v;
}

// Calls f(i, y, x) for the pixels of this thread.
template <class F> DEVICE void each_pixel(Frame frame, F f) {
    int64 first = (int64)blockIdx.x * (BLOCK * PIXELS) + threadIdx.x;
    ROLLED for (int k = 0; k < PIXELS; k++) {
        int64 i = first + k * BLOCK;
        if (i < frame.plane) f(i, (int)((unsigned)i / (unsigned)frame.w), (int)((unsigned)i % (unsigned)frame.w));
    }
}

// u ← u + step·(r − u) with r = y − ∇ᵀp, and ū = u + extrapolation·(r − u) unless ubar is
// null. Where fresh is not 0 the step is 1 and the old u is not read.
KERNEL LAUNCH_BOUNDS(256, 4) tv_primal(float *u, float *ubar, const float *p, const float *y, int channels, int h, int w,
    float step, float extrapolation, int fresh) {
    Frame f{h, w, (int64)h * w};
    for (int c = (int)blockIdx.y; c < channels; c += (int)gridDim.y) {
        const float *p1 = p + 2 * (int64)c * f.plane, *p2 = p1 + f.plane;
        float *uc = u + c * f.plane;
        const float *yc = y + c * f.plane;
        each_pixel(f, [&](int64 i, int row, int column) {
            float r = yc[i] - gradient_adjoint<float>(p1, p2, f, i, row, column);
            float v = r;
            if (!fresh) {
                v = uc[i];
                v = fmaf(step, r - v, v);
            }
            uc[i] = v;
            if (ubar) ubar[c * f.plane + i] = fmaf(extrapolation, r - v, v);
        });
    }
}

// p + dual·∇ū of one channel at one pixel.
DEVICE float2 ascent(const float *p1, const float *ubar, Frame f, int64 i, int y, int x, float dual) {
    float v = ubar[i];
    float down = y + 1 < f.h ? ubar[i + f.w] - v : 0;
    float right = x + 1 < f.w ? ubar[i + 1] - v : 0;
    return make_float2(fmaf(dual, down, p1[i]), fmaf(dual, right, p1[i + f.plane]));
}

// p ← the projection of p + dual·∇ū onto the balls of radius alpha, over `together` channels
// at a time: 1, or all of them. A thread reads and writes p at its own pixels only.
KERNEL LAUNCH_BOUNDS(256, 4) tv_dual(float *p, const float *ubar, int channels, int together, int h, int w, float alpha, float dual) {
    Frame f{h, w, (int64)h * w};
    for (int c = (int)blockIdx.y * together; c < channels; c += (int)gridDim.y * together) {
        each_pixel(f, [&](int64 i, int row, int column) {
            float squares = 0;
            ROLLED for (int k = c; k < c + together; k++) {
                float2 v = ascent(p + 2 * k * f.plane, ubar + k * f.plane, f, i, row, column, dual);
                squares = fmaf(v.x, v.x, fmaf(v.y, v.y, squares));
            }
            float norm = sqrtf(squares);
            float scale = norm > alpha ? alpha / norm : 1;
            ROLLED for (int k = c; k < c + together; k++) {
                float *p1 = p + 2 * k * f.plane;
                float2 v = ascent(p1, ubar + k * f.plane, f, i, row, column, dual);
                p1[i] = v.x * scale;
                p1[i + f.plane] = v.y * scale;
            }
        });
    }
}

// partial[4b … 4b+3] = the share of block b of ½‖u − y‖², αΣ‖∇u‖, ½‖u − (y − ∇ᵀp)‖² and
// ⟨∇u, p⟩ with p scaled back into its balls, where b = blockIdx.y·gridDim.x + blockIdx.x.
KERNEL LAUNCH_BOUNDS(256, 2) tv_evaluate(double *partial, const float *u, const float *p, const float *y, int channels, int together, int h, int w, float alpha) {
    SHARED2(double, part, 4, BLOCK / WARP);
    Frame f{h, w, (int64)h * w};
    double fidelity = 0, variation = 0, residual = 0, product = 0;
    for (int c = (int)blockIdx.y * together; c < channels; c += (int)gridDim.y * together) {
        each_pixel(f, [&](int64 i, int row, int column) {
            double slopes = 0, squares = 0, along = 0;
            ROLLED for (int k = c; k < c + together; k++) {
                const float *p1 = p + 2 * k * f.plane, *p2 = p1 + f.plane, *uk = u + k * f.plane;
                double v = uk[i], target = y[k * f.plane + i];
                double d = v - target;
                fidelity += d * d / 2;
                d = v - (target - gradient_adjoint<double>(p1, p2, f, i, row, column));
                residual += d * d / 2;
                double down = row + 1 < f.h ? (double)uk[i + f.w] - v : 0;
                double right = column + 1 < f.w ? (double)uk[i + 1] - v : 0;
                slopes += down * down + right * right;
                double a = p1[i], b = p2[i];
                squares += a * a + b * b;
                along += down * a + right * b;
            }
            variation += (double)alpha * sqrt(slopes);
            double norm = sqrt(squares);
            product += norm > (double)alpha ? along * ((double)alpha / norm) : along;
        });
    }
    fidelity = block_sum(fidelity, part[0]);
    variation = block_sum(variation, part[1]);
    residual = block_sum(residual, part[2]);
    product = block_sum(product, part[3]);
    if (threadIdx.x == 0) {
        double *to = partial + 4 * ((int64)blockIdx.y * gridDim.x + blockIdx.x);
        to[0] = fidelity, to[1] = variation, to[2] = residual, to[3] = product;
    }
}
