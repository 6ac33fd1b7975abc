// Kernels for the tests of package driver: one for each thing that a kernel may do, and for
// each mistake that the fake driver must report.
#include "device.h"

KERNEL LAUNCH_BOUNDS(256, 1) saxpy(float *y, const float *x, float a, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}

// One slot for each type of argument.
KERNEL LAUNCH_BOUNDS(32, 1) arguments(double *to, int i, unsigned u, int64 l, float f, double d) {
    if (threadIdx.x != 0) return;
    to[0] = i;
    to[1] = u;
    to[2] = (double)l;
    to[3] = f;
    to[4] = d;
}

// to[b] = the sum of block b's part of x, through static and dynamic shared memory.
KERNEL LAUNCH_BOUNDS(256, 1) block_sum(float *to, const float *x) {
    SHARED(float, half, 256);
    DYNAMIC_SHARED(float, all);
    unsigned i = threadIdx.x;
    all[i] = x[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (i < step) half[i] = all[i] + all[i + step];
        __syncthreads();
        if (i < step) all[i] = half[i];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = all[0];
}

// The values of neighbouring lanes, and the sum of a warp.
KERNEL LAUNCH_BOUNDS(64, 1) lanes(float *to, const float *x) {
    unsigned i = threadIdx.x, n = blockDim.x;
    float v = x[i];
    to[i] = __shfl_xor_sync(FULL_MASK, v, 5);
    to[n + i] = __shfl_down_sync(FULL_MASK, v, 3u);
    to[2 * n + i] = __shfl_up_sync(FULL_MASK, v, 7u);
    to[3 * n + i] = __shfl_sync(FULL_MASK, v, 9);
    to[4 * n + i] = (float)warp_sum((double)v);
}

// Blocks count themselves.
KERNEL LAUNCH_BOUNDS(64, 1) count(unsigned *to) {
    if (threadIdx.x == 0) atomicAdd(to, blockIdx.x + 1);
}

// to[i] = the half nearest to x[i].
KERNEL LAUNCH_BOUNDS(256, 1) halves(float *to, const float *x, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) to[i] = half_to_float(float_to_half(x[i]));
}

// Numbers that must have the same bits on the host.
KERNEL LAUNCH_BOUNDS(256, 1) rounding(float *to, const float *x, const float *y, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float a = x[i], b = y[i];
    to[5 * i] = a * b + a;
    to[5 * i + 1] = a / b;
    to[5 * i + 2] = sqrtf(fabsf(a));
    to[5 * i + 3] = (float)(sqrt(fabs((double)a)) / (double)b);
    to[5 * i + 4] = fmaf(a, b, a);
}

// A reader that does not wait for the writers.
KERNEL LAUNCH_BOUNDS(256, 1) missing_barrier(float *to) {
    SHARED(float, all, 256);
    unsigned i = threadIdx.x;
    all[i] = (float)i;
    if (blockDim.x > 1024) __syncthreads(); // never: it keeps the compiler's hands off the order
    to[i] = all[blockDim.x - 1 - i];
}

// Every block writes to one place.
KERNEL LAUNCH_BOUNDS(256, 1) same_place(float *to) {
    if (threadIdx.x == 0) to[0] = (float)blockIdx.x;
}

// One thread reads what another writes.
KERNEL LAUNCH_BOUNDS(256, 1) reverse(float *to) {
    float v = to[blockDim.x - 1 - threadIdx.x];
    to[threadIdx.x] = v;
}

// It promises that nobody writes, and does.
KERNEL LAUNCH_BOUNDS(256, 1) broken_promise(float *to) {
    float v = __ldg(to + threadIdx.x);
    to[threadIdx.x] = v + 1;
}

// A reader of what nobody has written.
KERNEL LAUNCH_BOUNDS(256, 1) never_written(float *to, int last) {
    SHARED(float, all, 256);
    if ((int)threadIdx.x < last) all[threadIdx.x] = 1;
    __syncthreads();
    to[threadIdx.x] = all[threadIdx.x];
}

KERNEL LAUNCH_BOUNDS(256, 1) divergent_barrier(float *to) {
    if (threadIdx.x % 2 == 0) {
        to[threadIdx.x] = 1;
        __syncthreads();
    } else {
        to[threadIdx.x] = 2;
        __syncthreads();
        to[threadIdx.x] = 3;
    }
}

KERNEL LAUNCH_BOUNDS(64, 1) lonely_lane(float *to, const float *x) {
    float v = x[threadIdx.x];
    if (threadIdx.x != 5) v = __shfl_xor_sync(FULL_MASK, v, 1);
    to[threadIdx.x] = v;
}

KERNEL LAUNCH_BOUNDS(256, 1) write_at(float *to, int64 i) { to[i] = 1; }

KERNEL LAUNCH_BOUNDS(256, 1) read_four(float *to, const float *x, int64 i) {
    float4 v = *reinterpret_cast<const float4 *>(x + i);
    to[0] = v.x + v.y + v.z + v.w;
}

KERNEL LAUNCH_BOUNDS(256, 1) beyond_shared(float *to, int i) {
    DYNAMIC_SHARED(float, all);
    all[i] = 1;
    to[0] = all[0];
}

#if DEVICE_ARCH >= 80

// to[i] = the half nearest to x[i], two at a time.
KERNEL LAUNCH_BOUNDS(256, 1) half_pairs(float *to, const float *x, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n / 2) return;
    unsigned pair = pack_half2(x[2 * i], x[2 * i + 1]);
    to[2 * i] = half2_lo(pair), to[2 * i + 1] = half2_hi(pair);
}

// to = x by way of shared memory; with wait = 0 it is read before it has come.
KERNEL LAUNCH_BOUNDS(64, 1) copy_asynchronously(float *to, const float *x, int wait) {
    SHARED(float, all, 256);
    unsigned i = threadIdx.x;
    cp_async_16(&all[4 * i], &x[4 * i], i % 2 == 0 ? 16 : 8);
    cp_async_commit();
    if (wait) cp_async_wait<0>();
    __syncthreads();
    for (int k = 0; k < 4; k++) to[4 * i + k] = all[(4 * i + k + 4) % 256];
}

// d += a·b with a of 16×8 and b of 8×8, row by row.
KERNEL LAUNCH_BOUNDS(32, 1) multiply_tf32(float *d, const float *a, const float *b) {
    int g = (int)threadIdx.x / 4, t = (int)threadIdx.x % 4;
    unsigned fa[4] = {float_to_tf32(a[g * 8 + t]), float_to_tf32(a[(g + 8) * 8 + t]), float_to_tf32(a[g * 8 + t + 4]), float_to_tf32(a[(g + 8) * 8 + t + 4])};
    unsigned fb[2] = {float_to_tf32(b[t * 8 + g]), float_to_tf32(b[(t + 4) * 8 + g])};
    float *at = d + g * 8 + 2 * t;
    float fd[4] = {at[0], at[1], at[64], at[65]};
    mma_m16n8k8_tf32(fd, fa, fb);
    at[0] = fd[0], at[1] = fd[1], at[64] = fd[2], at[65] = fd[3];
}

// d += a·b with a of 16×16 and b of 16×8, row by row, as halves loaded by ldmatrix: a as it
// lies, b transposed.
KERNEL LAUNCH_BOUNDS(32, 1) multiply_f16(float *d, const float *a, const float *b) {
    SHARED(uint16, sa, 256);
    SHARED(uint16, sb, 256);
    int i = (int)threadIdx.x;
    for (int k = i; k < 256; k += 32) {
        sa[k] = float_to_half(a[k]);
        sb[k] = k % 16 < 8 ? float_to_half(b[k / 16 * 8 + k % 16]) : (uint16)0; // rows of 16
    }
    __syncthreads();
    unsigned fa[4], fb[4];
    // Matrices 0 to 3: rows 0–7 and 8–15 of columns 0–7, then of columns 8–15.
    ldmatrix_x4(fa, &sa[(i % 8 + i / 8 % 2 * 8) * 16 + i / 16 * 8]);
    ldmatrix_x4_transposed(fb, &sb[(i % 8 + i / 8 % 2 * 8) * 16]);
    float *at = d + i / 4 * 8 + i % 4 * 2;
    float fd[4] = {at[0], at[1], at[64], at[65]};
    unsigned two[2] = {fb[0], fb[1]};
    mma_m16n8k16_f16(fd, fa, two);
    at[0] = fd[0], at[1] = fd[1], at[64] = fd[2], at[65] = fd[3];
}

// The same as bfloat16, from the fragments themselves.
KERNEL LAUNCH_BOUNDS(32, 1) multiply_bf16(float *d, const float *a, const float *b) {
    int g = (int)threadIdx.x / 4, t = (int)threadIdx.x % 4;
    unsigned fa[4], fb[2];
    UNROLL for (int k = 0; k < 4; k++) {
        const float *from = a + (g + k % 2 * 8) * 16 + 2 * t + k / 2 * 8;
        fa[k] = pack_bfloat2(from[0], from[1]);
    }
    UNROLL for (int k = 0; k < 2; k++) {
        const float *from = b + (2 * t + 8 * k) * 8 + g;
        fb[k] = pack_bfloat2(from[0], from[8]);
    }
    float *at = d + g * 8 + 2 * t;
    float fd[4] = {at[0], at[1], at[64], at[65]};
    mma_m16n8k16_bf16(fd, fa, fb);
    at[0] = fd[0], at[1] = fd[1], at[64] = fd[2], at[65] = fd[3];
}

#endif
