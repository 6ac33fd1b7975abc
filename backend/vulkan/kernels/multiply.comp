#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// dst = x·y; dst may be one of them, or both.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) readonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint n, dst_at, x_at, y_at; };

void main() {
    EACH(i, n) {
        precise float v = x[x_at + i] * y[y_at + i];
        dst[dst_at + i] = v;
    }
}
