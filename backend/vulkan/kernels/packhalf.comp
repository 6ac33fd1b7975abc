#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// What pack.comp does, in half precision: a word has the weights of two outputs. n counts words.
layout(binding = 0) writeonly buffer Dst { uint dst[]; };
layout(binding = 1) readonly buffer Src { float w[]; };
layout(push_constant) uniform Push { uint dst_at, src_at, outputs, inputs, taps, padded, adjoint, n; };

void main() {
    EACH(i, n) {
        uint first = 2 * i % padded, t = 2 * i / padded % taps, c = 2 * i / padded / taps;
        vec2 v = vec2(0);
        [[unroll]] for (uint k = 0; k < 2; k++) {
            uint o = first + k;
            if (o < outputs) {
                v[k] = adjoint != 0 ? w[src_at + (c * outputs + o) * taps + taps - 1 - t] : w[src_at + (o * inputs + c) * taps + t];
            }
        }
        dst[dst_at + i] = packHalf2x16(v);
    }
}
