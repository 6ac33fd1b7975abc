#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// Pixels become channels (BACK false), or channels pixels. One thread for every pixel of the coarse
// planes. Numbers are moved as bits.
layout(constant_id = 0) const uint BACK = 0;
layout(binding = 0) writeonly buffer Dst { uint dst[]; };
layout(binding = 1) readonly buffer Src { uint src[]; };
layout(push_constant) uniform Push { uint dst_at, src_at, factor, planes, h, w, fine_h, fine_w; };

void main() {
    PLANES(k, planes) {
        uint dx = k % factor, dy = k / factor % factor, plane = k / (factor * factor);
        EACH(i, h * w) {
            uint y = i / w * factor + dy, x = i % w * factor + dx;
            bool there = y < fine_h && x < fine_w;
            uint fine = (plane * fine_h + y) * fine_w + x, coarse = k * h * w + i;
            if (BACK != 0) {
                if (there) dst[dst_at + fine] = src[src_at + coarse];
            } else {
                dst[dst_at + coarse] = there ? src[src_at + fine] : 0;
            }
        }
    }
}
