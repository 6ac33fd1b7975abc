// A convolution with a filter of SIZE×SIZE taps, 1 or 3. A workgroup has a tile of pixels and 8·BLOCKS
// outputs, a thread PIXELS of a row and eight outputs. CHUNK channels of the tile with its margin, and of
// the filter, are in shared memory at a time; a sum is made channel after channel, and in each of them tap
// after tap, wherever the pixel lies. With HALF the factors are in half precision, and sums in float32.
layout(constant_id = 2) const uint BLOCKS = 4;
layout(constant_id = 3) const uint SIZE = 3;
layout(constant_id = 4) const uint CHUNK = 4;
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;
#include "convolution.h"

const uint COLUMNS = 32, PIXELS = 4, TAPS = SIZE * SIZE, VECTORS = 2 * BLOCKS;
const uint THREADS = 256 / BLOCKS;         // on the pixels of a tile
const uint ROWS = THREADS * PIXELS / 32;   // of a tile
const uint TALL = ROWS + SIZE - 1, BROAD = COLUMNS + SIZE - 1;
const uint PITCH = COLUMNS + 5;            // of the patch; odd, so that the rows of a warp meet different banks
const uint PLANE = TALL * PITCH;
#ifdef HALF
const uint TOGETHER = FROM_PAIRS != 0 ? 2 : 1; // channels of a word of the source
const uint NUMBERS = (CHUNK / TOGETHER * TALL * BROAD + 255) / 256, FILTERS = (CHUNK * TAPS * VECTORS + 255) / 256; // that a thread reads
#else
const uint NUMBERS = (CHUNK * TALL * BROAD + 255) / 256, FILTERS = (CHUNK * TAPS * VECTORS + 255) / 256; // that a thread reads
#endif
shared float patch_[CHUNK * PLANE];
shared vec4 taps[CHUNK * TAPS * VECTORS];

void main() {
    uint thread = gl_LocalInvocationID.x, block = thread / THREADS, pixel = thread % THREADS;
    uint tx = pixel % (32 / PIXELS) * PIXELS, ty = pixel / (32 / PIXELS);
    uint across = (columns + COLUMNS - 1) / COLUMNS;
    uint left = gl_WorkGroupID.x % across * COLUMNS, top = first_row + gl_WorkGroupID.x / across * ROWS;
    uint group = gl_WorkGroupID.y * 8 * BLOCKS; // the first output
    int sy = y0 + int(top) - int(SIZE / 2), sx = x0 + int(left) - int(SIZE / 2);

    vec4 a[PIXELS], b[PIXELS];
    [[unroll]] for (uint j = 0; j < PIXELS; j++) a[j] = vec4(0), b[j] = vec4(0);
    for (uint c = 0; c < channels; c += CHUNK) {
        // All reads are under way before one is waited for; those outside go to a number that is there.
#ifdef HALF
        uint held[NUMBERS];
        [[unroll]] for (uint j = 0; j < NUMBERS; j++) {
            uint i = thread + j * 256, k = i / (TALL * BROAD), p = i % (TALL * BROAD);
            uint y = uint(sy) + p / BROAD, x = uint(sx) + p % BROAD;
            bool there = all(bvec4(k < CHUNK / TOGETHER, c + TOGETHER * k < channels, y < uint(height), x < uint(width)));
            held[j] = mix(0, src[mix(src_at, src_at + (c / TOGETHER + k) * src_plane + y * src_pitch + x, there)], there);
        }
        uvec2 w[FILTERS];
        [[unroll]] for (uint j = 0; j < FILTERS; j++) {
            uint i = thread + j * 256, tap = i / VECTORS, o = i % VECTORS;
            bool known = all(bvec2(tap < CHUNK * TAPS, c + tap / TAPS < channels));
            w[j] = mix(uvec2(0), weights[mix(group / 4, ((c * TAPS + tap) * padded + group) / 4 + o, known)], bvec2(known));
        }
        barrier();
        [[unroll]] for (uint j = 0; j < NUMBERS; j++) {
            uint i = thread + j * 256, k = i / (TALL * BROAD), p = i % (TALL * BROAD);
            uint to = TOGETHER * k * PLANE + p / BROAD * PITCH + p % BROAD;
            if (k < CHUNK / TOGETHER) {
                if (FROM_PAIRS != 0) {
                    vec2 v = unpackHalf2x16(held[j]);
                    patch_[to] = v.x;
                    patch_[to + PLANE] = c + 2 * k + 1 < channels ? v.y : 0.0;
                } else {
                    patch_[to] = unpackHalf2x16(packHalf2x16(vec2(uintBitsToFloat(held[j]), 0))).x;
                }
            }
        }
        [[unroll]] for (uint j = 0; j < FILTERS; j++) {
            uint i = thread + j * 256;
            if (i < CHUNK * TAPS * VECTORS) taps[i] = vec4(unpackHalf2x16(w[j].x), unpackHalf2x16(w[j].y));
        }
#else
        float held[NUMBERS];
        [[unroll]] for (uint j = 0; j < NUMBERS; j++) {
            uint i = thread + j * 256, k = i / (TALL * BROAD), p = i % (TALL * BROAD);
            uint y = uint(sy) + p / BROAD, x = uint(sx) + p % BROAD;
            bool there = all(bvec4(k < CHUNK, c + k < channels, y < uint(height), x < uint(width)));
            held[j] = mix(0.0, src[mix(src_at, src_at + (c + k) * src_plane + y * src_pitch + x, there)], there);
        }
        vec4 w[FILTERS];
        [[unroll]] for (uint j = 0; j < FILTERS; j++) {
            uint i = thread + j * 256, tap = i / VECTORS, o = i % VECTORS;
            bool known = all(bvec2(tap < CHUNK * TAPS, c + tap / TAPS < channels));
            w[j] = mix(vec4(0), weights[mix(group / 4, ((c * TAPS + tap) * padded + group) / 4 + o, known)], bvec4(known));
        }
        barrier();
        [[unroll]] for (uint j = 0; j < NUMBERS; j++) {
            uint i = thread + j * 256, k = i / (TALL * BROAD), p = i % (TALL * BROAD);
            if (k < CHUNK) patch_[k * PLANE + p / BROAD * PITCH + p % BROAD] = held[j];
        }
        [[unroll]] for (uint j = 0; j < FILTERS; j++) {
            uint i = thread + j * 256;
            if (i < CHUNK * TAPS * VECTORS) taps[i] = w[j];
        }
#endif
        barrier();
        for (uint k = 0; k < CHUNK; k++) {
            uint at = k * PLANE + ty * PITCH + tx, w = k * TAPS * VECTORS + 2 * block;
            [[unroll]] for (uint r = 0; r < SIZE; r++) {
                float v[PIXELS + 2];
                [[unroll]] for (uint j = 0; j < PIXELS + SIZE - 1; j++) v[j] = patch_[at + r * PITCH + j];
                [[unroll]] for (uint s = 0; s < SIZE; s++) {
                    vec4 wa = taps[w + (r * SIZE + s) * VECTORS], wb = taps[w + (r * SIZE + s) * VECTORS + 1];
                    [[unroll]] for (uint j = 0; j < PIXELS; j++) a[j] = fma(wa, vec4(v[j + s]), a[j]), b[j] = fma(wb, vec4(v[j + s]), b[j]);
                }
            }
        }
    }
    uint y = top + ty;
    [[unroll]] for (uint j = 0; j < PIXELS; j++) {
        uint x = left + tx + j;
        if (y < rows && x < columns) finish(a[j], b[j], group + 8 * block, y, x);
    }
}
