// What a kernel may use, for clang's device mode, which makes PTX of it without any
// NVIDIA header, and for a host compiler, which makes of the same sources the fake
// driver of the tests (../internal/hostcuda).
//
// A kernel is written
//
//     KERNEL LAUNCH_BOUNDS(256, 2) scale(float *__restrict__ x, float a, int n) {
//         SHARED(float, tile, 256);
//         …
//     }
//
// Its arguments are pointers, int, unsigned, long long, float or double, never structs:
// each takes a slot of 8 bytes in a launch. Memory shared by a block is declared by
// SHARED, SHARED2 and DYNAMIC_SHARED at the top of a kernel, in every thread alike.
// Functions called by kernels are DEVICE functions, and templates are welcome there.
// There is no library: no printf, no new, no expf; no variables outside functions but
// constexpr ones.
//
// What concerns a whole warp (shuffles, matrix products, ldmatrix) must be reached by all
// 32 threads of it together, what concerns a block (__syncthreads) by all threads of the
// block that have not returned. The fake driver reports it if they do not.
//
// a*b+c is never fused by the compiler, on either side: write fma where one is wanted.
// Division and square roots round correctly, and subnormal numbers are kept.
#ifndef AVERAGED_IMAGING_DEVICE_H
#define AVERAGED_IMAGING_DEVICE_H

typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef long long int64;

constexpr int WARP = 32;
constexpr unsigned FULL_MASK = 0xffffffffu;

#if defined(__CUDA__)
// The compute capability that this PTX is for, times ten: 70 or 80. Kernels that need
// tensor cores by mma, cp.async or ldmatrix stand inside #if DEVICE_ARCH >= 80.
#define DEVICE_ARCH (__CUDA_ARCH__ / 10)
#include "device_ptx.h"
#else
// The fake driver is compiled once for each architecture, with DEVICE_ARCH given.
#include "device_host.h"
#endif

// ------------------------------------------------------------------ on both sides

DEVICE float2 make_float2(float x, float y) { return float2{x, y}; }
DEVICE float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
DEVICE uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
DEVICE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{x, y, z, w}; }

// The smaller and the larger; of NaN and a number, the number.
DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
DEVICE float fabsf(float a) { return __builtin_fabsf(a); }
DEVICE double fabs(double a) { return __builtin_fabs(a); }
DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
DEVICE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
DEVICE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }

// a*b+c rounded once.
DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

DEVICE unsigned __float_as_uint(float a) { unsigned r; __builtin_memcpy(&r, &a, 4); return r; }
DEVICE int __float_as_int(float a) { int r; __builtin_memcpy(&r, &a, 4); return r; }
DEVICE float __uint_as_float(unsigned a) { float r; __builtin_memcpy(&r, &a, 4); return r; }
DEVICE float __int_as_float(int a) { float r; __builtin_memcpy(&r, &a, 4); return r; }
DEVICE uint64 __double_as_ulonglong(double a) { uint64 r; __builtin_memcpy(&r, &a, 8); return r; }
DEVICE double __ulonglong_as_double(uint64 a) { double r; __builtin_memcpy(&r, &a, 8); return r; }

// The two halves of a packed pair: lo in bits 0 to 15.
DEVICE float half2_lo(unsigned pair) { return half_to_float((uint16)(pair & 0xffff)); }
DEVICE float half2_hi(unsigned pair) { return half_to_float((uint16)(pair >> 16)); }

// The sum over the lanes of a warp, in every lane, in one fixed order.
template <class T> DEVICE T warp_sum(T v) {
    for (int step = WARP / 2; step > 0; step /= 2) v += __shfl_xor_sync(FULL_MASK, v, step);
    return v;
}

#endif
