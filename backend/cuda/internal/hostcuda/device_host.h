// The host side of kernels/device.h: the same names as ../kernels/device_ptx.h, which
// says what each does, for a C++17 compiler of the host. What waits for other threads of a
// block is in emulator.cpp.
#ifndef AVERAGED_IMAGING_DEVICE_HOST_H
#define AVERAGED_IMAGING_DEVICE_HOST_H

#include "host.h"

#include <type_traits>
#include <utility>

#define KERNEL static void
#define DEVICE static inline __attribute__((always_inline, unused))
#define LAUNCH_BOUNDS(threads, blocks)
#define SHARED(type, name, n) type *const name = static_cast<type *>(host::shared((n) * sizeof(type)))
#define SHARED2(type, name, rows, columns) \
    type(*const name)[columns] = static_cast<type(*)[columns]>(host::shared((rows) * (columns) * sizeof(type)))
#define DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(host::dynamic_shared())
#define UNROLL

#define threadIdx (host::thread)
#define blockIdx (host::block)
#define blockDim (host::block_size)
#define gridDim (host::grid_size)
#define __syncthreads() host::barrier(__LINE__)

namespace host {

// aligned ends the run if an address outside the thread's own memory is no multiple of the
// type's size.
template <class T> DEVICE void aligned(const void *p) {
    if (__builtin_expect(reinterpret_cast<std::uintptr_t>(p) % sizeof(T) != 0, false)) misaligned(p);
}

DEVICE int lane() { return (int)((thread.x + block_size.x * (thread.y + block_size.y * thread.z)) % 32); }

template <class T> DEVICE T from_lane(T v, int lane) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
    Exchange e{0, 0, lane};
    __builtin_memcpy(&e.value, &v, sizeof(T));
    together(exchange, &e);
    __builtin_memcpy(&v, &e.result, sizeof(T));
    return v;
}

template <class T> DEVICE T argument(std::uint64_t slot) {
    static_assert(std::is_pointer<T>::value || std::is_arithmetic<T>::value, "arguments are pointers or numbers");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "arguments have 4 or 8 bytes");
    T v;
    __builtin_memcpy(&v, &slot, sizeof(T));
    return v;
}

template <auto f> struct Caller;
template <class... A, void (*f)(A...)> struct Caller<f> {
    static constexpr unsigned char sizes[] = {sizeof(A)..., 0};
    static constexpr int count = sizeof...(A);
    template <std::size_t... i> static void with(const std::uint64_t *slots, std::index_sequence<i...>) {
        (void)slots;
        f(argument<A>(slots[i])...);
    }
    static void call(const std::uint64_t *slots) { with(slots, std::index_sequence_for<A...>{}); }
};

} // namespace host

// Tells the fake driver of a kernel of the file; build.sh writes one for each.
#define HOST_KERNEL(f) \
    static const bool added_##f = host::add({#f, DEVICE_ARCH, host::Caller<f>::call, host::Caller<f>::count, host::Caller<f>::sizes});

// Vectors look whether their addresses are multiples of their size when they are copied,
// as they are when they are loaded or stored: the GPU insists on it, the host would not.
#define HOST_VECTOR2(name, T)                                          \
    struct name {                                                      \
        T x, y;                                                        \
        name() = default;                                              \
        name(T x, T y) : x(x), y(y) {}                                 \
        name(const name &o) : x(o.x), y(o.y) { host::aligned<name>(&o); } \
        name &operator=(const name &o) {                               \
            host::aligned<name>(&o);                                   \
            host::aligned<name>(this);                                 \
            x = o.x, y = o.y;                                          \
            return *this;                                              \
        }                                                              \
    };
#define HOST_VECTOR4(name, T)                                                            \
    struct name {                                                                        \
        T x, y, z, w;                                                                    \
        name() = default;                                                                \
        name(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}                             \
        name(const name &o) : x(o.x), y(o.y), z(o.z), w(o.w) { host::aligned<name>(&o); } \
        name &operator=(const name &o) {                                                 \
            host::aligned<name>(&o);                                                     \
            host::aligned<name>(this);                                                   \
            x = o.x, y = o.y, z = o.z, w = o.w;                                          \
            return *this;                                                                \
        }                                                                                \
    };
HOST_VECTOR2(float2, float)
HOST_VECTOR4(float4, float)
HOST_VECTOR2(int2, int)
HOST_VECTOR4(int4, int)
HOST_VECTOR2(uint2, unsigned)
HOST_VECTOR4(uint4, unsigned)
HOST_VECTOR2(double2, double)
#undef HOST_VECTOR2
#undef HOST_VECTOR4

DEVICE void __syncwarp() {
    char none;
    host::together(host::nothing, &none);
}
DEVICE void __threadfence() {}

template <class T> DEVICE T __shfl_xor_sync(unsigned, T v, int lanes) { return host::from_lane(v, host::lane() ^ lanes); }
template <class T> DEVICE T __shfl_down_sync(unsigned, T v, unsigned delta) { return host::from_lane(v, host::lane() + (int)delta); }
template <class T> DEVICE T __shfl_up_sync(unsigned, T v, unsigned delta) { return host::from_lane(v, host::lane() - (int)delta); }
template <class T> DEVICE T __shfl_sync(unsigned, T v, int lane) { return host::from_lane(v, lane & 31); }

DEVICE int atomicAdd(int *p, int v) { int old = *p; *p = (int)((unsigned)old + (unsigned)v); return old; }
DEVICE unsigned atomicAdd(unsigned *p, unsigned v) { unsigned old = *p; *p = old + v; return old; }

template <class T> DEVICE T __ldg(const T *p) { return *p; }

DEVICE float sqrtf(float a) { return __builtin_sqrtf(a); }
DEVICE double sqrt(double a) { return __builtin_sqrt(a); }
DEVICE float floorf(float a) { return __builtin_floorf(a); }
DEVICE double floor(double a) { return __builtin_floor(a); }
// Off by a unit in the last place, as a GPU's may be by two.
DEVICE float rsqrtf(float a) { return __builtin_nextafterf((float)(1 / __builtin_sqrt((double)a)), 0); }
DEVICE float exp2_approx(float a) { return __builtin_exp2f(a); }

DEVICE float half_to_float(uint16 h) { return host::half_to_float(h); }
DEVICE uint16 float_to_half(float a) { return host::float_to_half(a); }

#if DEVICE_ARCH >= 80

DEVICE unsigned pack_half2(float lo, float hi) { return (unsigned)host::float_to_half(lo) | (unsigned)host::float_to_half(hi) << 16; }
DEVICE unsigned pack_bfloat2(float lo, float hi) {
    return (unsigned)host::float_to_bfloat16(lo) | (unsigned)host::float_to_bfloat16(hi) << 16;
}
DEVICE unsigned float_to_tf32(float a) { return host::float_to_tf32(a); }
DEVICE void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    host::Product p{d, a, b};
    host::together(host::product_tf32, &p);
}
DEVICE void mma_m16n8k8_tf32_from_zero(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    for (float &v : d) v = 0;
    mma_m16n8k8_tf32(d, a, b);
}
DEVICE void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    host::Product p{d, a, b};
    host::together(host::product_f16, &p);
}
DEVICE void mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    host::Product p{d, a, b};
    host::together(host::product_bf16, &p);
}
DEVICE void ldmatrix_x4(unsigned (&r)[4], const void *row) {
    host::Matrices m{r, row};
    host::together(host::matrices, &m);
}
DEVICE void ldmatrix_x4_transposed(unsigned (&r)[4], const void *row) {
    host::Matrices m{r, row};
    host::together(host::matrices_transposed, &m);
}

DEVICE void cp_async_4(void *shared, const void *global) { host::copy_async(shared, global, 4, 4); }
DEVICE void cp_async_8(void *shared, const void *global) { host::copy_async(shared, global, 8, 8); }
DEVICE void cp_async_16(void *shared, const void *global) { host::copy_async(shared, global, 16, 16); }
DEVICE void cp_async_4(void *shared, const void *global, unsigned bytes) { host::copy_async(shared, global, 4, bytes); }
DEVICE void cp_async_8(void *shared, const void *global, unsigned bytes) { host::copy_async(shared, global, 8, bytes); }
DEVICE void cp_async_16(void *shared, const void *global, unsigned bytes) { host::copy_async(shared, global, 16, bytes); }
DEVICE unsigned fresh(unsigned v) { return v; }
DEVICE int64 fresh(int64 v) { return v; }
DEVICE void prefetch_l2(const void *) {}
DEVICE void cp_async_commit() { host::copy_commit(); }
template <int groups> DEVICE void cp_async_wait() { host::copy_wait(groups); }

#endif
#endif
