#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : enable
// A 3×3 convolution. A workgroup has a tile of pixels and 8·BLOCKS outputs, a thread four pixels of a
// row and eight outputs. CHUNK channels of the tile with its margin, and of the filter, are in shared
// memory at a time; a sum is made channel after channel, and in each of them tap after tap, wherever
// the pixel lies.
layout(constant_id = 2) const uint BLOCKS = 4;
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;
#include "convolution.h"

const uint CHUNK = 4, COLUMNS = 32;
const uint THREADS = 256 / BLOCKS;     // on the pixels of a tile
const uint ROWS = THREADS / 8;         // of a tile
const uint PITCH = COLUMNS + 5;        // of the patch; odd, so that the rows of a warp meet different banks
const uint PLANE = (ROWS + 2) * PITCH;
shared float patch_[CHUNK * PLANE];
shared vec4 taps[CHUNK * 9 * 2 * BLOCKS];

void main() {
    uint thread = gl_LocalInvocationID.x, block = thread / THREADS, pixel = thread % THREADS;
    uint tx = pixel % 8 * 4, ty = pixel / 8;
    uint across = (columns + COLUMNS - 1) / COLUMNS;
    uint left = gl_WorkGroupID.x % across * COLUMNS, top = first_row + gl_WorkGroupID.x / across * ROWS;
    uint group = gl_WorkGroupID.y * 8 * BLOCKS; // the first output
    int sy = y0 + int(top) - 1, sx = x0 + int(left) - 1;

    vec4 a[4], b[4];
    [[unroll]] for (uint j = 0; j < 4; j++) a[j] = vec4(0), b[j] = vec4(0);
    for (uint c = 0; c < channels; c += CHUNK) {
        barrier();
        for (uint i = thread; i < CHUNK * (ROWS + 2) * (COLUMNS + 2); i += 256) {
            uint k = i / ((ROWS + 2) * (COLUMNS + 2)), p = i % ((ROWS + 2) * (COLUMNS + 2));
            uint py = p / (COLUMNS + 2), px = p % (COLUMNS + 2);
            int y = sy + int(py), x = sx + int(px);
            bool there = c + k < channels && y >= 0 && y < height && x >= 0 && x < width;
            patch_[k * PLANE + py * PITCH + px] = there ? src[src_at + (c + k) * src_plane + uint(y) * src_pitch + uint(x)] : 0.0;
        }
        for (uint i = thread; i < CHUNK * 9 * 2 * BLOCKS; i += 256) {
            uint tap = i / (2 * BLOCKS), o = i % (2 * BLOCKS);
            taps[i] = c + tap / 9 < channels ? weights[((c * 9 + tap) * padded + group) / 4 + o] : vec4(0);
        }
        barrier();
        for (uint k = 0; k < CHUNK; k++) {
            uint at = k * PLANE + ty * PITCH + tx, w = k * 9 * 2 * BLOCKS + 2 * block;
            [[unroll]] for (uint r = 0; r < 3; r++) {
                float v[6];
                [[unroll]] for (uint j = 0; j < 6; j++) v[j] = patch_[at + r * PITCH + j];
                [[unroll]] for (uint s = 0; s < 3; s++) {
                    vec4 wa = taps[w + (r * 3 + s) * 2 * BLOCKS], wb = taps[w + (r * 3 + s) * 2 * BLOCKS + 1];
                    [[unroll]] for (uint j = 0; j < 4; j++) a[j] += wa * v[j + s], b[j] += wb * v[j + s];
                }
            }
        }
    }
    uint y = top + ty;
    [[unroll]] for (uint j = 0; j < 4; j++) {
        uint x = left + tx + j;
        if (y < rows && x < columns) finish(a[j], b[j], group + 8 * block, y, x);
    }
}
