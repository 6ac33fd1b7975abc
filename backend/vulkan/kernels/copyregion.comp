#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// Copies h×w pixels of the first `channels` channels of each image. Numbers are moved as bits.
layout(binding = 0) writeonly buffer Dst { uint dst[]; };
layout(binding = 1) readonly buffer Src { uint src[]; };
layout(push_constant) uniform Push {
    uint dst_at, dst_image, dst_plane, dst_pitch;
    uint src_at, src_image, src_plane, src_pitch;
    uint h, w, channels, planes;
};

void main() {
    PLANES(k, planes) {
        uint n = k / channels, c = k % channels;
        uint to = dst_at + n * dst_image + c * dst_plane, from = src_at + n * src_image + c * src_plane;
        EACH(i, h * w) dst[to + i / w * dst_pitch + i % w] = src[from + i / w * src_pitch + i % w];
    }
}
