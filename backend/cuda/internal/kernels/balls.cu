// Projections of groups of channels onto balls, and the way back.
#include "ball.h"
#include "elements.h"

// A vector is the `size` channels of one group at one pixel; vectors = images·groups of them
// at every pixel, which the grid's blocks share in y. dst may be src.
KERNEL LAUNCH_BOUNDS(256, 4) project_balls(float *dst, const float *src, const float *radius, int vectors, int groups, int size, int plane) {
    for (int v = (int)blockIdx.y; v < vectors; v += (int)gridDim.y) {
        int64 first = (int64)v * size * plane;
        float r = radius[v % groups];
        one_by_one(plane, [&](int64 i) {
            const float *from = src + first + i;
            float squares = 0;
            ROLLED for (int c = 0; c < size; c++) {
                float x = from[(int64)c * plane];
                squares = fmaf(x, x, squares);
            }
            float scale = ball_scale(squares, r);
            ROLLED for (int c = 0; c < size; c++) dst[first + i + (int64)c * plane] = from[(int64)c * plane] * scale;
        });
    }
}

// dst = P'(src)·dy: dy inside, and outside radius/‖v‖·(dy − n⟨n, dy⟩) with n = v/‖v‖.
// partial[v·gridDim.x + b] = the sum of ⟨n, dy⟩ over the pixels of block b outside the balls
// of vector v. dst may be dy.
KERNEL LAUNCH_BOUNDS(256, 4) project_balls_gradient(float *dst, double *partial, const float *src, const float *dy, const float *radius,
    int vectors, int groups, int size, int plane) {
    SHARED(double, part, BLOCK / WARP);
    for (int v = (int)blockIdx.y; v < vectors; v += (int)gridDim.y) {
        int64 first = (int64)v * size * plane;
        float r = radius[v % groups];
        double sum = 0;
        one_by_one(plane, [&](int64 i) {
            const float *x = src + first + i, *y = dy + first + i;
            float *to = dst + first + i;
            float squares = 0, products = 0;
            ROLLED for (int c = 0; c < size; c++) {
                float a = x[(int64)c * plane];
                squares = fmaf(a, a, squares);
                products = fmaf(a, y[(int64)c * plane], products);
            }
            float norm = sqrtf(squares);
            if (norm <= r) {
                ROLLED for (int c = 0; c < size; c++) to[(int64)c * plane] = y[(int64)c * plane];
                return;
            }
            float along = products / norm;
            sum += (double)along;
            float scale = r / norm, back = along / norm;
            ROLLED for (int c = 0; c < size; c++) {
                float left = fmaf(-x[(int64)c * plane], back, y[(int64)c * plane]);
                to[(int64)c * plane] = scale * left;
            }
        });
        __syncthreads(); // the sums of the last vector have been read
        sum = block_sum(sum, part);
        if (threadIdx.x == 0) partial[(int64)v * gridDim.x + blockIdx.x] = sum;
    }
}

// project_balls with a radius for every vector at every pixel: radius[v·plane + i].
KERNEL LAUNCH_BOUNDS(256, 4) project_balls_map(float *dst, const float *src, const float *radius, int vectors, int size, int plane) {
    for (int v = (int)blockIdx.y; v < vectors; v += (int)gridDim.y) {
        int64 first = (int64)v * size * plane;
        const float *radii = radius + (int64)v * plane;
        one_by_one(plane, [&](int64 i) {
            const float *from = src + first + i;
            float squares = 0;
            ROLLED for (int c = 0; c < size; c++) {
                float x = from[(int64)c * plane];
                squares = fmaf(x, x, squares);
            }
            float scale = ball_scale(squares, radii[i]);
            ROLLED for (int c = 0; c < size; c++) dst[first + i + (int64)c * plane] = from[(int64)c * plane] * scale;
        });
    }
}

// project_balls_gradient of such radii: dradius = beta·dradius + ⟨n, dy⟩ outside the ball, and
// beta·dradius inside; with beta = 0 the old dradius is not read.
KERNEL LAUNCH_BOUNDS(256, 4) project_balls_map_gradient(float *dst, float *dradius, const float *src, const float *dy, const float *radius,
    int vectors, int size, int plane, float beta) {
    for (int v = (int)blockIdx.y; v < vectors; v += (int)gridDim.y) {
        int64 first = (int64)v * size * plane, at = (int64)v * plane;
        one_by_one(plane, [&](int64 i) {
            const float *x = src + first + i, *y = dy + first + i;
            float *to = dst + first + i;
            float squares = 0, products = 0;
            ROLLED for (int c = 0; c < size; c++) {
                float a = x[(int64)c * plane];
                squares = fmaf(a, a, squares);
                products = fmaf(a, y[(int64)c * plane], products);
            }
            float old = 0;
            if (beta != 0) old = beta * dradius[at + i];
            float norm = sqrtf(squares), r = radius[at + i];
            if (norm <= r) {
                ROLLED for (int c = 0; c < size; c++) to[(int64)c * plane] = y[(int64)c * plane];
                dradius[at + i] = old;
                return;
            }
            float along = products / norm;
            dradius[at + i] = along + old;
            float scale = r / norm, back = along / norm;
            ROLLED for (int c = 0; c < size; c++) {
                float left = fmaf(-x[(int64)c * plane], back, y[(int64)c * plane]);
                to[(int64)c * plane] = scale * left;
            }
        });
    }
}
