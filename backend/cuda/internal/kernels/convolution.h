// What the convolution kernels have in common: where their arrays lie and how a convolution
// ends. A convolution and its adjoint are one and the same to them: the filters of Aᵀ are
// those of A with input and output exchanged and both axes reversed, zero padding included.
#ifndef AVERAGED_IMAGING_CONVOLUTION_H
#define AVERAGED_IMAGING_CONVOLUTION_H

#include "ball.h"
#include "device.h"
#include "loops.h"

// An array of images in memory: the distances, in elements, between images, channels and
// rows. It may be a part of a larger array.
template <class T> struct Array {
    T *data;
    int64 image, plane;
    int pitch;
};

template <class T> DEVICE T *at(const Array<T> &a, int n, int c, int y, int x) {
    return a.data + n * a.image + c * a.plane + (int64)y * a.pitch + x;
}

// Only pixels [0, height) × [0, width) of the source exist; there are zeros around them. The
// result begins at pixel (top, left) of the source and has rows × columns pixels.
struct Geometry {
    int height, width, top, left, rows, columns;
};

// dst = the projection or activation of sum + bias. dst or pairs may be null; pairs is the
// result rounded to half precision, channels 2k and 2k+1 in one word of plane k, with the
// plane and pitch of dst. Radii project groups of `group` channels, 1, 2, 4, 8, and on
// tensor cores also 16 and 32, in the place of the activation.
struct LayerEnd {
    const float *bias, *radius;
    int group;
    float slope; // 1 for none
    Array<float> dst;
    Array<unsigned> pairs;
};

// dst = beta·start + scale·sum. Of start only the first `known` channels exist, the others
// are 0; with beta = 0 it is not read. pairs, if it is not null, gets dst in half precision.
struct Addition {
    float beta, scale;
    Array<float> dst;
    Array<const float> start;
    int known;
    Array<unsigned> pairs;
};

// The sum of channel c with what lies at `start`, which is there if c is known.
DEVICE float blend(const Addition &a, float sum, int c, const float *start) {
    float v = a.scale * sum;
    return a.beta != 0 && c < a.known ? fmaf(a.beta, *start, v) : v;
}

DEVICE float rectified(float v, float slope) { return v < 0 ? v * slope : v; }

// The arguments of kernels, which are no structs.
#define SOURCE_ARGUMENTS(type)                                                                          \
    const type *src, int64 src_image, int64 src_plane, int src_pitch, int channels, const type *weights, \
        int outputs, int padded, int height, int width, int top, int left, int rows, int columns, int across

#define LAYER_ARGUMENTS                                                                          \
    const float *bias, const float *radius, int group, float slope,                              \
        float *dst, int64 dst_image, int64 dst_plane, int dst_pitch, unsigned *pairs, int64 pairs_image
#define LAYER_END                                                                                \
    LayerEnd { bias, radius, group, slope, Array<float>{dst, dst_image, dst_plane, dst_pitch},   \
        Array<unsigned>{pairs, pairs_image, dst_plane, dst_pitch} }

// Up to two sums of a stage of a Runge-Kutta method. A kernel ends by adding if dst1 is not
// null, else as a layer; the second sum is left out if dst2 is null.
#define ADDITION_ARGUMENTS(i)                                                                    \
    float beta##i, float scale##i, float *dst##i, int64 dst_image##i, int64 dst_plane##i, int dst_pitch##i, \
        const float *start##i, int64 start_image##i, int64 start_plane##i, int start_pitch##i, int known##i, \
        unsigned *pairs##i, int64 pairs_image##i
#define ADDITION(i)                                                                              \
    Addition { beta##i, scale##i, Array<float>{dst##i, dst_image##i, dst_plane##i, dst_pitch##i}, \
        Array<const float>{start##i, start_image##i, start_plane##i, start_pitch##i}, known##i,  \
        Array<unsigned>{pairs##i, pairs_image##i, dst_plane##i, dst_pitch##i} }

#define END_ARGUMENTS LAYER_ARGUMENTS, ADDITION_ARGUMENTS(1), ADDITION_ARGUMENTS(2)

#endif
