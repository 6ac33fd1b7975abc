// What instructions do to memory. Every access is checked: that it lies within memory of the
// device or of the block, that its address suits its size, that what it reads in shared
// memory was written, and that nothing but a barrier's order decides what it finds.
#include "ptx.h"

#include <algorithm>
#include <cstring>

namespace ptx {

namespace {

// What a thread does to a word.
enum class Access { read, read_constant, write, add };

// Marks of a Word.
enum : uint8_t {
    WRITTEN = 1,
    READ = 2,
    SEVERAL_THREADS = 4, // have read it since the last barrier
    SEVERAL_BLOCKS = 8,  // have read it
    CONSTANT = 16,       // read as what no thread writes
    ADDED = 32,          // last written by an atomic addition
    IN_FLIGHT = 64,      // an asynchronous copy will write it
};

[[noreturn]] void stop(host::Fault f, const std::string &text, int lane) { throw Stop{f, text, (uint32_t)lane}; }

struct Toucher {
    uint32_t when, block, epoch;
    uint16_t thread;
    int lane;
};

// touch checks an access against those before it and keeps it. Two accesses, one of them a
// write, need a barrier between them if they are of two threads of a block, and of two blocks
// nothing can order them.
void touch(Word &w, const Toucher &t, Access access) {
    if (w.when != t.when) w = {t.when, 0, 0, 0, 0, 0, 0, 0};
    auto race = [&](const char *what) { stop(host::Fault::race, what, t.lane); };
    bool writes = access == Access::write || access == Access::add;
    if (w.marks & IN_FLIGHT) race("it touches what an asynchronous copy is still to write");
    if (w.marks & WRITTEN && !(access == Access::add && w.marks & ADDED)) {
        if (w.writer_block != t.block) race(writes ? "another block has written here" : "it reads what another block has written");
        if (w.writer != t.thread && w.write_epoch == t.epoch)
            race(writes ? "another thread has written here, with no barrier between" : "it reads what another thread has written, with no barrier between");
        if (access == Access::read_constant) race("it reads by ld.global.nc what this kernel has written");
    }
    if (!writes) {
        if (!(w.marks & READ)) {
            w.marks |= READ;
            w.reader_block = t.block, w.reader = t.thread, w.read_epoch = t.epoch;
        } else if (w.reader_block != t.block) {
            w.marks |= SEVERAL_BLOCKS;
        } else if (w.read_epoch != t.epoch) {
            w.marks &= (uint8_t)~SEVERAL_THREADS;
            w.reader = t.thread, w.read_epoch = t.epoch;
        } else if (w.reader != t.thread) {
            w.marks |= SEVERAL_THREADS;
        }
        if (access == Access::read_constant) w.marks |= CONSTANT;
        return;
    }
    if (w.marks & CONSTANT) race("it writes what was read by ld.global.nc");
    if (w.marks & READ) {
        if (w.marks & SEVERAL_BLOCKS || w.reader_block != t.block) race("it writes what another block reads");
        if (w.read_epoch == t.epoch && (w.marks & SEVERAL_THREADS || w.reader != t.thread))
            race("it writes what another thread has read, with no barrier between");
    }
    w.marks = (uint8_t)((w.marks & ~(READ | SEVERAL_THREADS | SEVERAL_BLOCKS | ADDED)) | WRITTEN | (access == Access::add ? ADDED : 0));
    w.writer_block = t.block, w.writer = t.thread, w.write_epoch = t.epoch;
}

uint16_t thread_of(const Warp &w, int lane) { return (uint16_t)(w.first + (unsigned)lane); }
Toucher of_global(const Warp &w, int lane) { return {w.block->launch, w.block->number, w.block->epoch, thread_of(w, lane), lane}; }
Toucher of_shared(const Warp &w, int lane) { return {w.block->serial, 0, w.block->epoch, thread_of(w, lane), lane}; }

constexpr uintptr_t GLOBAL_WORD = 4; // bytes

// global and shared look at an access to bytes at an address, which is a multiple of `suits`, and
// return where they lie on the host.
char *global(Warp &w, int lane, uintptr_t at, uint32_t bytes, uint32_t suits, Access access) {
    if (at % suits != 0) stop(host::Fault::alignment, "an address that is no multiple of " + std::to_string(suits), lane);
    Span &s = w.span;
    if (bytes == 0) return reinterpret_cast<char *>(at);
    if (at < s.from || at >= s.to || bytes > s.to - at) {
        if (!find_span(at, s) || bytes > s.to - at) {
            char text[64];
            snprintf(text, sizeof text, "%u bytes at 0x%zx are not of the device", bytes, (std::size_t)at);
            s = Span{};
            stop(host::Fault::address, text, lane);
        }
    }
    Toucher t = of_global(w, lane);
    for (uintptr_t k = (at - s.from) / GLOBAL_WORD; k < (at - s.from + bytes + GLOBAL_WORD - 1) / GLOBAL_WORD; k++) touch(s.words[k], t, access);
    return reinterpret_cast<char *>(at);
}

// in_words calls f for the words of a range of shared memory.
template <class F> void in_words(Block &b, uint64_t at, uint32_t bytes, F f) {
    unsigned shift = (unsigned)__builtin_ctz(b.program->word);
    for (uint64_t k = at >> shift; k <= (at + bytes - 1) >> shift; k++) f(b.shared_words[k]);
}

uint8_t *shared(Warp &w, int lane, uint64_t at, uint32_t bytes, uint32_t suits, Access access) {
    Block &b = *w.block;
    if (at % suits != 0) stop(host::Fault::alignment, "an address in shared memory that is no multiple of " + std::to_string(suits), lane);
    if (at >= b.shared.size() || bytes > b.shared.size() - at)
        stop(host::Fault::address, "address " + std::to_string(at) + " of " + std::to_string(b.shared.size()) + " bytes of shared memory", lane);
    Toucher t = of_shared(w, lane);
    in_words(b, at, bytes, [&](Word &word) {
        if (access == Access::read && (word.when != t.when || !(word.marks & (WRITTEN | IN_FLIGHT))))
            stop(host::Fault::address, "it reads shared memory that nobody has written", lane);
        touch(word, t, access);
    });
    return b.shared.data() + at;
}

// read_before tells what most reads of shared memory are: of words that were written before
// the last barrier, and that several others have read since. Then there is nothing to keep.
bool read_before(const Word *words, uint32_t count, const Block &b) {
    bool all = true;
    for (uint32_t k = 0; k < count; k++) {
        const Word &w = words[k];
        all = all && w.when == b.serial && (w.marks & (WRITTEN | READ | SEVERAL_THREADS | IN_FLIGHT)) == (WRITTEN | READ | SEVERAL_THREADS) &&
              w.read_epoch == b.epoch && w.write_epoch != b.epoch;
    }
    return all;
}

uint64_t address(const Warp &w, const Instruction &i, int lane) {
    const Operand &o = i.operand[i.address];
    return (i.narrow >> i.address & 1 ? get<uint32_t>(w, o, lane) : get<uint64_t>(w, o, lane)) + (uint64_t)i.offset;
}

// The addresses of a warp in one instruction, for what the hardware makes of them.
struct Addresses {
    std::array<uint64_t, LANES> at;
    uint32_t lanes = 0;
    void add(int lane, uint64_t a) { at[(std::size_t)lane] = a, lanes |= 1u << lane; }
};

// Shared memory serves a word of 4 bytes from each of 32 banks in a cycle: 32 lanes of 4
// bytes, 16 of 8 or 8 of 16 at a time.
void count_shared(Counts &c, const Addresses &a, uint32_t bytes) {
    uint32_t at_a_time = std::max(1u, 128 / std::max(4u, bytes));
    c.shared++;
    for (uint32_t first = 0; first < LANES; first += at_a_time) {
        std::array<std::array<uint64_t, LANES>, 32> words; // of each bank
        std::array<uint32_t, 32> count{};
        uint32_t most = 0;
        for (uint32_t l = first; l < std::min<uint32_t>(LANES, first + at_a_time); l++) {
            if (!(a.lanes >> l & 1)) continue;
            for (uint64_t word = a.at[l] / 4; word <= (a.at[l] + bytes - 1) / 4; word++) {
                auto &bank = words[word % 32];
                uint32_t &n = count[word % 32];
                if (std::find(bank.begin(), bank.begin() + n, word) == bank.begin() + n && n < LANES) bank[n++] = word;
                most = std::max(most, n);
            }
        }
        c.wavefronts += most;
        c.least_wavefronts += most > 0;
    }
}

void count_global(Counts &c, const Addresses &a, uint32_t bytes) {
    std::array<uint64_t, 4 * LANES> sectors;
    std::size_t n = 0;
    uint64_t used = 0;
    for (uint32_t l = 0; l < LANES; l++) {
        if (!(a.lanes >> l & 1)) continue;
        used += bytes;
        for (uint64_t s = a.at[l] / 32; s <= (a.at[l] + bytes - 1) / 32; s++)
            if (std::find(sectors.begin(), sectors.begin() + (std::ptrdiff_t)n, s) == sectors.begin() + (std::ptrdiff_t)n && n < sectors.size()) sectors[n++] = s;
    }
    c.global++;
    c.sectors += n;
    c.least_sectors += std::min<uint64_t>(n, (used + 31) / 32);
}

void count(Warp &w, const Instruction &i, const Addresses &a) {
    if (!counting) return;
    uint32_t bytes = (uint32_t)i.vector * i.bytes;
    if (i.space == Space::shared) count_shared(w.block->program->counts, a, bytes);
    if (i.space == Space::global) count_global(w.block->program->counts, a, bytes);
}

// The value of a register as it stands in memory, and back.
uint64_t value(const Warp &w, const Instruction &i, std::size_t k, int lane) {
    return i.wide >> k & 1 || i.bytes == 8 ? get<uint64_t>(w, i.operand[k], lane) : get<uint32_t>(w, i.operand[k], lane);
}

template <class T> T read(const char *from) {
    T v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

// A part of v that is written and then read as a whole would make the host wait for memory.
uint64_t in_memory(const char *from, uint8_t bytes) {
    switch (bytes) {
    case 1: return read<uint8_t>(from);
    case 2: return read<uint16_t>(from);
    case 4: return read<uint32_t>(from);
    default: return read<uint64_t>(from);
    }
}

void set_value(Warp &w, const Instruction &i, std::size_t k, int lane, uint64_t v) {
    if (i.is_signed && i.bytes < 8) {
        unsigned shift = 64 - 8 * i.bytes;
        v = (uint64_t)((int64_t)(v << shift) >> shift);
    }
    if (i.wide >> k & 1) {
        set<uint64_t>(w, i.operand[k], lane, v);
    } else {
        set<uint32_t>(w, i.operand[k], lane, (uint32_t)v);
    }
}

// What memory holds until it is written: a NaN, for float and for half.
void spoil(uint8_t *at, uint32_t bytes) {
    const uint32_t fresh = 0x7fc07fc0;
    for (uint32_t k = 0; k < bytes; k += 4) std::memcpy(at + k, &fresh, 4);
}

} // namespace

void load(Warp &w, const Instruction &i, uint32_t lanes) {
    if (i.space == Space::parameter) {
        uint64_t mask = i.bytes == 8 ? ~0ull : (1ull << 8 * i.bytes) - 1;
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1) set_value(w, i, 0, l, get<uint64_t>(w, i.operand[1], l) & mask);
        return;
    }
    Addresses all;
    Block &b = *w.block;
    uint32_t bytes = (uint32_t)i.vector * i.bytes;
    bool words = i.space == Space::shared && i.bytes == 4 && b.program->word == 4 && !(i.wide & ((1u << i.vector) - 1));
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        uint64_t at = address(w, i, l);
        all.add(l, at);
        if (words && at % bytes == 0 && at < b.shared.size() && bytes <= b.shared.size() - at && read_before(&b.shared_words[at / 4], i.vector, b)) {
            for (std::size_t k = 0; k < i.vector; k++) set<uint32_t>(w, i.operand[k], l, read<uint32_t>((const char *)b.shared.data() + at + 4 * k));
            continue;
        }
        const void *from = i.space == Space::shared ? (const void *)shared(w, l, at, bytes, bytes, Access::read)
                                                    : global(w, l, at, bytes, bytes, i.constant ? Access::read_constant : Access::read);
        for (std::size_t k = 0; k < i.vector; k++) set_value(w, i, k, l, in_memory(static_cast<const char *>(from) + k * i.bytes, i.bytes));
    }
    count(w, i, all);
}

void store(Warp &w, const Instruction &i, uint32_t lanes) {
    Addresses all;
    uint32_t bytes = (uint32_t)i.vector * i.bytes;
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        uint64_t at = address(w, i, l);
        all.add(l, at);
        void *to = i.space == Space::shared ? (void *)shared(w, l, at, bytes, bytes, Access::write) : global(w, l, at, bytes, bytes, Access::write);
        for (std::size_t k = 0; k < i.vector; k++) {
            uint64_t v = value(w, i, k, l);
            std::memcpy(static_cast<char *>(to) + k * i.bytes, &v, i.bytes);
        }
    }
    count(w, i, all);
}

void atomic_add(Warp &w, const Instruction &i, uint32_t lanes) {
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        uint64_t at = address(w, i, l);
        void *p = i.space == Space::shared ? (void *)shared(w, l, at, 4, 4, Access::add) : global(w, l, at, 4, 4, Access::add);
        uint32_t old, sum;
        std::memcpy(&old, p, 4);
        sum = old + get<uint32_t>(w, i.operand[2], l);
        std::memcpy(p, &sum, 4);
        set<uint32_t>(w, i.operand[0], l, old);
    }
}

// ---------------------------------------------------------------------- asynchronous copies

void copy_async(Warp &w, const Instruction &i, uint32_t lanes) {
    Addresses to, from;
    Block &b = *w.block;
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        Copy c;
        c.to = get<uint32_t>(w, i.operand[0], l);
        c.from = get<uint64_t>(w, i.operand[1], l);
        c.bytes = i.bytes;
        c.read = i.count > 3 ? get<uint32_t>(w, i.operand[3], l) : i.bytes;
        c.group = w.group[(std::size_t)l];
        if (c.read > c.bytes) stop(host::Fault::address, "it reads more bytes than it copies", l);
        spoil(shared(w, l, c.to, c.bytes, c.bytes, Access::write), c.bytes);
        in_words(b, c.to, c.bytes, [](Word &word) { word.marks |= IN_FLIGHT; });
        global(w, l, c.from, c.read, c.bytes, Access::read);
        to.add(l, c.to);
        if (c.read > 0) from.add(l, c.from);
        w.copies[(std::size_t)l].push_back(c);
    }
    if (counting) count_shared(b.program->counts, to, i.bytes);
    if (counting && from.lanes != 0) count_global(b.program->counts, from, i.bytes);
}

void copy_commit(Warp &w, const Instruction &, uint32_t lanes) {
    for (std::size_t l = 0; l < LANES; l++)
        if (lanes >> l & 1) w.group[l]++;
}

void copy_wait(Warp &w, const Instruction &i, uint32_t lanes) {
    Block &b = *w.block;
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        auto &all = w.copies[(std::size_t)l];
        int last = w.group[(std::size_t)l] - (int)get<uint32_t>(w, i.operand[0], l);
        auto arrives = [&](const Copy &c) {
            if (c.group >= last) return false;
            in_words(b, c.to, c.bytes, [](Word &word) { word.marks &= (uint8_t)~IN_FLIGHT; });
            uint8_t *to = shared(w, l, c.to, c.bytes, c.bytes, Access::write);
            const char *from = global(w, l, c.from, c.read, c.bytes, Access::read);
            if (c.read > 0) std::memcpy(to, from, c.read);
            std::memset(to + c.read, 0, c.bytes - c.read);
            return true;
        };
        all.erase(std::remove_if(all.begin(), all.end(), arrives), all.end());
    }
}

// ldmatrix.x4: lane 8m + r has the address of row r of matrix m.
void load_matrices(Warp &w, const Instruction &i, uint32_t lanes) {
    if (lanes != 0xffffffff) stop(host::Fault::stuck, "an operation on matrices by fewer than 32 threads", 0);
    uint16_t v[4][8][8];
    Addresses all;
    for (int l = 0; l < LANES; l++) {
        uint64_t at = address(w, i, l);
        all.add(l, at);
        std::memcpy(v[l / 8][l % 8], shared(w, l, at, 16, 16, Access::read), 16);
    }
    if (counting) count_shared(w.block->program->counts, all, 16);
    for (int l = 0; l < LANES; l++)
        for (std::size_t m = 0; m < 4; m++) {
            int g = l / 4, t = l % 4;
            uint32_t low = i.transposed ? v[m][2 * t][g] : v[m][g][2 * t], high = i.transposed ? v[m][2 * t + 1][g] : v[m][g][2 * t + 1];
            set<uint32_t>(w, i.operand[m], l, low | high << 16);
        }
}

} // namespace ptx
