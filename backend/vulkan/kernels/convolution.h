// What convolution kernels have in common: their arguments, and what follows a sum. A thread has eight
// outputs of a pixel, in two vectors.
#include "ball.h"

// After a sum: a layer, σ(sum + bias), or an addition, beta·start + scale·sum.
layout(constant_id = 0) const uint ADDS = 0;
// Channels of a vector that a layer projects onto a ball: 1, 2, 4 or 8; 0 for none.
layout(constant_id = 1) const uint BALL = 0;

#ifdef HALF
// Whether a word of the source is two channels in half precision, and whether one of the result is. A number
// of a source in float32 is rounded where it is read.
layout(constant_id = 5) const uint FROM_PAIRS = 0;
layout(constant_id = 6) const uint TO_PAIRS = 0;
layout(binding = 0) writeonly buffer Dst { uint dst[]; };
layout(binding = 1) readonly buffer Src { uint src[]; };
layout(binding = 2) readonly buffer Weights { uvec2 weights[]; }; // of four outputs
#define NUMBER(v) floatBitsToUint(v)
#else
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float src[]; };
layout(binding = 2) readonly buffer Weights { vec4 weights[]; };
#define NUMBER(v) v
#endif
layout(binding = 3) readonly buffer Bias { float bias[]; };     // of a layer that has one
layout(binding = 4) readonly buffer Radius { float radius[]; }; // of a layer with balls
layout(binding = 5) readonly buffer Start { float start[]; };   // of an addition whose beta is not 0

layout(push_constant) uniform Push {
    uint dst_at, dst_plane, dst_pitch;
    uint src_at, src_plane, src_pitch;
    uint start_at, start_plane, start_pitch;
    uint radius_at, radius_plane, radius_pitch, radius_step; // a vector has plane 1, pitch and step 0
    uint bias_at, has_bias;
    uint channels;       // of the source; those of the filter beyond meet zeros
    uint known;          // channels of start; those beyond are zero
    uint outputs, padded;
    int height, width;   // of the source
    int y0, x0;          // of the source's pixels, the first of the result
    uint rows, columns;  // of the result
    uint first_row;      // of this dispatch, so that none takes long
    uint kh, kw;
    float beta, scale;
    float slope;
};

// finish puts eight outputs, from o on, of pixel (y, x) of the result to their places. What it reads beyond
// the outputs is the last of them.
void finish(vec4 a, vec4 b, uint o, uint y, uint x) {
    float v[8] = float[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
    if (o >= outputs) return;
    uint to = dst_at + o * dst_plane + y * dst_pitch + x;
    if (ADDS != 0) {
        float from[8] = float[8](0, 0, 0, 0, 0, 0, 0, 0);
        if (beta != 0.0 && o < known) {
            [[unroll]] for (uint k = 0; k < 8; k++) from[k] = start[start_at + min(o + k, known - 1) * start_plane + y * start_pitch + x];
        }
        [[unroll]] for (uint k = 0; k < 8; k++) {
            float s = scale * v[k];
            v[k] = beta != 0.0 && o + k < known ? fma(beta, from[k], s) : s;
        }
    } else {
        if (has_bias != 0) {
            [[unroll]] for (uint k = 0; k < 8; k++) v[k] += bias[bias_at + min(o + k, outputs - 1)];
        }
        [[unroll]] for (uint k = 0; k < 8; k++) v[k] = v[k] < 0.0 ? v[k] * slope : v[k];
        if (BALL != 0) {
            [[unroll]] for (uint g = 0; g < 8; g += max(BALL, 1)) {
                float squares = 0;
                [[unroll]] for (uint k = 0; k < BALL; k++) squares = fma(v[g + k], v[g + k], squares);
                float r = radius[radius_at + min(o + g, outputs - 1) / max(BALL, 1) * radius_plane + y * radius_pitch + x * radius_step];
                float s = ball_scale(squares, r);
                [[unroll]] for (uint k = 0; k < BALL; k++) v[g + k] = s == 1.0 ? v[g + k] : v[g + k] * s;
            }
        }
    }
#ifdef HALF
    if (TO_PAIRS != 0) {
        to = dst_at + o / 2 * dst_plane + y * dst_pitch + x;
        [[unroll]] for (uint k = 0; k < 4; k++) {
            if (o + 2 * k < outputs) dst[to + k * dst_plane] = packHalf2x16(vec2(v[2 * k], v[2 * k + 1]));
        }
        return;
    }
#endif
    if (o + 8 <= outputs) {
        [[unroll]] for (uint k = 0; k < 8; k++) dst[to + k * dst_plane] = NUMBER(v[k]);
    } else {
        [[unroll]] for (uint k = 0; k < 8; k++) {
            if (o + k < outputs) dst[to + k * dst_plane] = NUMBER(v[k]);
        }
    }
}
