// How kernels that go through arrays element by element, or pixel by pixel, share them out,
// and how a block adds up.
#ifndef AVERAGED_IMAGING_ELEMENTS_H
#define AVERAGED_IMAGING_ELEMENTS_H

#include "device.h"
#include "loops.h"

// Threads of a block in all kernels of this kind.
constexpr int BLOCK = 256;

// Each thread has so many elements, a block's width apart: neighbouring threads read
// neighbouring elements, and several loads are under way at a time.
constexpr int PER_THREAD = 4;

// Calls f(i) for the elements i < n of this thread. The grid has n/(PER_THREAD·BLOCK)
// blocks, rounded up, in x.
template <class F> DEVICE void each_element(int64 n, F f) {
    int64 first = (int64)blockIdx.x * (PER_THREAD * BLOCK) + threadIdx.x;
    UNROLL for (int k = 0; k < PER_THREAD; k++) {
        int64 i = first + k * BLOCK;
        if (i < n) f(i);
    }
}

// The same one after the other, where f is long and has several loads of its own.
template <class F> DEVICE void one_by_one(int64 n, F f) {
    int64 first = (int64)blockIdx.x * (PER_THREAD * BLOCK) + threadIdx.x;
    ROLLED for (int k = 0; k < PER_THREAD; k++) {
        int64 i = first + k * BLOCK;
        if (i < n) f(i);
    }
}

// The sum over a block of BLOCK threads, in every thread, in an order that is always the
// same. part has BLOCK/WARP elements; a second call needs a barrier before it.
DEVICE double block_sum(double v, double *part) {
    v = warp_sum(v);
    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = v;
    __syncthreads();
    double sum = 0;
    UNROLL for (int w = 0; w < BLOCK / WARP; w++) sum += part[w];
    return sum;
}

#endif
