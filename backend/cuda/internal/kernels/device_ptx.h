// The device side of device.h: clang's builtins for NVPTX, and inline PTX where it has
// none. What each function does is said here; device_host.h does the same on the host.

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static inline __attribute__((device, always_inline))
// At most this many threads a block, and room for at least this many blocks on a
// multiprocessor.
#define LAUNCH_BOUNDS(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
// An array of n, or of rows × columns, elements in the memory of the block, aligned to 16.
#define SHARED(type, name, n) __attribute__((shared, aligned(16))) static type name[n]
#define SHARED2(type, name, rows, columns) __attribute__((shared, aligned(16))) static type name[rows][columns]
// The memory that Launch's shared argument gives, aligned to 16, as elements of a type.
#define DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(dynamic_shared_memory)
// Before a loop: lay out all its rounds one after the other.
#define UNROLL _Pragma("unroll")

struct dim3 { unsigned x, y, z; };

// Vectors that are loaded and stored at once: their addresses are multiples of their size.
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) double2 { double x, y; };

extern "C" __attribute__((device, shared, aligned(16))) unsigned char dynamic_shared_memory[];

DEVICE dim3 device_thread() {
    return dim3{(unsigned)__nvvm_read_ptx_sreg_tid_x(), (unsigned)__nvvm_read_ptx_sreg_tid_y(), (unsigned)__nvvm_read_ptx_sreg_tid_z()};
}
DEVICE dim3 device_block() {
    return dim3{(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_ctaid_y(), (unsigned)__nvvm_read_ptx_sreg_ctaid_z()};
}
DEVICE dim3 device_block_size() {
    return dim3{(unsigned)__nvvm_read_ptx_sreg_ntid_x(), (unsigned)__nvvm_read_ptx_sreg_ntid_y(), (unsigned)__nvvm_read_ptx_sreg_ntid_z()};
}
DEVICE dim3 device_grid_size() {
    return dim3{(unsigned)__nvvm_read_ptx_sreg_nctaid_x(), (unsigned)__nvvm_read_ptx_sreg_nctaid_y(), (unsigned)__nvvm_read_ptx_sreg_nctaid_z()};
}
#define threadIdx (device_thread())
#define blockIdx (device_block())
#define blockDim (device_block_size())
#define gridDim (device_grid_size())

// Waits for all threads of the block; what they wrote before is seen after.
DEVICE void device_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() device_barrier()
// The same for the threads of a warp.
DEVICE void __syncwarp() { __nvvm_bar_warp_sync(FULL_MASK); }
// Writes before it are seen by the whole GPU before writes after it.
DEVICE void __threadfence() { __nvvm_membar_gl(); }

// The value of another lane: of lane (own ^ lanes), own + delta, own − delta, or lane.
// Lanes that would be outside the warp give the own value.
DEVICE int __shfl_xor_sync(unsigned mask, int v, int lanes) { return __nvvm_shfl_sync_bfly_i32(mask, v, lanes, 31); }
DEVICE int __shfl_down_sync(unsigned mask, int v, unsigned delta) { return __nvvm_shfl_sync_down_i32(mask, v, (int)delta, 31); }
DEVICE int __shfl_up_sync(unsigned mask, int v, unsigned delta) { return __nvvm_shfl_sync_up_i32(mask, v, (int)delta, 0); }
DEVICE int __shfl_sync(unsigned mask, int v, int lane) { return __nvvm_shfl_sync_idx_i32(mask, v, lane, 31); }

// DEVICE_EXCHANGE lifts a shuffle of int to types of 4 and 8 bytes.
#define DEVICE_EXCHANGE(name, where)                                              \
    template <class T> DEVICE T name(unsigned mask, T v, where by) {              \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");          \
        int part[sizeof(T) / 4];                                                  \
        __builtin_memcpy(part, &v, sizeof(T));                                    \
        for (unsigned i = 0; i < sizeof(T) / 4; i++) part[i] = name(mask, part[i], by); \
        __builtin_memcpy(&v, part, sizeof(T));                                    \
        return v;                                                                 \
    }
DEVICE_EXCHANGE(__shfl_xor_sync, int)
DEVICE_EXCHANGE(__shfl_down_sync, unsigned)
DEVICE_EXCHANGE(__shfl_up_sync, unsigned)
DEVICE_EXCHANGE(__shfl_sync, int)
#undef DEVICE_EXCHANGE

// Sums of integers over all threads are the same in any order. They return the old value.
DEVICE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
DEVICE unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }

// Loads of what no thread writes while the kernel runs.
template <class T> DEVICE T __ldg(const T *p) { return *p; }
DEVICE float __ldg(const float *p) { float r; asm("ld.global.nc.f32 %0, [%1];" : "=f"(r) : "l"(p)); return r; }
DEVICE int __ldg(const int *p) { int r; asm("ld.global.nc.s32 %0, [%1];" : "=r"(r) : "l"(p)); return r; }
DEVICE unsigned __ldg(const unsigned *p) { unsigned r; asm("ld.global.nc.u32 %0, [%1];" : "=r"(r) : "l"(p)); return r; }
DEVICE float2 __ldg(const float2 *p) {
    float2 r;
    asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "l"(p));
    return r;
}
DEVICE float4 __ldg(const float4 *p) {
    float4 r;
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(p));
    return r;
}
DEVICE uint4 __ldg(const uint4 *p) {
    uint4 r;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p));
    return r;
}

// Correctly rounded.
DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
DEVICE double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
DEVICE float floorf(float a) { return __nvvm_floor_f(a); }
DEVICE double floor(double a) { return __nvvm_floor_d(a); }
// Two units in the last place; not the same bits on the host.
DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
// 2^a, two units in the last place; not the same bits on the host.
DEVICE float exp2_approx(float a) { return __nvvm_ex2_approx_f(a); }

// The IEEE 754 half with these bits, and the nearest half, ties to even.
DEVICE float half_to_float(uint16 h) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h)); return r; }
DEVICE uint16 float_to_half(float a) { uint16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(a)); return r; }

#if DEVICE_ARCH >= 80

// The address of a pointer to shared memory within it.
DEVICE unsigned shared_address(const void *p) {
    return (unsigned)(unsigned long)(const __attribute__((address_space(3))) void *)p;
}

// The nearest TF32 number (10 bits after the binary point), ties away from zero.
DEVICE unsigned float_to_tf32(float a) { unsigned r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }

// The nearest halves to two floats as a pair, lo in bits 0 to 15: one instruction, where two
// conversions of their own would be two of the slow unit.
DEVICE unsigned pack_half2(float lo, float hi) { unsigned r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }

// The same for bfloat16: the range of float32, and 7 bits after the binary point.
DEVICE unsigned pack_bfloat2(float lo, float hi) { unsigned r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }

// d = a·b + d for a warp, with a of 16×8 and b of 8×8 TF32 numbers, d of 16×8 floats. Lane
// 4g + t holds
//   a[0] = A[g][t],  a[1] = A[g+8][t],  a[2] = A[g][t+4],  a[3] = A[g+8][t+4],
//   b[0] = B[t][g],  b[1] = B[t+4][g],
//   d[0] = D[g][2t], d[1] = D[g][2t+1], d[2] = D[g+8][2t], d[3] = D[g+8][2t+1].
// The lowest 13 bits of a and b are not looked at.
DEVICE void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same with d = a·b.
DEVICE void mma_m16n8k8_tf32_from_zero(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

// d = a·b + d for a warp, with a of 16×16 and b of 16×8 halves, d of 16×8 floats. Lane
// 4g + t holds pairs of halves with consecutive columns of A and rows of B,
//   a[0] = A[g][2t, 2t+1],   a[1] = A[g+8][2t, 2t+1],
//   a[2] = A[g][2t+8, 2t+9], a[3] = A[g+8][2t+8, 2t+9],
//   b[0] = B[2t, 2t+1][g],   b[1] = B[2t+8, 2t+9][g],
// and d as above.
DEVICE void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same for bfloat16.
DEVICE void mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// ldmatrix: four 8×8 matrices of halves from shared memory. Lane 8m + i gives the address of
// row i of matrix m, 16 bytes aligned to 16. Lane 4g + t gets of matrix m, in r[m], the
// pair (g, 2t), (g, 2t+1); with _transposed the pair (2t, g), (2t+1, g).
DEVICE void ldmatrix_x4(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}
DEVICE void ldmatrix_x4_transposed(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

// Copies 4, 8 or 16 bytes from global to shared memory without waiting; both addresses are
// multiples of the size. Of 16 bytes the second form copies the first `bytes` and sets the
// rest to 0; with 0 bytes nothing is read.
DEVICE void cp_async_4(void *shared, const void *global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
DEVICE void cp_async_8(void *shared, const void *global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
DEVICE void cp_async_16(void *shared, const void *global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
DEVICE void cp_async_4(void *shared, const void *global, unsigned bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)), "l"(global), "r"(bytes) : "memory");
}
DEVICE void cp_async_8(void *shared, const void *global, unsigned bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(shared)), "l"(global), "r"(bytes) : "memory");
}
DEVICE void cp_async_16(void *shared, const void *global, unsigned bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global), "r"(bytes) : "memory");
}
// Ends a group of copies, and waits until at most this many of the newest groups of this
// thread are under way. What other threads copied is there after a barrier behind it.
// The same number, of which the compiler does not know that it is: what is made of it inside a loop
// is made there each time, and takes no register through the rest.
DEVICE unsigned fresh(unsigned v) {
    asm volatile("" : "+r"(v));
    return v;
}
DEVICE int64 fresh(int64 v) {
    asm volatile("" : "+l"(v));
    return v;
}

// Has the second level cache fetch what lies at an address of device memory.
DEVICE void prefetch_l2(const void *global) { asm volatile("prefetch.global.L2 [%0];" ::"l"(global)); }
DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int groups> DEVICE void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory"); }

#endif
