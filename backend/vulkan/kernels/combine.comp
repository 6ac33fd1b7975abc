#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// dst = Σ a·x over one to four terms; dst may be one of them.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer X0 { float x0[]; };
layout(binding = 2) readonly buffer X1 { float x1[]; };
layout(binding = 3) readonly buffer X2 { float x2[]; };
layout(binding = 4) readonly buffer X3 { float x3[]; };
layout(push_constant) uniform Push {
    uint n, terms, dst_at, at0, at1, at2, at3;
    float a0, a1, a2, a3;
};

void main() {
    EACH(i, n) {
        float v = a0 * x0[at0 + i];
        if (terms > 1) v += a1 * x1[at1 + i];
        if (terms > 2) v += a2 * x2[at2 + i];
        if (terms > 3) v += a3 * x3[at3 + i];
        dst[dst_at + i] = v;
    }
}
