#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// Puts 3×3 weights of shape (Out, In, 3, 3) into the form of Winograd's F(2×2, 3×3), GwGᵀ, in the order
// in which winograd.comp reads them: input, one of 16 numbers, output, with outputs padded with zeros.
// For the adjoint inputs and outputs change places, and the taps are turned around.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float w[]; };
layout(push_constant) uniform Push { uint dst_at, src_at, outputs, inputs, padded, adjoint, n; };

const float G[4][3] = float[4][3](float[3](1, 0, 0), float[3](0.5, 0.5, 0.5), float[3](0.5, -0.5, 0.5), float[3](0, 0, 1));

void main() {
    EACH(i, n) {
        uint o = i % padded, p = i / padded % 16, c = i / padded / 16;
        float v = 0;
        if (o < outputs) {
            [[unroll]] for (uint r = 0; r < 3; r++) {
                float line = 0;
                [[unroll]] for (uint s = 0; s < 3; s++) {
                    uint t = 3 * r + s;
                    line += G[p % 4][s] * w[src_at + (adjoint != 0 ? (c * outputs + o) * 9 + 8 - t : (o * inputs + c) * 9 + t)];
                }
                v += G[p / 4][r] * line;
            }
        }
        dst[dst_at + i] = v;
    }
}
