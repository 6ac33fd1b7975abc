#include "emulator.h"
#include "host.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace host {

dim3 thread, block, block_size, grid_size;

// ------------------------------------------------------------------------ the order

static uint64_t state = 1;

void seed(uint64_t s) { state = s * 2 + 1; }

unsigned draw(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(((state >> 32) * n) >> 32);
}

unsigned stride(unsigned n) {
    static const unsigned primes[] = {1, 1031, 2053, 4099, 8209, 65537, 131101, 1048583};
    for (;;) {
        unsigned p = primes[draw(8)];
        if (n % p != 0 || p == 1) return p % n == 0 ? 1 : p % n;
    }
}

// ------------------------------------------------------------------------- the kernels

static std::vector<Kernel> &kernels() {
    static std::vector<Kernel> all;
    return all;
}

bool add(const Kernel &k) {
    kernels().push_back(k);
    return true;
}

const Kernel *find(const std::string &name, int arch) {
    for (const Kernel &k : kernels())
        if (k.arch == arch && name == k.name) return &k;
    return nullptr;
}

int argument_count(const Kernel *k) { return k->count; }
int argument_size(const Kernel *k, int i) { return k->sizes[i]; }

// -------------------------------------------------------------------------- the fibers

constexpr int most_threads = 1024;
constexpr std::size_t stack_bytes = 28 << 10;

struct Copy {
    char *to;
    const char *from;
    unsigned size, read;
    int group;
};

struct Fiber {
#if defined(__x86_64__)
    void *stack_pointer;
#else
    ucontext_t context;
#endif
    dim3 index;
    int number;
    std::size_t shared; // bytes of the block's memory that it has declared so far
    void *record;       // for its warp
    Act act;
    int line; // of the barrier at which it waits, or 0
    bool started, ended;
    std::vector<Copy> copies; // under way
    int group;                // of copies, in the making
};

static Fiber fibers[most_threads];
static Fiber *current;
static char *stacks; // each with a page below that cannot be touched
static const Grid *grid;
static unsigned threads_in_block;

// Fibers that can go on.
static int ready[most_threads];
static unsigned ready_first, ready_count;
static bool newest_first; // how they are taken

static int waiting, alive;            // of the block
static int arrived[most_threads / 32]; // of each warp

// The end of a run, whichever stack it comes from.
static sigjmp_buf end_of_run;
static volatile sig_atomic_t in_kernel;
static Fault fault;
static std::string *fault_text;

[[noreturn]] static void stop(Fault f, const std::string &text) {
    fault = f;
    *fault_text = std::string("kernel ") + grid->kernel->name + ", block (" + std::to_string(block.x) + "," + std::to_string(block.y) + "," +
                  std::to_string(block.z) + "), thread (" + std::to_string(thread.x) + "," + std::to_string(thread.y) + "," +
                  std::to_string(thread.z) + "): " + text;
    siglongjmp(end_of_run, 1);
}

static void make_ready(int fiber) { ready[(ready_first + ready_count++) % most_threads] = fiber; }

// Makes count fibers from first on ready in a shuffled order.
static void release(unsigned first, unsigned count) {
    if (count == 0) return;
    unsigned at = draw(count), step = stride(count);
    for (unsigned i = 0; i < count; i++, at = (at + step) % count)
        if (!fibers[first + at].ended) make_ready((int)(first + at));
}

#if defined(__x86_64__)

// host_switch(save, load) pushes what a function must keep, stores the stack pointer in
// *save, takes load for it and pops.
extern "C" __attribute__((visibility("hidden"))) void host_switch(void **save, void *load);
__asm__(".pushsection .text\n"
        ".globl host_switch\n.hidden host_switch\n.type host_switch, @function\n"
        "host_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
        "ret\n"
        ".size host_switch, . - host_switch\n.popsection\n");

static void *scheduler;

static void enter();

static void prepare(Fiber &f, char *stack) {
    // Stacks begin at different places of a page, or all of them would share a few sets of
    // the processor's cache.
    char *top = stack + stack_bytes - 256 - (std::size_t)(f.number % 32) * 128;
    void **sp = reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(top) & ~(uintptr_t)15) - 8);
    *--sp = reinterpret_cast<void *>(enter);
    sp -= 6;
    std::memset(sp, 0, 6 * sizeof(void *));
    f.stack_pointer = sp;
}
static void begin(Fiber &f) { host_switch(&scheduler, f.stack_pointer); }
static void go(Fiber &from, Fiber &to) { host_switch(&from.stack_pointer, to.stack_pointer); }
static void leave(Fiber &from) { host_switch(&from.stack_pointer, scheduler); }

#else

static ucontext_t scheduler;

static void enter();

static void prepare(Fiber &f, char *stack) {
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = stack;
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, enter, 0);
}
static void begin(Fiber &f) { swapcontext(&scheduler, &f.context); }
static void go(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }
static void leave(Fiber &from) { swapcontext(&from.context, &scheduler); }

#endif

static Fiber *take() {
    if (ready_count == 0) return nullptr;
    ready_count--;
    if (newest_first) return &fibers[ready[(ready_first + ready_count) % most_threads]];
    int n = ready[ready_first];
    ready_first = (ready_first + 1) % most_threads;
    return &fibers[n];
}

[[noreturn]] static void stuck() {
    int at_barrier = 0, at_warp = 0, ended = 0, line = 0;
    for (unsigned i = 0; i < threads_in_block; i++) {
        ended += fibers[i].ended;
        at_barrier += fibers[i].line != 0;
        at_warp += fibers[i].record != nullptr;
        if (fibers[i].line != 0) line = fibers[i].line;
    }
    stop(Fault::stuck, "threads wait for each other for ever: " + std::to_string(at_barrier) + " at __syncthreads (line " + std::to_string(line) + "), " +
                           std::to_string(at_warp) + " at an operation of their warp, " + std::to_string(ended) + " have returned");
}

// Lets other fibers run until this one is ready again.
static void yield() {
    Fiber *self = current, *next = take();
    if (next == nullptr) stuck();
    if (next != self) {
        current = next;
        thread = next->index;
        go(*self, *next);
        current = self;
        thread = self->index;
    }
}

static void barrier_is_full() {
    int line = 0;
    for (unsigned i = 0; i < threads_in_block; i++) {
        if (fibers[i].line == 0) continue;
        if (line != 0 && fibers[i].line != line)
            stop(Fault::stuck, "threads wait at different __syncthreads, in lines " + std::to_string(line) + " and " + std::to_string(fibers[i].line));
        line = fibers[i].line;
        fibers[i].line = 0;
    }
    waiting = 0;
    newest_first = draw(2) == 0;
    release(0, threads_in_block);
}

static void enter() {
    Fiber *self = current;
    grid->kernel->call(grid->slots.data());
    self->ended = true;
    alive--;
    if (alive > 0 && waiting == alive) barrier_is_full();
    Fiber *next = take();
    if (next == nullptr) {
        if (alive > 0) stuck();
        leave(*self);
    }
    current = next;
    thread = next->index;
    go(*self, *next);
    abort(); // nobody comes back to a fiber that has ended
}

[[noreturn]] static void unexpected() {
    stop(Fault::stuck, "the kernel waits for other threads, and its PTX does not: the PTX is not made from this source");
}

void barrier(int line) {
    if (!grid->waits) unexpected();
    current->line = line;
    if (++waiting == alive) barrier_is_full();
    yield();
}

void together(Act act, void *record) {
    if (!grid->waits) unexpected();
    Fiber *self = current;
    int warp = self->number / 32, first = warp * 32;
    int size = std::min(32, (int)threads_in_block - first);
    self->record = record;
    self->act = act;
    if (++arrived[warp] == size) {
        void *lanes[32] = {};
        for (int i = 0; i < size; i++) {
            if (fibers[first + i].act != act)
                stop(Fault::stuck, "the threads of a warp do different operations together");
            lanes[i] = fibers[first + i].record;
            fibers[first + i].record = nullptr;
        }
        arrived[warp] = 0;
        act(lanes);
        release((unsigned)first, (unsigned)size);
    }
    yield();
}

// ------------------------------------------------------------------------ shared memory

// What memory holds before it is written: a NaN for float and for half, and no index.
constexpr unsigned fresh = 0x7fc07fc0;
constexpr unsigned fence = 0xfdfdfdfd;
constexpr std::size_t fence_bytes = 64;
constexpr std::size_t arena_bytes = 512 << 10;
static char *arena;
static std::size_t arena_used = arena_bytes; // by any thread of the last block
static std::vector<std::pair<std::size_t, std::size_t>> fences; // from, to

static void fill(char *at, std::size_t bytes, unsigned word) {
    unsigned *w = reinterpret_cast<unsigned *>(at);
    std::fill(w, w + bytes / 4, word);
}

static std::size_t beyond(std::size_t bytes) { return (bytes + 15) / 16 * 16 + fence_bytes; }

static void fresh_arena() {
    if (arena == nullptr) {
        arena = static_cast<char *>(mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (arena == MAP_FAILED) abort();
    }
    fill(arena, arena_used, fresh);
    fences.clear();
    arena_used = beyond(grid->dynamic_shared);
    std::size_t from = grid->dynamic_shared;
    std::memset(arena + from, fence & 0xff, arena_used - from);
    fences.emplace_back(from, arena_used);
}

static void check_arena() {
    for (auto [from, to] : fences)
        for (std::size_t i = from; i < to; i++)
            if (static_cast<unsigned char>(arena[i]) != (fence & 0xff)) stop(Fault::address, "a write beyond an array in shared memory");
}

void *dynamic_shared() { return arena; }

void *shared(std::size_t bytes) {
    std::size_t at = current->shared, end = at + beyond(bytes);
    if (end > arena_bytes) stop(Fault::address, "more shared memory than there is");
    current->shared = end;
    if (end > arena_used) {
        fill(arena + at, end - at, fresh);
        std::memset(arena + at + bytes, fence & 0xff, end - at - bytes);
        fences.emplace_back(at + bytes, end);
        arena_used = end;
    }
    return arena + at;
}

void misaligned(const void *p) {
    const char *c = static_cast<const char *>(p), *here = static_cast<const char *>(__builtin_frame_address(0));
    if (c >= here - stack_bytes && c < here + stack_bytes) return;
    stop(Fault::alignment, "a vector at an address that is no multiple of its size");
}

// -------------------------------------------------------------------- asynchronous copies

void copy_async(void *to, const void *from, unsigned size, unsigned read) {
    if (reinterpret_cast<uintptr_t>(to) % size != 0 || reinterpret_cast<uintptr_t>(from) % size != 0)
        stop(Fault::alignment, "cp.async with an address that is no multiple of its size");
    if (read > size) stop(Fault::address, "cp.async reads more bytes than it copies");
    char *c = static_cast<char *>(to);
    if (c < arena || c + size > arena + arena_used) stop(Fault::address, "cp.async to memory that is not shared");
    fill(c, size, fresh); // not there before it is waited for
    current->copies.push_back({c, static_cast<const char *>(from), size, read, current->group});
}

void copy_commit() { current->group++; }

void copy_wait(int groups) {
    auto &all = current->copies;
    int last = current->group - groups;
    std::size_t kept = 0;
    for (const Copy &c : all) {
        if (c.group >= last) {
            all[kept++] = c;
            continue;
        }
        if (c.read > 0) std::memcpy(c.to, c.from, c.read);
        std::memset(c.to + c.read, 0, c.size - c.read);
    }
    all.resize(kept);
}

// ------------------------------------------------------------------ operations of a warp

void nothing(void *const *) {}

void exchange(void *const lanes[32]) {
    for (int i = 0; i < 32 && lanes[i] != nullptr; i++) {
        Exchange &e = *static_cast<Exchange *>(lanes[i]);
        const void *from = e.from >= 0 && e.from < 32 ? lanes[e.from] : nullptr;
        e.result = from != nullptr ? static_cast<const Exchange *>(from)->value : e.value;
    }
}

static void whole_warp(void *const lanes[32]) {
    if (lanes[31] == nullptr) stop(Fault::stuck, "an operation on matrices by a warp of fewer than 32 threads");
}

static float tf32(unsigned bits) {
    bits &= ~0x1fffu;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
}

float bfloat16_to_float(std::uint16_t b) {
    std::uint32_t bits = (std::uint32_t)b << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
}

// The nearest one, ties to even.
std::uint16_t float_to_bfloat16(float a) {
    std::uint32_t bits;
    std::memcpy(&bits, &a, 4);
    if (a != a) return 0x7fff;
    return (std::uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Adds the product of two matrices to the one that the lanes hold, each four of its numbers.
template <class A, class B> static void add_to(void *const lanes[32], void (*products)(float (&)[16][8], const A &, const B &), const A &a, const B &b) {
    float d[16][8];
    auto held = [&](int r, int c) -> float & { return static_cast<Product *>(lanes[r % 8 * 4 + c / 2])->d[r / 8 * 2 + c % 2]; };
    for (int r = 0; r < 16; r++)
        for (int c = 0; c < 8; c++) d[r][c] = held(r, c);
    products(d, a, b);
    for (int r = 0; r < 16; r++)
        for (int c = 0; c < 8; c++) held(r, c) = d[r][c];
}

void product_tf32(void *const lanes[32]) {
    whole_warp(lanes);
    float a[16][8], b[8][8];
    auto of = [&](int i) -> Product & { return *static_cast<Product *>(lanes[i]); };
    for (int i = 0; i < 32; i++) {
        int g = i / 4, t = i % 4;
        const Product &p = of(i);
        a[g][t] = tf32(p.a[0]);
        a[g + 8][t] = tf32(p.a[1]);
        a[g][t + 4] = tf32(p.a[2]);
        a[g + 8][t + 4] = tf32(p.a[3]);
        b[t][g] = tf32(p.b[0]);
        b[t + 4][g] = tf32(p.b[1]);
    }
    add_to(lanes, add_products_tf32, a, b);
}

// Products of pairs of 16 bits, of which `number` makes floats.
template <class Number, class Products> static void product_of_pairs(void *const lanes[32], Number number, Products products) {
    whole_warp(lanes);
    float a[16][16], b[16][8];
    auto of = [&](int i) -> Product & { return *static_cast<Product *>(lanes[i]); };
    for (int i = 0; i < 32; i++) {
        int g = i / 4, t = i % 4;
        const Product &p = of(i);
        for (int half = 0; half < 2; half++) {
            auto part = [&](unsigned pair) { return number((std::uint16_t)(pair >> (16 * half))); };
            a[g][2 * t + half] = part(p.a[0]);
            a[g + 8][2 * t + half] = part(p.a[1]);
            a[g][2 * t + 8 + half] = part(p.a[2]);
            a[g + 8][2 * t + 8 + half] = part(p.a[3]);
            b[2 * t + half][g] = part(p.b[0]);
            b[2 * t + 8 + half][g] = part(p.b[1]);
        }
    }
    add_to(lanes, products, a, b);
}

void product_f16(void *const lanes[32]) { product_of_pairs(lanes, half_to_float, add_products_f16); }
void product_bf16(void *const lanes[32]) { product_of_pairs(lanes, bfloat16_to_float, add_products_bf16); }

static void load_matrices(void *const lanes[32], bool transposed) {
    whole_warp(lanes);
    auto of = [&](int i) -> Matrices & { return *static_cast<Matrices *>(lanes[i]); };
    for (int m = 0; m < 4; m++) {
        std::uint16_t v[8][8];
        for (int i = 0; i < 8; i++) {
            const void *row = of(8 * m + i).row;
            if (reinterpret_cast<uintptr_t>(row) % 16 != 0) stop(Fault::alignment, "ldmatrix with an address that is no multiple of 16");
            const char *c = static_cast<const char *>(row);
            if (c < arena || c + 16 > arena + arena_used) stop(Fault::address, "ldmatrix from memory that is not shared");
            std::memcpy(v[i], row, 16);
        }
        for (int i = 0; i < 32; i++) {
            int g = i / 4, t = i % 4;
            unsigned lo = transposed ? v[2 * t][g] : v[g][2 * t], hi = transposed ? v[2 * t + 1][g] : v[g][2 * t + 1];
            of(i).r[m] = lo | hi << 16;
        }
    }
}

void matrices(void *const lanes[32]) { load_matrices(lanes, false); }
void matrices_transposed(void *const lanes[32]) { load_matrices(lanes, true); }

#if defined(__F16C__)
float half_to_float(std::uint16_t h) { return __builtin_ia32_vcvtph2ps((__attribute__((vector_size(16))) short){(short)h})[0]; }
#else
float half_to_float(std::uint16_t h) {
    unsigned sign = (unsigned)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    unsigned bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        float f = (float)fraction * 0x1p-24f;
        std::memcpy(&bits, &f, 4);
        bits |= sign;
    }
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
}
#endif

std::uint16_t float_to_half(float a) {
    unsigned bits;
    std::memcpy(&bits, &a, 4);
    std::uint16_t sign = (std::uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return 0x7fff;
    if (bits >= 0x477ff000) return (std::uint16_t)(sign | 0x7c00); // rounds to infinity
    if (bits < 0x38800000) {                               // below the smallest normal half
        float f;
        std::memcpy(&f, &bits, 4);
        f += 0.5f; // whose last bit is 2^-24, that of such halves
        std::memcpy(&bits, &f, 4);
        return (std::uint16_t)(sign | (bits - 0x3f000000));
    }
    bits += 0xfff + (bits >> 13 & 1);
    return (std::uint16_t)(sign | (bits - 0x38000000) >> 13);
}

unsigned float_to_tf32(float a) {
    unsigned r;
    std::memcpy(&r, &a, 4);
    if ((r & 0x7f800000) == 0x7f800000) return (r & 0x7fffff) != 0 ? 0x7fffffff : r;
    return (r + 0x1000) & ~0x1fffu; // ties away from zero
}

// ------------------------------------------------------------------------------ the run

static struct sigaction previous_segv, previous_bus, previous_ill;

static void caught(int signal, siginfo_t *info, void *context) {
    if (in_kernel && in_kernel == gettid()) {
        in_kernel = 0;
        char text[128];
        if (signal == SIGILL)
            stop(Fault::alignment, "an address that is no multiple of the size of its type, an index outside an array, or a shift beyond its width");
        snprintf(text, sizeof text, "touches address %p, which is no memory of the device", info->si_addr);
        stop(Fault::address, text);
    }
    const struct sigaction &old = signal == SIGILL ? previous_ill : signal == SIGBUS ? previous_bus : previous_segv;
    if (old.sa_flags & SA_SIGINFO) {
        old.sa_sigaction(signal, info, context);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
        old.sa_handler(signal);
    } else {
        sigaction(signal, &old, nullptr); // and again, with the usual effect
    }
}

static void prepare_once() {
    static bool done;
    if (done) return;
    done = true;
    std::size_t page = (std::size_t)sysconf(_SC_PAGESIZE), each = stack_bytes + page;
    stacks = static_cast<char *>(mmap(nullptr, each * most_threads, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (stacks == MAP_FAILED) abort();
    for (int i = 0; i < most_threads; i++) {
        mprotect(stacks + (std::size_t)i * each, page, PROT_NONE);
        fibers[i].number = i;
    }
    struct sigaction act = {};
    act.sa_sigaction = caught;
    act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &act, &previous_segv);
    sigaction(SIGBUS, &act, &previous_bus);
    sigaction(SIGILL, &act, &previous_ill);
}

static void run_block() {
    fresh_arena();
    std::size_t page = (std::size_t)sysconf(_SC_PAGESIZE), each = stack_bytes + page;
    unsigned n = threads_in_block;
    ready_first = ready_count = 0;
    waiting = 0;
    alive = (int)n;
    std::fill(arrived, arrived + most_threads / 32, 0);
    std::size_t first_shared = arena_used;
    auto reset = [&](unsigned i) -> Fiber & {
        Fiber &f = fibers[i];
        f.index = dim3{i % block_size.x, i / block_size.x % block_size.y, i / block_size.x / block_size.y};
        f.shared = first_shared;
        f.record = nullptr;
        f.act = nullptr;
        f.line = 0;
        f.ended = false;
        f.copies.clear();
        f.group = 0;
        return f;
    };
    if (!grid->waits) {
        unsigned at = draw(n), step = stride(n);
        for (unsigned i = 0; i < n; i++, at = (at + step) % n) {
            current = &reset(at);
            thread = current->index;
            grid->kernel->call(grid->slots.data());
        }
    } else {
        for (unsigned i = 0; i < n; i++) prepare(reset(i), stacks + (std::size_t)i * each + page);
        newest_first = draw(2) == 0;
        release(0, n);
        current = take();
        thread = current->index;
        begin(*current);
    }
    check_arena();
}

Fault run(const Grid &g, std::string &text) {
    prepare_once();
    grid = &g;
    fault = Fault::none;
    fault_text = &text;
    block_size = dim3{g.threads.x, g.threads.y, g.threads.z};
    grid_size = dim3{g.blocks.x, g.blocks.y, g.blocks.z};
    threads_in_block = g.threads.x * g.threads.y * g.threads.z;
    if (sigsetjmp(end_of_run, 1) == 0) {
        in_kernel = gettid();
        uint64_t blocks = (uint64_t)g.blocks.x * g.blocks.y * g.blocks.z;
        unsigned n = (unsigned)std::min<uint64_t>(blocks, 0x7fffffff);
        uint64_t at = draw(n), step = n > 1 ? stride(n) : 1;
        for (uint64_t i = 0; i < blocks; i++, at = (at + step) % blocks) {
            block = dim3{(unsigned)(at % g.blocks.x), (unsigned)(at / g.blocks.x % g.blocks.y), (unsigned)(at / g.blocks.x / g.blocks.y)};
            run_block();
        }
    }
    in_kernel = 0;
    return fault;
}

} // namespace host
