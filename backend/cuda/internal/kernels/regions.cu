// Copies that move numbers and change none: rectangles of images, and pixels shuffled into
// channels and back.
#include "elements.h"

// Copies h×w pixels of the first `channels` channels of each image. The grid has h·w/BLOCK
// blocks in x; in y its blocks share the planes.
KERNEL LAUNCH_BOUNDS(256, 4) copy_region(float *dst, int64 dst_image, int64 dst_plane, int dst_pitch,
    const float *src, int64 src_image, int64 src_plane, int src_pitch, int h, int w, int channels, int planes) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= (unsigned)h * (unsigned)w) return;
    int64 y = i / (unsigned)w, x = i % (unsigned)w;
    for (int k = (int)blockIdx.y; k < planes; k += (int)gridDim.y) {
        int64 n = k / channels, c = k % channels;
        dst[n * dst_image + c * dst_plane + y * dst_pitch + x] = src[n * src_image + c * src_plane + y * src_pitch + x];
    }
}

// The place in the fine array of pixel (y, x) of coarse plane k; false where there is none.
DEVICE bool fine_place(int64 k, int64 y, int64 x, int64 factor, int fine_h, int fine_w, int64 &at) {
    int64 dx = k % factor, dy = k / factor % factor, plane = k / (factor * factor);
    y = y * factor + dy;
    x = x * factor + dx;
    at = (plane * fine_h + y) * fine_w + x;
    return y < fine_h && x < fine_w;
}

// One thread for every pixel of the coarse planes, which the grid's blocks share in y.
KERNEL LAUNCH_BOUNDS(256, 4) unshuffle(float *coarse, const float *fine, int factor, int planes, int h, int w, int fine_h, int fine_w) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= (unsigned)h * (unsigned)w) return;
    for (int k = (int)blockIdx.y; k < planes; k += (int)gridDim.y) {
        int64 at;
        bool there = fine_place(k, i / (unsigned)w, i % (unsigned)w, factor, fine_h, fine_w, at);
        coarse[(int64)k * h * w + i] = there ? fine[at] : 0;
    }
}

KERNEL LAUNCH_BOUNDS(256, 4) shuffle(float *fine, const float *coarse, int factor, int planes, int h, int w, int fine_h, int fine_w) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= (unsigned)h * (unsigned)w) return;
    for (int k = (int)blockIdx.y; k < planes; k += (int)gridDim.y) {
        int64 at;
        if (fine_place(k, i / (unsigned)w, i % (unsigned)w, factor, fine_h, fine_w, at)) fine[at] = coarse[(int64)k * h * w + i];
    }
}
