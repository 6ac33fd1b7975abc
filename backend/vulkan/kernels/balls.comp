#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
#include "ball.h"
// Projects the `size` channels of each of images·groups vectors at every pixel onto its ball. Radii are
// a vector, or a map with one for every pixel (radius_step is 1 then). dst may be src.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float src[]; };
layout(binding = 2) readonly buffer Radius { float radius[]; };
layout(push_constant) uniform Push { uint dst_at, src_at, radius_at, vectors, groups, size, plane, map; };

void main() {
    PLANES(v, vectors) {
        uint first = v * size * plane;
        EACH(i, plane) {
            float r = radius[radius_at + (map != 0 ? v * plane + i : v % groups)];
            float squares = 0;
            for (uint c = 0; c < size; c++) {
                float x = src[src_at + first + c * plane + i];
                squares = fma(x, x, squares);
            }
            float scale = ball_scale(squares, r);
            for (uint c = 0; c < size; c++) {
                uint at = first + c * plane + i;
                float x = src[src_at + at];
                dst[dst_at + at] = scale == 1.0 ? x : x * scale;
            }
        }
    }
}
