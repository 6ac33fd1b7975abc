#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// u ← u + step·(r − u) with r = y − ∇ᵀp, and where AHEAD ū = u + extrapolation·(r − u). Where fresh the
// step is 1 and the old u is not read.
layout(constant_id = 0) const uint AHEAD = 0;
layout(binding = 0) buffer U { float u[]; };
layout(binding = 1) readonly buffer P { float p[]; };
layout(binding = 2) readonly buffer Y { float y[]; };
layout(binding = 3) writeonly buffer Ahead { float ahead[]; };
layout(push_constant) uniform Push { uint u_at, p_at, y_at, ahead_at, channels, h, w, fresh; float step_, extrapolation; };

void main() {
    uint plane = h * w;
    PLANES(c, channels) {
        uint p1 = p_at + 2 * c * plane, p2 = p1 + plane;
        EACH(i, plane) {
            uint row = i / w, column = i % w;
            float g = 0;
            if (row > 0) g += p[p1 + i - w];
            if (row + 1 < h) g -= p[p1 + i];
            if (column > 0) g += p[p2 + i - 1];
            if (column + 1 < w) g -= p[p2 + i];
            float r = y[y_at + c * plane + i] - g, v = r;
            if (fresh == 0) {
                v = u[u_at + c * plane + i];
                v += step_ * (r - v);
            }
            u[u_at + c * plane + i] = v;
            if (AHEAD != 0) ahead[ahead_at + c * plane + i] = v + extrapolation * (r - v);
        }
    }
}
