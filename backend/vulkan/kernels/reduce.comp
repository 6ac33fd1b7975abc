#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// partial[b] = the sum over piece b of x·y (kind 0), x² (1) or (x−y)² (2), in float64, in an order that
// depends on nothing but n. The host adds the pieces.
layout(binding = 0) writeonly buffer Partial { double partial[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) readonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint partial_at, x_at, y_at, n, kind, pieces; };

const uint PIECE = 16384;
shared double part[GROUP];

void main() {
    uint thread = gl_LocalInvocationID.x;
    for (uint piece = gl_WorkGroupID.x; piece < pieces; piece += gl_NumWorkGroups.x) {
        double sum = 0;
        for (uint k = thread; k < PIECE; k += GROUP) {
            uint i = piece * PIECE + k;
            if (i < n) {
                double a = double(x[x_at + i]), b = a;
                if (kind != 1) b = double(y[y_at + i]);
                if (kind == 2) a -= b, b = a;
                sum += a * b;
            }
        }
        part[thread] = sum;
        for (uint half_ = GROUP / 2; half_ > 0; half_ /= 2) {
            barrier();
            if (thread < half_) part[thread] += part[thread + half_];
        }
        if (thread == 0) partial[partial_at + piece] = part[0];
        barrier();
    }
}
