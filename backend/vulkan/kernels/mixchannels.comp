#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// dst[n,i] = Σⱼ m[i·columns+j]·src[n,j] for up to 16 rows and columns. A thread has read all channels
// of its pixel before it writes any, so that dst may be src.
layout(binding = 0) writeonly buffer Dst { float dst[]; };
layout(binding = 1) readonly buffer Src { float src[]; };
layout(binding = 2) readonly buffer Matrix { float m[]; };
layout(push_constant) uniform Push { uint dst_at, src_at, matrix_at, rows, columns, plane, images; };

void main() {
    PLANES(n, images) {
        uint from = src_at + n * columns * plane, to = dst_at + n * rows * plane;
        EACH(i, plane) {
            float v[16];
            for (uint j = 0; j < columns; j++) v[j] = src[from + j * plane + i];
            for (uint k = 0; k < rows; k++) {
                float sum = m[matrix_at + k * columns] * v[0];
                for (uint j = 1; j < columns; j++) sum += m[matrix_at + k * columns + j] * v[j];
                dst[to + k * plane + i] = sum;
            }
        }
    }
}
