#version 450
#extension GL_GOOGLE_include_directive : require
#include "array.h"
// dst = x·y, rounded once; dst may be one of them, or both. Many devices take subnormal numbers for
// zero: these are made of integers.
layout(binding = 0) writeonly buffer Dst { uint dst[]; };
layout(binding = 1) readonly buffer X { uint x[]; };
layout(binding = 2) readonly buffer Y { uint y[]; };
layout(push_constant) uniform Push { uint n, dst_at, x_at, y_at; };

const uint ONE = 0x3f800000;

uint exponent(uint a) { return a >> 23 & 255; }

// normalised sets the mantissa of 24 bits and the exponent of a number that is not zero.
void normalised(uint a, out uint mantissa, out int e) {
    mantissa = a & 0x7fffff, e = int(exponent(a));
    if (e == 0) {
        int shift = 23 - findMSB(mantissa);
        mantissa <<= shift, e = 1 - shift;
    } else {
        mantissa |= 0x800000;
    }
}

// small is a product of which a factor or the result may be subnormal.
uint small(uint a, uint b) {
    uint ma, mb, hi, lo, sign = (a ^ b) & 0x80000000;
    int ea, eb;
    normalised(a, ma, ea);
    normalised(b, mb, eb);
    float p = uintBitsToFloat(ma & 0x7fffff | ONE) * uintBitsToFloat(mb & 0x7fffff | ONE);
    int e = int(exponent(floatBitsToUint(p))) + ea + eb - 254;
    if (e >= 1) return sign | (e > 254 ? 0x7f800000 : uint(e) << 23 | floatBitsToUint(p) & 0x7fffff);
    // In units of the smallest number it is ma·mb/2^shift, rounded to even.
    int shift = 151 - ea - eb;
    if (shift > 48) return sign;
    umulExtended(ma, mb, hi, lo);
    if (shift <= 32) { // moved up, so that what is cut off are the lower bits
        hi = shift == 32 ? hi : hi << (32 - shift) | lo >> shift;
        lo = shift == 32 ? lo : lo << (32 - shift);
    } else {
        shift -= 32;
        lo = hi << (32 - shift) | lo >> shift | uint(lo << (32 - shift) != 0);
        hi >>= shift;
    }
    if (lo > 0x80000000 || lo == 0x80000000 && (hi & 1) != 0) hi++;
    return sign | hi;
}

uint product(uint a, uint b) {
    uint ea = exponent(a), eb = exponent(b);
    bool zero = a << 1 == 0 || b << 1 == 0;
    if (!zero && ea < 255 && eb < 255 && (ea == 0 || eb == 0 || ea + eb < 129)) return small(a, b);
    // Infinity times a subnormal number is not infinity times zero.
    if (ea == 0 && a << 1 != 0) a = a & 0x80000000 | ONE;
    if (eb == 0 && b << 1 != 0) b = b & 0x80000000 | ONE;
    float v = uintBitsToFloat(a) * uintBitsToFloat(b);
    return floatBitsToUint(v);
}

void main() {
    EACH(i, n) dst[dst_at + i] = product(x[x_at + i], y[y_at + i]);
}
