#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// dst[y, x] = Σ weight·source[y + dy, x + dx] over taps, in runs whose sums are added up, with the
// source continued beyond its frame. A fold is the adjoint of reflection: a sample adds up all that it
// was continued to.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float src[]; };
layout(binding = 2) readonly buffer Taps { int taps[]; }; // dy, dx, and the weight's bits
layout(push_constant) uniform Push { uint dst_at, src_at, taps_at, count, planes, h, w, continuation; int source_h, source_w; uint first, n; };

const uint CIRCULAR = 0, ZERO = 1, REFLECTED = 2, FOLDED = 3;

// sample is the place of i in a row of n, -1 where there is none.
int sample_(int i, int n) {
    if (i >= 0 && i < n) return i;
    if (continuation == ZERO) return -1;
    int period = continuation == CIRCULAR ? n : 2 * n;
    i -= i / period * period; // of i's sign
    if (i < 0) i += period;
    if (i < n) return i;
    return continuation == REFLECTED ? 2 * n - 1 - i : -1;
}

void main() {
    const uint RUN = 32;
    uint flips = continuation == FOLDED ? 4 : 1;
    PLANES(k, planes) {
        uint from = src_at + k * uint(source_h * source_w);
        EACH(j0, n) {
            uint i = first + j0;
            float total = 0;
            for (uint flip = 0; flip < flips; flip++) {
                int y = int(i / w), x = int(i % w);
                if ((flip & 1) != 0) y = 2 * source_h - 1 - y;
                if ((flip & 2) != 0) x = 2 * source_w - 1 - x;
                for (uint t = 0; t < count; t += RUN) {
                    float sum = 0;
                    for (uint j = t; j < min(t + RUN, count); j++) {
                        int v = sample_(y + taps[taps_at + 3 * j], source_h), u = sample_(x + taps[taps_at + 3 * j + 1], source_w);
                        if (v >= 0 && u >= 0) sum = fma(intBitsToFloat(taps[taps_at + 3 * j + 2]), src[from + uint(v * source_w + u)], sum);
                    }
                    total += sum;
                }
            }
            dst[dst_at + k * h * w + i] = total;
        }
    }
}
