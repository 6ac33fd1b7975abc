// Runs the grid of a kernel on the host, one block after the other, in shuffled order.
#ifndef AVERAGED_IMAGING_EMULATOR_H
#define AVERAGED_IMAGING_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptx {
struct Program;
}

namespace host {

struct Kernel;

// find returns the kernel of this name compiled for an architecture, or null.
const Kernel *find(const std::string &name, int arch);
int argument_count(const Kernel *k);
int argument_size(const Kernel *k, int i);

struct Extent {
    unsigned x, y, z;
};

// Why a grid did not run to its end.
enum class Fault { none, address, alignment, stuck, race };

struct Grid {
    const Kernel *kernel;
    std::shared_ptr<ptx::Program> program; // run instead of the kernel, if there is one
    std::vector<uint64_t> slots;
    Extent blocks, threads;
    std::size_t dynamic_shared;
    // Whether the kernel waits for other threads anywhere: if not, each thread runs from its
    // start to its end without a stack of its own.
    bool waits;
};

// run runs all threads. On a fault it says in text what happened. Calls do not overlap.
Fault run(const Grid &g, std::string &text);

// seed starts the sequence of orders.
void seed(uint64_t s);
// draw returns a number below n from that sequence.
unsigned draw(unsigned n);
// stride draws a step that comes by every one of n places once.
unsigned stride(unsigned n);

} // namespace host
#endif
