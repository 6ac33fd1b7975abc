#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// Puts weights of shape (Out, In, KH, KW) into the order in which convolutions read them: input, tap,
// output, with outputs padded with zeros. For the adjoint inputs and outputs change places, and the
// taps are turned around.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float w[]; };
layout(push_constant) uniform Push { uint dst_at, src_at, outputs, inputs, taps, padded, adjoint, n; };

void main() {
    EACH(i, n) {
        uint o = i % padded, t = i / padded % taps, c = i / padded / taps;
        float v = 0;
        if (o < outputs) {
            v = adjoint != 0 ? w[src_at + (c * outputs + o) * taps + taps - 1 - t] : w[src_at + (o * inputs + c) * taps + t];
        }
        dst[dst_at + i] = v;
    }
}
