#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// dst = min(max(src, lo), hi). Comparisons are false for NaN, and what is inside stays as its bits are.
layout(binding = 0) writeonly buffer Dst { uint dst[]; };
layout(binding = 1) readonly buffer Src { uint src[]; };
layout(push_constant) uniform Push { uint n, dst_at, src_at; float lo, hi; };

void main() {
    EACH(i, n) {
        uint bits = src[src_at + i];
        float v = uintBitsToFloat(bits);
        if (v <= lo) bits = floatBitsToUint(lo);
        if (v >= hi) bits = floatBitsToUint(hi);
        dst[dst_at + i] = bits;
    }
}
