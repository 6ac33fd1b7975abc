#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// p ← the projection of p + dual·∇ū onto the balls of radius alpha, over `together` channels at a time:
// 1, or all of them. A thread reads and writes p at its own pixels only.
layout(binding = 0) buffer P { float p[]; };
layout(binding = 1) readonly buffer Ahead { float ahead[]; };
layout(push_constant) uniform Push { uint p_at, ahead_at, channels, together, h, w; float alpha, dual; };

vec2 ascent(uint c, uint i) {
    uint plane = h * w, at = ahead_at + c * plane + i, to = p_at + 2 * c * plane + i;
    float v = ahead[at];
    float down = i / w + 1 < h ? ahead[at + w] - v : 0, right = i % w + 1 < w ? ahead[at + 1] - v : 0;
    return vec2(p[to] + dual * down, p[to + plane] + dual * right);
}

void main() {
    uint plane = h * w;
    PLANES(g, channels / together) {
        EACH(i, plane) {
            float squares = 0;
            for (uint c = g * together; c < (g + 1) * together; c++) {
                vec2 v = ascent(c, i);
                squares += dot(v, v);
            }
            float norm = sqrt(squares);
            float scale = norm > alpha ? alpha / norm : 1;
            for (uint c = g * together; c < (g + 1) * together; c++) {
                vec2 v = ascent(c, i);
                uint to = p_at + 2 * c * plane + i;
                p[to] = v.x * scale;
                p[to + plane] = v.y * scale;
            }
        }
    }
}
