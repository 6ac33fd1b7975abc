#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
#include "ball.h"
// Projects vectors of `size` channels in place, at the pixels of a region. Radii are a vector, whose
// pitch is 0, or a map.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float src[]; };
layout(binding = 2) readonly buffer Radius { float radius[]; };
layout(push_constant) uniform Push { uint at, plane, pitch, radius_at, radius_plane, radius_pitch, groups, size, h, w; };

void main() {
    PLANES(v, groups) {
        EACH(i, h * w) {
            uint y = i / w, x = i % w, first = at + v * size * plane + y * pitch + x;
            float r = radius[radius_at + v * radius_plane + (radius_pitch > 0 ? y * radius_pitch + x : 0)];
            float squares = 0;
            for (uint c = 0; c < size; c++) squares = fma(src[first + c * plane], src[first + c * plane], squares);
            float scale = ball_scale(squares, r);
            if (scale != 1.0) {
                for (uint c = 0; c < size; c++) dst[first + c * plane] = src[first + c * plane] * scale;
            }
        }
    }
}
