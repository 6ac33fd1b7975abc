#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : enable
// A convolution with a filter of any odd size: a workgroup has 8×32 pixels, and a thread one of them,
// with eight outputs.
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;
#include "convolution.h"

void main() {
    uint thread = gl_LocalInvocationID.x;
    uint across = (columns + 31) / 32;
    uint x = gl_WorkGroupID.x % across * 32 + thread % 32, y = first_row + gl_WorkGroupID.x / across * 8 + thread / 32;
    uint group = gl_WorkGroupID.y * 8;
    if (y >= rows || x >= columns) return;
    int sy = y0 + int(y) - int(kh / 2), sx = x0 + int(x) - int(kw / 2);
    vec4 a = vec4(0), b = vec4(0);
    for (uint c = 0; c < channels; c++) {
        for (uint r = 0; r < kh; r++) {
            int v = sy + int(r);
            if (v < 0 || v >= height) continue;
            for (uint s = 0; s < kw; s++) {
                int u = sx + int(s);
                if (u < 0 || u >= width) continue;
                float z = src[src_at + c * src_plane + uint(v) * src_pitch + uint(u)];
                uint w = (((c * kh + r) * kw + s) * padded + group) / 4;
                a = fma(weights[w], vec4(z), a), b = fma(weights[w + 1], vec4(z), b);
            }
        }
    }
    finish(a, b, group, y, x);
}
