#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : enable
// A 3×3 convolution by Winograd's F(2×2, 3×3): of 4×4 pixels under a tile of 2×2 results 16 sums are
// made, whose products over channels are those of 16 matrices, and of these the results (Lavin and
// Gray, arXiv 1509.09308). That takes 16 products for the 36 of direct sums.
//
// A workgroup has TILES tiles, eight in a row, and OUTPUTS outputs. CHUNK channels of sums and of the
// transformed filter are in shared memory at a time. A thread has eight tiles and eight outputs of one of
// the 16 matrices. In the end PART of its tiles at a time go through shared memory to threads that have
// a pixel with eight outputs each.
//
// Tiles lie at even pixels of the source. A result depends on the 3×3 pixels around it alone: the other
// rows and columns of a tile meet none of its sums.
layout(constant_id = 2) const uint TILES = 32;
layout(constant_id = 3) const uint OUTPUTS = 32;
layout(constant_id = 4) const uint CHUNK = 8;
layout(constant_id = 5) const uint PART = 4;
layout(local_size_x_id = 6) in;
#include "convolution.h"

const uint TILE_ROWS = TILES / 8, BLOCKS = OUTPUTS / 8, THREADS = 16 * TILE_ROWS * BLOCKS;
const uint SLOTS = TILE_ROWS * PART; // tiles that go through shared memory at a time
const uint SUMS = CHUNK * 16 * TILES / 4, FILTERS = CHUNK * 16 * OUTPUTS / 4, ENDS = 16 * SLOTS * OUTPUTS / 4;
const uint READS = FILTERS / THREADS, STEP = THREADS / (OUTPUTS / 4); // of filters, by a thread
const uint TRANSFORMS = (CHUNK * TILES + THREADS - 1) / THREADS; // of a thread
shared vec4 shared_[SUMS + FILTERS > ENDS ? SUMS + FILTERS : ENDS];

// place is where the numbers of a slot lie: threads that are beside each other meet different banks.
uint place(uint point, uint four, uint slot) {
    return (point * (OUTPUTS / 4) + four) * SLOTS + (slot ^ (four / 2 & 3) ^ ((point & 1) << 2));
}

void main() {
    uint thread = gl_LocalInvocationID.x;
    uint odd_y = uint(y0) & 1, odd_x = uint(x0) & 1;
    uint across = (columns + odd_x + 15) / 16;
    uint left = gl_WorkGroupID.x % across * 16, top = first_row + gl_WorkGroupID.x / across * (2 * TILE_ROWS);
    uint group = gl_WorkGroupID.y * OUTPUTS;
    int sy = y0 - int(odd_y) + int(top) - 1, sx = x0 - int(odd_x) + int(left) - 1;
    bool inside = sy >= 0 && sx >= 0 && sy + int(2 * TILE_ROWS) + 2 <= height && sx + 18 <= width;

    uint point = thread / (TILE_ROWS * BLOCKS), row = thread / BLOCKS % TILE_ROWS, block = thread % BLOCKS;
    vec4 a[8], b[8];
    [[unroll]] for (uint j = 0; j < 8; j++) a[j] = vec4(0), b[j] = vec4(0);

    for (uint c = 0; c < channels; c += CHUNK) {
        // All reads are under way before one is waited for; those outside go to a number that is there.
        vec4 w[READS];
        uint p = thread / (OUTPUTS / 4), at = ((c * 16 + p) * padded + group) / 4 + thread % (OUTPUTS / 4); // p counts channels and points
        if (c + CHUNK <= channels) {
            [[unroll]] for (uint j = 0; j < READS; j++) w[j] = weights[at + j * STEP * (padded / 4)];
        } else {
            [[unroll]] for (uint j = 0; j < READS; j++) {
                bool known = c + (p + j * STEP) / 16 < channels;
                w[j] = mix(vec4(0), weights[mix(0, at + j * STEP * (padded / 4), known)], bvec4(known));
            }
        }
        float d[TRANSFORMS][4][4];
        [[unroll]] for (uint j = 0; j < TRANSFORMS; j++) {
            uint i = thread + j * THREADS, k = i / TILES, t = i % TILES;
            int y = sy + 2 * int(t / 8), x = sx + 2 * int(t % 8);
            uint from = src_at + (c + k) * src_plane + uint(y) * src_pitch + uint(x);
            if (inside && c + CHUNK <= channels) {
                [[unroll]] for (uint r = 0; r < 4; r++) {
                    [[unroll]] for (uint s = 0; s < 4; s++) d[j][r][s] = src[from + r * src_pitch + s];
                }
            } else {
                [[unroll]] for (uint r = 0; r < 4; r++) {
                    bool in_rows = all(bvec2(c + k < channels, uint(y) + r < uint(height)));
                    [[unroll]] for (uint s = 0; s < 4; s++) {
                        bool there = all(bvec2(in_rows, uint(x) + s < uint(width)));
                        d[j][r][s] = mix(0.0, src[mix(src_at, from + r * src_pitch + s, there)], there);
                    }
                }
            }
        }
        barrier();
        [[unroll]] for (uint j = 0; j < READS; j++) shared_[SUMS + thread + j * THREADS] = w[j];
        [[unroll]] for (uint j = 0; j < TRANSFORMS; j++) {
            uint i = thread + j * THREADS, t = i % TILES;
            [[unroll]] for (uint s = 0; s < 4; s++) {
                float e0 = d[j][0][s] - d[j][2][s], e1 = d[j][1][s] + d[j][2][s], e2 = d[j][2][s] - d[j][1][s], e3 = d[j][1][s] - d[j][3][s];
                d[j][0][s] = e0, d[j][1][s] = e1, d[j][2][s] = e2, d[j][3][s] = e3;
            }
            uint to = i / TILES * 16 * (TILES / 4) + t / 4, part = t % 4;
            if (CHUNK * TILES >= THREADS || i < CHUNK * TILES) {
                [[unroll]] for (uint r = 0; r < 4; r++) {
                    shared_[to + (4 * r + 0) * (TILES / 4)][part] = d[j][r][0] - d[j][r][2];
                    shared_[to + (4 * r + 1) * (TILES / 4)][part] = d[j][r][1] + d[j][r][2];
                    shared_[to + (4 * r + 2) * (TILES / 4)][part] = d[j][r][2] - d[j][r][1];
                    shared_[to + (4 * r + 3) * (TILES / 4)][part] = d[j][r][1] - d[j][r][3];
                }
            }
        }
        barrier();
        uint v = point * (TILES / 4) + row * 2, u = SUMS + point * (OUTPUTS / 4) + block * 2;
        [[unroll]] for (uint k = 0; k < CHUNK; k++) {
            vec4 v0 = shared_[v], v1 = shared_[v + 1], ua = shared_[u], ub = shared_[u + 1];
            v += 16 * (TILES / 4), u += 16 * (OUTPUTS / 4);
            [[unroll]] for (uint j = 0; j < 4; j++) {
                a[j] += v0[j] * ua, b[j] += v0[j] * ub;
                a[j + 4] += v1[j] * ua, b[j + 4] += v1[j] * ub;
            }
        }
    }

    // The thread's pixel in each part: (up, aside) of tile `slot`, with eight outputs.
    uint aside = thread % 2, in_row = thread / 2 % PART, up = thread / (2 * PART) % 2;
    uint line = thread / (4 * PART) % TILE_ROWS, eight = thread / (4 * PART * TILE_ROWS);
    float sign_y = up == 0 ? 1.0 : -1.0, sign_x = aside == 0 ? 1.0 : -1.0;
    [[unroll]] for (uint j = 0; j < 8; j += PART) {
        barrier();
        [[unroll]] for (uint i = 0; i < PART; i++) {
            shared_[place(point, 2 * block, row * PART + i)] = a[j + i];
            shared_[place(point, 2 * block + 1, row * PART + i)] = b[j + i];
        }
        barrier();
        if (eight < BLOCKS) {
            vec4 first = vec4(0), second = vec4(0);
            // The places of points in even and odd columns, from which the others are at known distances.
            const uint POINT = OUTPUTS / 4 * SLOTS;
            uint even = place(up * 4 + aside, 2 * eight, line * PART + in_row);
            uint odd = place(up * 4 + aside + 1, 2 * eight, line * PART + in_row) - POINT;
            [[unroll]] for (uint r = 0; r < 3; r++) {
                vec4 f = vec4(0), s = vec4(0);
                [[unroll]] for (uint q = 0; q < 3; q++) {
                    uint from = (q == 1 ? odd : even) + (4 * r + q) * POINT;
                    vec4 m = shared_[from], n = shared_[from + SLOTS];
                    f += q == 0 ? m : sign_x * m, s += q == 0 ? n : sign_x * n;
                }
                first += r == 0 ? f : sign_y * f, second += r == 0 ? s : sign_y * s;
            }
            uint y = top + 2 * line + up - odd_y, x = left + 2 * (j + in_row) + aside - odd_x; // huge where negative
            if (y < rows && x < columns) finish(first, second, group + 8 * eight, y, x);
        }
    }
}
