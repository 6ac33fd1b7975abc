// What the kernels, compiled for the host, ask of the emulator.
#ifndef AVERAGED_IMAGING_HOST_H
#define AVERAGED_IMAGING_HOST_H

#include <cstddef>
#include <cstdint>

#define HIDDEN __attribute__((visibility("hidden")))

struct dim3 {
    unsigned x, y, z;
};

namespace host {

// Where the thread that runs now is.
extern HIDDEN dim3 thread, block, block_size, grid_size;

HIDDEN void *shared(std::size_t bytes);
HIDDEN void *dynamic_shared();
HIDDEN void barrier(int line);

// misaligned ends the run unless the address is on the stack of the thread.
HIDDEN void misaligned(const void *p);

// What a warp does together. Each lane hands over a record; when all have come, act is
// called once with the records of all lanes, and then all go on. The records of lanes that
// the block does not have are null.
using Act = void (*)(void *const lanes[32]);
HIDDEN void together(Act act, void *record);

// Asynchronous copies: the first `read` of `size` bytes are copied when they are waited for.
HIDDEN void copy_async(void *to, const void *from, unsigned size, unsigned read);
HIDDEN void copy_commit();
HIDDEN void copy_wait(int groups);

// The operation of each, on all lanes' records.
struct Exchange {
    std::uint64_t value, result;
    int from; // the lane whose value is wanted
};
HIDDEN void exchange(void *const lanes[32]);
HIDDEN void nothing(void *const lanes[32]);
struct Product {
    float *d;
    const unsigned *a, *b;
};
HIDDEN void product_tf32(void *const lanes[32]);
HIDDEN void product_f16(void *const lanes[32]);
HIDDEN void product_bf16(void *const lanes[32]);
// d += a·b as the tensor cores of a GPU with this compute capability (times ten) do it.
HIDDEN void tensor_cores_of(int capability);
HIDDEN void add_products_tf32(float (&d)[16][8], const float (&a)[16][8], const float (&b)[8][8]);
HIDDEN void add_products_f16(float (&d)[16][8], const float (&a)[16][16], const float (&b)[16][8]);
HIDDEN void add_products_bf16(float (&d)[16][8], const float (&a)[16][16], const float (&b)[16][8]);
struct Matrices {
    unsigned *r;
    const void *row;
};
HIDDEN void matrices(void *const lanes[32]);
HIDDEN void matrices_transposed(void *const lanes[32]);

HIDDEN float half_to_float(std::uint16_t h);
HIDDEN std::uint16_t float_to_half(float a);
HIDDEN unsigned float_to_tf32(float a);
HIDDEN float bfloat16_to_float(std::uint16_t b);
HIDDEN std::uint16_t float_to_bfloat16(float a);

// A kernel by its name, for the fake driver: how to call it with arguments in slots, and
// how large they are.
struct Kernel {
    const char *name;
    int arch;
    void (*call)(const std::uint64_t *slots);
    int count;
    const unsigned char *sizes;
};
HIDDEN bool add(const Kernel &k);

} // namespace host
#endif
