// Runs PTX itself: the programs that ship, one instruction after the other, a warp at a
// time, with a check of every access to memory.
//
//   ptx_assemble.cpp    reads the text of a kernel
//   ptx_operations.cpp  what instructions do to the registers of a warp
//   ptx_memory.cpp      what they do to memory, and who touched a word before
//   ptx_run.cpp         which warp, and which of its threads, go on
//   ptx_profile.cpp     what was counted
#ifndef AVERAGED_IMAGING_PTX_H
#define AVERAGED_IMAGING_PTX_H

#include "emulator.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptx {

constexpr int LANES = 32;

struct Warp;
struct Block;
struct Instruction;

// Does an instruction for the lanes of a mask.
using Handler = void (*)(Warp &w, const Instruction &i, uint32_t lanes);

// Where an operand lies among the registers of a warp, in words of 4 bytes: as 32 values of 4
// bytes, or as 32 values of 8. Registers are one of the two, constants are both. A
// predicate's place is its number.
struct Operand {
    uint32_t narrow, wide;
};

enum class Kind : uint8_t { plain, together, barrier, branch, exit };
enum class Space : uint8_t { none, parameter, shared, global };

struct Instruction {
    Kind kind = Kind::plain;
    Handler run = nullptr;
    int guard = -1;      // the predicate it depends on, or −1
    bool unless = false; // it runs where the predicate is false
    uint8_t count = 0;   // of operands
    std::array<Operand, 14> operand{};
    // Bit k: operand k is a register of 4 bytes, of 8 bytes, a predicate.
    uint32_t narrow = 0, wide = 0, predicate = 0;
    uint32_t target = 0; // of a branch
    uint32_t members = 0; // lanes that do it together

    // Of loads, stores and copies: the address is operand `address` plus offset.
    Space space = Space::none;
    uint8_t address = 0, vector = 1, bytes = 0;
    bool is_signed = false, constant = false, atomic = false, transposed = false;
    int64_t offset = 0;

    int line = 0; // of the kernel's text
    std::string text;
};

// What a kernel did, all its launches together. A wavefront is what shared memory does in a
// cycle, for words in 32 different banks; a sector is 32 bytes of global memory.
struct Counts {
    uint64_t launches = 0, blocks = 0, warps = 0;
    uint64_t instructions = 0, lanes = 0; // by warps, and by the threads that took part
    uint64_t products = 0;                // of matrices
    uint64_t shared = 0, wavefronts = 0, least_wavefronts = 0;
    uint64_t global = 0, sectors = 0, least_sectors = 0;
};

struct Program {
    std::string name;
    std::vector<Instruction> code;
    std::vector<uint32_t> registers; // of a warp, at its start: constants are filled in
    std::vector<uint32_t> parameters; // their places in registers, in words of 4, as wide values
    int predicates = 0;
    uint32_t shared = 0; // bytes of static shared memory
    uint32_t word = 4;   // bytes of shared memory of which it is known who touched them
    // The registers of %tid, %ntid, %ctaid, %nctaid in x, y, z.
    std::array<std::array<uint32_t, 3>, 4> special{};
    Counts counts;
};

// assemble reads a kernel: its body, the text between the braces, which begins in a line of
// the file. It returns null and says in error what it does not know.
std::unique_ptr<Program> assemble(const std::string &name, int parameters, const std::string &body, int line, std::string &error);

// run runs a grid of it. On a fault it says in text what happened.
host::Fault run(Program &p, const host::Grid &g, std::string &text);

// ------------------------------------------------------------------------------ memory

// Who touched a word last, in a launch, or of shared memory in a block.
struct Word {
    uint32_t when = 0; // of all the rest; before it, nobody did
    uint32_t writer_block, reader_block;
    uint32_t write_epoch, read_epoch; // barriers of the block before
    uint16_t writer, reader;          // threads of their blocks
    uint8_t marks;
};

// A piece of the device's memory, with a Word for each 4 bytes of it.
struct Span {
    uintptr_t from = 0, to = 0;
    Word *words = nullptr;
};

// find_span, of the driver, returns whether there is device memory at an address, and which.
bool find_span(uintptr_t at, Span &span);

// --------------------------------------------------------- between the parts of a run

struct Stop {
    host::Fault fault;
    std::string text;
    uint32_t lane;
};

struct Copy {
    uint32_t to;
    uintptr_t from;
    uint32_t bytes, read;
    int group;
};

struct Group {
    uint32_t lanes, at;
};

struct Warp {
    Block *block;
    unsigned first; // thread
    uint32_t lanes; // that there are
    uint32_t live;  // that have not returned
    std::vector<uint32_t> registers, predicates;
    std::vector<Group> groups; // lanes that are at the same instruction
    bool at_barrier = false;
    std::array<std::vector<Copy>, LANES> copies; // asynchronous ones, under way
    std::array<int, LANES> group{};              // of copies, in the making
    Span span;                                   // the last one used
};

struct Block {
    Program *program;
    uint32_t number, serial, launch;
    uint32_t epoch = 0; // barriers so far
    std::vector<uint8_t> shared;
    std::vector<Word> shared_words;
};

template <class T> constexpr uint32_t place(const Operand &o) { return sizeof(T) == 8 ? o.wide : o.narrow; }

template <class T> T get(const Warp &w, const Operand &o, int lane) {
    T v;
    __builtin_memcpy(&v, w.registers.data() + place<T>(o) + (sizeof(T) == 8 ? 2 : 1) * (uint32_t)lane, sizeof(T));
    return v;
}
template <class T> void set(Warp &w, const Operand &o, int lane, T v) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof(T));
    __builtin_memcpy(w.registers.data() + place<T>(o) + (sizeof(T) == 8 ? 2 : 1) * (uint32_t)lane, &bits, sizeof(T) == 8 ? 8 : 4);
}

// operation returns what an instruction of this name does to registers, or null.
Handler operation(const std::string &name);

// What the instructions on memory do.
void load(Warp &w, const Instruction &i, uint32_t lanes);
void store(Warp &w, const Instruction &i, uint32_t lanes);
void atomic_add(Warp &w, const Instruction &i, uint32_t lanes);
void copy_async(Warp &w, const Instruction &i, uint32_t lanes);
void copy_commit(Warp &w, const Instruction &i, uint32_t lanes);
void copy_wait(Warp &w, const Instruction &i, uint32_t lanes);
void load_matrices(Warp &w, const Instruction &i, uint32_t lanes);

// Whether accesses to memory are counted, which takes its time.
extern bool counting;
// keep_counts adds those of a program that is about to go to those of its kernel.
void keep_counts(const Program &p);
// write_profile writes what was kept so far, a line for each kernel, and write_names their names alone.
void write_profile(const char *path);
void write_names(const char *path);

} // namespace ptx
#endif
