// A CUDA driver for tests: the functions that package driver calls, on a GPU that is the
// host. It does late what may be done late, in an order that changes with a seed, and
// refuses what the reference of the driver API forbids. README.md lists what it finds.

#include "emulator.h"
#include "host.h"
#include "ptx.h"

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// ------------------------------------------------------------------------- what there is

struct Memory {
    char *map;
    std::size_t mapped;
    char *base;
    std::size_t bytes;
    int device; // −1: pinned memory of the host
    int owner;  // the device whose context it goes with
    ptx::Word *words = nullptr; // who touched it, where PTX is run
};

struct Context;
struct Module;

struct Kernel {
    std::string name;
    std::vector<int> sizes; // of the parameters
    int shared = 0, most_threads = 1024;
    bool waits = false;
    const host::Kernel *code = nullptr;
    std::shared_ptr<ptx::Program> program; // where PTX is run
    Module *module = nullptr;
    int dynamic_shared = 0; // allowed by cuFuncSetAttribute; 0: not called
};

struct Module {
    Context *context;
    std::map<std::string, std::unique_ptr<Kernel>> kernels;
};

struct Capture;

struct Event {
    Context *context;
    bool timing;
    uint64_t recorded = 0, done = 0; // how often
    struct Stream *stream = nullptr; // of the last record
    Capture *capture = nullptr;      // recorded while this was made
    std::chrono::steady_clock::time_point at;
};

// Work is one thing that a stream does. It returns an error of the context, or success.
struct Work {
    std::function<CUresult()> run;
    Event *wait = nullptr; // for this, recorded so many times
    uint64_t times = 0;
};

struct Capture {
    std::vector<Work> work;
    std::set<struct Stream *> streams;
    std::set<Event *> events;
    bool invalid = false;
};

struct Stream {
    Context *context;
    std::deque<Work> work;
    Capture *capture = nullptr;
    bool running = false;
};

struct Graph {
    Context *context;
    std::vector<Work> work;
};

struct Context {
    int device;
    int retained = 0;
    CUresult lost = CUDA_SUCCESS;
    std::set<Stream *> streams;
    std::set<Event *> events;
    std::set<Module *> modules;
    std::set<Graph *> graphs, ready;
    std::map<Capture *, std::unique_ptr<Capture>> captures;
};

constexpr int most_devices = 8;
constexpr int shared_default = 48 << 10;
constexpr std::size_t alignment = 256;

// What was found and what is alive, in a file that outlives the process.
struct Status {
    uint64_t faults, contexts, allocations, bytes, pinned, streams, events, modules, graphs, launches, threads;
};
Status own_status, *status = &own_status;

std::recursive_mutex lock;
bool initialised, runs_ptx;
const char *profile, *names; // files for what kernels did, and for which have run
int device_count, capabilities[most_devices];
std::size_t memory_limit;
std::size_t in_use[most_devices], in_use_host;
Context contexts[most_devices];
std::map<uintptr_t, Memory> memories; // by their base
thread_local Context *current;

using Guard = std::lock_guard<std::recursive_mutex>;

// say tells a person what was found, and counts it.
void say(const std::string &what) {
    status->faults++;
    fprintf(stderr, "fake CUDA driver: %s\n", what.c_str());
}

long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != nullptr && *text != 0 ? strtol(text, nullptr, 10) : otherwise;
}

// Shared memory of a multiprocessor, by the table in the programming guide.
int shared_multiprocessor(int device) {
    switch (capabilities[device]) {
    case 70: case 72: return 96 << 10;
    case 75: return 64 << 10;
    case 80: case 87: return 164 << 10;
    case 86: case 89: case 120: return 100 << 10;
    default: return capabilities[device] < 70 ? 96 << 10 : 228 << 10;
    }
}

// That of a block, when it was asked for: from 8.0 on the driver keeps 1 KiB of each for itself.
int shared_opt_in(int device) { return shared_multiprocessor(device) - (capabilities[device] < 80 ? 0 : 1 << 10); }

// ------------------------------------------------------------------------------- memory

constexpr unsigned fresh = 0x7fc07fc0; // a NaN, also as two halves
constexpr unsigned char fence = 0xfd;

std::size_t words_bytes(const Memory &m) { return (m.bytes / 4 + 1) * sizeof(ptx::Word); }

// map returns memory that ends at a page that cannot be touched, but for the rest of its
// alignment, and begins behind another.
bool map(std::size_t bytes, int device, Memory &m) {
    std::size_t page = (std::size_t)sysconf(_SC_PAGESIZE);
    std::size_t inside = (bytes + alignment - 1) / alignment * alignment;
    m.mapped = (inside + page - 1) / page * page + 2 * page;
    m.map = static_cast<char *>(mmap(nullptr, m.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (m.map == MAP_FAILED) return false;
    madvise(m.map, m.mapped, MADV_HUGEPAGE); // all of it is filled below
    mprotect(m.map, page, PROT_NONE);
    mprotect(m.map + m.mapped - page, page, PROT_NONE);
    m.base = m.map + m.mapped - page - inside;
    m.bytes = bytes;
    m.device = device;
    m.owner = current->device;
    std::memset(m.map + page, fence, (std::size_t)(m.base - m.map) - page);
    unsigned *words = reinterpret_cast<unsigned *>(m.base);
    std::fill(words, words + bytes / 4, fresh);
    std::memset(m.base + bytes / 4 * 4, fence, inside - bytes / 4 * 4);
    if (runs_ptx && device >= 0) {
        // All zero, which is nobody; pages come with the first touch.
        void *words = mmap(nullptr, words_bytes(m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (words == MAP_FAILED) {
            munmap(m.map, m.mapped);
            return false;
        }
        m.words = static_cast<ptx::Word *>(words);
    }
    return true;
}

bool unmap(const Memory &m) {
    std::size_t page = (std::size_t)sysconf(_SC_PAGESIZE);
    if (m.words != nullptr) munmap(m.words, words_bytes(m));
    bool whole = true;
    for (char *c = m.map + page; c < m.base; c++) whole = whole && static_cast<unsigned char>(*c) == fence;
    for (char *c = m.base + m.bytes; c < m.map + m.mapped - page; c++) whole = whole && static_cast<unsigned char>(*c) == fence;
    munmap(m.map, m.mapped);
    return whole;
}

// holding returns the memory that holds all of a range, or null.
const Memory *holding(uintptr_t at, std::size_t bytes) {
    auto it = memories.upper_bound(at);
    if (it == memories.begin()) return nullptr;
    const Memory &m = (--it)->second;
    std::size_t offset = at - it->first;
    return offset <= m.bytes && bytes <= m.bytes - offset ? &m : nullptr;
}

CUresult release(std::map<uintptr_t, Memory>::iterator it) {
    Memory m = it->second;
    memories.erase(it);
    if (m.device < 0) {
        in_use_host -= m.bytes;
        status->pinned--;
    } else {
        in_use[m.device] -= m.bytes;
        status->allocations--;
        status->bytes -= m.bytes;
    }
    if (!unmap(m)) {
        say("something was written beyond the ends of memory of " + std::to_string(m.bytes) + " bytes");
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------------- streams

bool known(Stream *s) { return current->streams.count(s) != 0; }

bool step(Stream *s);

// reach lets a stream work until an event has been recorded so often.
void reach(Event *e, uint64_t times) {
    while (e->done < times && e->stream != nullptr && step(e->stream)) {
    }
}

// step does the next piece of work of a stream; there may be none.
bool step(Stream *s) {
    if (s->work.empty() || s->running) return false;
    s->running = true;
    Work w = std::move(s->work.front());
    s->work.pop_front();
    if (w.wait != nullptr && s->context->events.count(w.wait)) reach(w.wait, w.times);
    if (w.run && s->context->lost == CUDA_SUCCESS) {
        CUresult r = w.run();
        if (r != CUDA_SUCCESS) s->context->lost = r;
    }
    s->running = false;
    return true;
}

// finish does all work of a stream, and now and then a piece of another's.
void finish(Stream *s) {
    while (!s->work.empty()) {
        if (host::draw(4) == 0) {
            auto it = s->context->streams.begin();
            std::advance(it, host::draw((unsigned)s->context->streams.size()));
            step(*it);
        }
        if (!step(s)) break;
    }
}

void finish_all(Context *c) {
    for (Stream *s : c->streams) finish(s);
}

// invalidate is what a call does to the recording of a stream that it must not be called
// for meanwhile.
CUresult invalidate(Stream *s, CUresult why) {
    s->capture->invalid = true;
    return why;
}

// put gives a stream work, now and then begins it, and reports earlier errors.
CUresult put(Stream *s, Work w) {
    if (s->capture != nullptr) {
        s->capture->work.push_back(std::move(w));
        return CUDA_SUCCESS;
    }
    s->work.push_back(std::move(w));
    if (s->work.size() > 4096 || host::draw(8) == 0) step(s);
    return s->context->lost;
}

// A call needs the driver, a context that is current on the thread and not lost.
#define WITH_CONTEXT                                    \
    Guard guard(lock);                                  \
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED; \
    if (current == nullptr || current->retained == 0) return CUDA_ERROR_INVALID_CONTEXT; \
    if (current->lost != CUDA_SUCCESS) return current->lost;

#define WITH_DRIVER \
    Guard guard(lock); \
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;

#define STREAM(s, handle)                            \
    Stream *s = reinterpret_cast<Stream *>(handle);  \
    if (!known(s)) return CUDA_ERROR_INVALID_HANDLE;

bool is_device(CUdevice d) { return d >= 0 && d < device_count; }

// -------------------------------------------------------------------------------- kernels

bool word_char(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }

// number_after returns the number that follows a word in a text, or otherwise.
long number_after(const std::string &text, const std::string &word, long otherwise) {
    std::size_t at = text.find(word);
    return at == std::string::npos ? otherwise : strtol(text.c_str() + at + word.size(), nullptr, 10);
}

constexpr CUresult jit_disabled = static_cast<CUresult>(223); // CUDA_ERROR_JIT_COMPILATION_DISABLED

// load reads of PTX what a driver must know: the kernels, their parameters, and the shared
// memory that they declare.
CUresult load(const std::string &ptx, Module &m, std::string &log) {
    long version = number_after(ptx, ".version ", -1), target = number_after(ptx, ".target sm_", -1);
    const char *jit = getenv("FAKE_CUDA_JIT");
    if (jit != nullptr && strcmp(jit, "missing") == 0) return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    if (jit != nullptr && strcmp(jit, "disabled") == 0) return jit_disabled;
    if (version < 0 || target < 0) {
        log = "fake ptxas, line 1; fatal: no .version, or no .target";
        return CUDA_ERROR_INVALID_PTX;
    }
    if (version > 8) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (target > capabilities[m.context->device]) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    std::size_t at = 0;
    while ((at = ptx.find(".entry ", at)) != std::string::npos) {
        at += 7;
        std::size_t end = at;
        while (end < ptx.size() && word_char(ptx[end])) end++;
        auto k = std::make_unique<Kernel>();
        k->name = ptx.substr(at, end - at);
        k->module = &m;
        std::size_t open = ptx.find('{', end), close = ptx.find("\n}", end);
        if (open == std::string::npos || close == std::string::npos) return CUDA_ERROR_INVALID_PTX;
        std::string head = ptx.substr(end, open - end), body = ptx.substr(open, close - open);
        for (std::size_t p = 0; (p = head.find(".param", p)) != std::string::npos;) {
            p = head.find('.', p + 6); // the type
            if (p == std::string::npos || p + 4 > head.size()) return CUDA_ERROR_INVALID_PTX;
            k->sizes.push_back(strtol(head.c_str() + p + 2, nullptr, 10) == 64 ? 8 : 4);
        }
        k->most_threads = (int)std::min(1024l, number_after(head, ".maxntid ", 1024));
        for (std::size_t p = 0; (p = body.find(".shared .align", p)) != std::string::npos; p++) {
            std::size_t bracket = body.find('[', p), line = body.find('\n', p);
            if (bracket == std::string::npos || bracket > line) continue;
            k->shared += (int)strtol(body.c_str() + bracket + 1, nullptr, 10);
        }
        for (const char *word : {"bar.", "barrier.", "shfl.", "mma.", "wmma.", "ldmatrix.", "vote.", "match.", "redux.", "call"})
            k->waits = k->waits || body.find(word) != std::string::npos;
        k->code = host::find(k->name, (int)target);
        if (k->code == nullptr) {
            say("kernel " + k->name + " for sm_" + std::to_string(target) + " is in the PTX, and not in this library: build it again");
            return CUDA_ERROR_INVALID_SOURCE;
        }
        if (runs_ptx) {
            std::string error;
            int line = 1 + (int)std::count(ptx.begin(), ptx.begin() + (std::ptrdiff_t)open, '\n');
            auto p = ptx::assemble(k->name, (int)k->sizes.size(), body.substr(1), line, error);
            if (p == nullptr) {
                say(error);
                log = error;
                return CUDA_ERROR_INVALID_PTX;
            }
            k->program = std::shared_ptr<ptx::Program>(p.release(), [](ptx::Program *done) {
                ptx::keep_counts(*done);
                delete done;
            });
            k->shared = (int)k->program->shared;
        }
        bool same = host::argument_count(k->code) == (int)k->sizes.size();
        for (std::size_t i = 0; same && i < k->sizes.size(); i++) same = host::argument_size(k->code, (int)i) == k->sizes[i];
        if (!same) {
            say("the arguments of kernel " + k->name + " differ between its PTX and this library: make the PTX again");
            return CUDA_ERROR_INVALID_SOURCE;
        }
        m.kernels[k->name] = std::move(k);
        at = end;
    }
    return CUDA_SUCCESS;
}

CUresult run(const host::Grid &g, int device) {
    host::tensor_cores_of(capabilities[device]);
    status->launches++;
    status->threads += (uint64_t)g.blocks.x * g.blocks.y * g.blocks.z * g.threads.x * g.threads.y * g.threads.z;
    std::string text;
    host::Fault f = g.program ? ptx::run(*g.program, g, text) : host::run(g, text);
    if (f == host::Fault::none) return CUDA_SUCCESS;
    say(text);
    switch (f) {
    case host::Fault::address: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case host::Fault::alignment: return CUDA_ERROR_MISALIGNED_ADDRESS;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

} // namespace

bool ptx::find_span(uintptr_t at, Span &span) {
    const Memory *m = holding(at, 1);
    if (m == nullptr || m->words == nullptr) return false;
    span = {reinterpret_cast<uintptr_t>(m->base), reinterpret_cast<uintptr_t>(m->base) + m->bytes, m->words};
    return true;
}

namespace {

const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {jit_disabled, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain"},
    {CUDA_ERROR_INVALID_SOURCE, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
};

CUresult look_up(CUresult code, const char **to, bool name) {
    for (const auto &e : errors)
        if (e.code == code) {
            *to = name ? e.name : e.text;
            return CUDA_SUCCESS;
        }
    *to = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}

} // namespace

// ----------------------------------------------------------------------- the driver itself

EXPORT CUresult cuInit(unsigned flags) {
    Guard guard(lock);
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (initialised) return CUDA_SUCCESS;
    device_count = (int)std::min<long>(setting("FAKE_CUDA_DEVICES", 2), most_devices);
    const char *run_by = getenv("FAKE_CUDA_RUN");
    runs_ptx = run_by != nullptr && strcmp(run_by, "ptx") == 0;
    profile = getenv("FAKE_CUDA_PROFILE"), names = getenv("FAKE_CUDA_KERNELS");
    ptx::counting = profile != nullptr && *profile != 0;
    // One for each GPU; the last one is that of the rest.
    const char *list = getenv("FAKE_CUDA_CAPABILITY");
    for (int i = 0, last = 90; i < most_devices; i++) {
        if (list != nullptr && *list != 0) {
            char *end;
            last = (int)strtol(list, &end, 10);
            list = *end == ',' ? end + 1 : end;
        }
        capabilities[i] = last;
    }
    memory_limit = (std::size_t)setting("FAKE_CUDA_MEMORY_MIB", 2048) << 20;
    host::seed((uint64_t)setting("FAKE_CUDA_SEED", 1));
    for (int i = 0; i < most_devices; i++) contexts[i].device = i;
    if (const char *path = getenv("FAKE_CUDA_STATUS"); path != nullptr && *path != 0) {
        int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (file < 0 || ftruncate(file, sizeof(Status)) != 0) return CUDA_ERROR_INVALID_VALUE;
        void *at = mmap(nullptr, sizeof(Status), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (at == MAP_FAILED) return CUDA_ERROR_INVALID_VALUE;
        status = static_cast<Status *>(at);
    }
    if (device_count <= 0) return CUDA_ERROR_NO_DEVICE;
    initialised = true;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    *version = (int)setting("FAKE_CUDA_VERSION", 12040);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult code, const char **text) { return look_up(code, text, true); }
EXPORT CUresult cuGetErrorString(CUresult code, const char **text) { return look_up(code, text, false); }

EXPORT CUresult cuDeviceGetCount(int *count) {
    WITH_DRIVER
    *count = device_count;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    WITH_DRIVER
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice d) {
    WITH_DRIVER
    if (!is_device(d)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (std::size_t)length, runs_ptx ? "Fake CUDA device, running PTX" : "Fake CUDA device on the host");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem(std::size_t *bytes, CUdevice d) {
    WITH_DRIVER
    if (!is_device(d)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = memory_limit;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *to, CUdevice_attribute attribute, CUdevice d) {
    WITH_DRIVER
    if (!is_device(d)) return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *to = capabilities[d] / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *to = capabilities[d] % 10; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *to = 132; break; // an H100's
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *to = shared_default; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *to = shared_opt_in(d); break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *to = shared_multiprocessor(d); break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *to = 4 << 20; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *to = 1000000; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *to = 32; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *to = 1024; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *to, CUdevice d) {
    WITH_DRIVER
    if (!is_device(d)) return CUDA_ERROR_INVALID_DEVICE;
    Context &c = contexts[d];
    if (c.retained++ == 0) status->contexts++;
    *to = reinterpret_cast<CUcontext>(&c);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *active) {
    WITH_DRIVER
    if (!is_device(d)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = contexts[d].retained > 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
    WITH_DRIVER
    if (!is_device(d)) return CUDA_ERROR_INVALID_DEVICE;
    Context &c = contexts[d];
    if (c.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--c.retained > 0) return CUDA_SUCCESS;
    finish_all(&c);
    // All that is left goes with the context, but a program that keeps its house in order
    // leaves nothing.
    std::size_t memory = 0, bytes = 0;
    for (auto it = memories.begin(); it != memories.end();) {
        auto next = std::next(it);
        if (it->second.owner == d) {
            memory++;
            bytes += it->second.bytes;
            release(it);
        }
        it = next;
    }
    if (memory + c.streams.size() + c.events.size() + c.modules.size() + c.graphs.size() + c.ready.size() + c.captures.size() > 0)
        say("a context ends with " + std::to_string(memory) + " pieces of memory (" + std::to_string(bytes) + " bytes), " +
            std::to_string(c.streams.size()) + " streams, " + std::to_string(c.events.size()) + " events, " + std::to_string(c.modules.size()) +
            " modules and " + std::to_string(c.graphs.size() + c.ready.size()) + " graphs that were not freed");
    status->contexts--;
    status->streams -= c.streams.size();
    status->events -= c.events.size();
    status->modules -= c.modules.size();
    status->graphs -= c.graphs.size() + c.ready.size();
    for (Stream *s : c.streams) delete s;
    for (Event *e : c.events) delete e;
    for (Module *m : c.modules) delete m;
    if (ptx::counting) ptx::write_profile(profile);
    if (names != nullptr && *names != 0) ptx::write_names(names);
    for (Graph *g : c.graphs) delete g;
    for (Graph *g : c.ready) delete g;
    int device = c.device;
    c = Context();
    c.device = device;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext c) {
    WITH_DRIVER
    current = reinterpret_cast<Context *>(c);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *c) {
    WITH_DRIVER
    *c = reinterpret_cast<CUcontext>(current);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSynchronize() {
    WITH_CONTEXT
    if (!current->captures.empty()) { // of anybody: it is an error, and theirs too
        for (auto &c : current->captures) c.second->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    finish_all(current);
    return current->lost;
}

// -------------------------------------------------------------------------------- memory

EXPORT CUresult cuMemGetInfo(std::size_t *free, std::size_t *total) {
    WITH_CONTEXT
    *free = memory_limit - in_use[current->device];
    *total = memory_limit;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc(CUdeviceptr *to, std::size_t bytes) {
    WITH_CONTEXT
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (bytes > memory_limit - in_use[current->device]) return CUDA_ERROR_OUT_OF_MEMORY;
    Memory m;
    if (!map(bytes, current->device, m)) return CUDA_ERROR_OUT_OF_MEMORY;
    in_use[current->device] += bytes;
    status->allocations++;
    status->bytes += bytes;
    memories[reinterpret_cast<uintptr_t>(m.base)] = m;
    *to = reinterpret_cast<CUdeviceptr>(m.base);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFree(CUdeviceptr p) {
    WITH_CONTEXT
    auto it = memories.find(static_cast<uintptr_t>(p));
    if (it == memories.end() || it->second.device != current->device) {
        say("memory is freed that was not allocated, or not on this device, or is free already");
        return CUDA_ERROR_INVALID_VALUE;
    }
    finish_all(current);
    CUresult r = release(it);
    if (r != CUDA_SUCCESS) current->lost = r;
    return current->lost;
}

EXPORT CUresult cuMemHostAlloc(void **to, std::size_t bytes, unsigned) {
    WITH_CONTEXT
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    Memory m;
    if (bytes > memory_limit - in_use_host || !map(bytes, -1, m)) return CUDA_ERROR_OUT_OF_MEMORY;
    in_use_host += bytes;
    status->pinned++;
    memories[reinterpret_cast<uintptr_t>(m.base)] = m;
    *to = m.base;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFreeHost(void *p) {
    WITH_CONTEXT
    auto it = memories.find(reinterpret_cast<uintptr_t>(p));
    if (it == memories.end() || it->second.device >= 0) {
        say("host memory is freed that is not pinned, or is free already");
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < device_count; i++) finish_all(&contexts[i]);
    return release(it);
}

// copy puts a copy on a stream. Memory of the host must be pinned: the driver takes other
// memory too, and what a copy then waits for depends on its size.
static CUresult copy(uintptr_t to, int to_device, uintptr_t from, int from_device, std::size_t bytes, CUstream handle) {
    STREAM(s, handle)
    const Memory *t = holding(to, bytes), *f = holding(from, bytes);
    if (t == nullptr || f == nullptr || t->device != to_device || f->device != from_device) {
        say("a copy of " + std::to_string(bytes) + " bytes from or to memory that does not hold them");
        return CUDA_ERROR_INVALID_VALUE;
    }
    return put(s, {[=] {
        // A graph may outlive its memory.
        if (holding(to, bytes) == nullptr || holding(from, bytes) == nullptr) {
            say("a copy from or to memory that has been freed");
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        if (to < from + bytes && from < to + bytes && bytes > 0) {
            say("a copy between ranges that overlap");
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
        return CUDA_SUCCESS;
    }});
}

EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, std::size_t bytes, CUstream s) {
    WITH_CONTEXT
    return copy(static_cast<uintptr_t>(to), current->device, reinterpret_cast<uintptr_t>(from), -1, bytes, s);
}

EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, std::size_t bytes, CUstream s) {
    WITH_CONTEXT
    return copy(reinterpret_cast<uintptr_t>(to), -1, static_cast<uintptr_t>(from), current->device, bytes, s);
}

EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream s) {
    WITH_CONTEXT
    return copy(static_cast<uintptr_t>(to), current->device, static_cast<uintptr_t>(from), current->device, bytes, s);
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned word, std::size_t n, CUstream handle) {
    WITH_CONTEXT
    STREAM(s, handle)
    uintptr_t at = static_cast<uintptr_t>(to);
    const Memory *m = holding(at, n * 4);
    if (at % 4 != 0 || n > SIZE_MAX / 4 || m == nullptr || m->device != current->device) {
        say("a fill of " + std::to_string(n) + " words of memory that does not hold them");
        return CUDA_ERROR_INVALID_VALUE;
    }
    return put(s, {[=] {
        if (holding(at, n * 4) == nullptr) {
            say("a fill of memory that has been freed");
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        std::fill_n(reinterpret_cast<unsigned *>(at), n, word);
        return CUDA_SUCCESS;
    }});
}

// --------------------------------------------------------------------- streams and events

EXPORT CUresult cuStreamCreate(CUstream *to, unsigned) {
    WITH_CONTEXT
    Stream *s = new Stream{current, {}, nullptr, false};
    current->streams.insert(s);
    status->streams++;
    *to = reinterpret_cast<CUstream>(s);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamDestroy(CUstream handle) {
    WITH_CONTEXT
    STREAM(s, handle)
    if (s->capture != nullptr) return invalidate(s, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    finish(s);
    for (Event *e : current->events)
        if (e->stream == s) e->stream = nullptr;
    current->streams.erase(s);
    status->streams--;
    delete s;
    return current->lost;
}

EXPORT CUresult cuStreamSynchronize(CUstream handle) {
    WITH_CONTEXT
    STREAM(s, handle)
    if (s->capture != nullptr) return invalidate(s, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    finish(s);
    return current->lost;
}

EXPORT CUresult cuEventCreate(CUevent *to, unsigned flags) {
    WITH_CONTEXT
    Event *e = new Event;
    e->context = current;
    e->timing = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    current->events.insert(e);
    status->events++;
    *to = reinterpret_cast<CUevent>(e);
    return CUDA_SUCCESS;
}

#define EVENT(e, handle)                           \
    Event *e = reinterpret_cast<Event *>(handle);  \
    if (current->events.count(e) == 0) return CUDA_ERROR_INVALID_HANDLE;

EXPORT CUresult cuEventDestroy(CUevent handle) {
    WITH_CONTEXT
    EVENT(e, handle)
    reach(e, e->recorded);
    for (auto &c : current->captures) c.second->events.erase(e);
    current->events.erase(e);
    status->events--;
    // Waits for it that are still to come have been reached; take them off the queues.
    for (Stream *s : current->streams)
        for (Work &w : s->work)
            if (w.wait == e) w.wait = nullptr;
    delete e;
    return current->lost;
}

EXPORT CUresult cuEventRecord(CUevent handle, CUstream on) {
    WITH_CONTEXT
    EVENT(e, handle)
    STREAM(s, on)
    if (s->capture != nullptr) {
        // Within a graph it only orders the streams that are recorded together.
        e->capture = s->capture;
        s->capture->events.insert(e);
        return CUDA_SUCCESS;
    }
    e->capture = nullptr;
    e->stream = s;
    uint64_t times = ++e->recorded;
    Context *c = current;
    return put(s, {[=] {
        if (c->events.count(e)) {
            e->done = std::max(e->done, times);
            e->at = std::chrono::steady_clock::now();
        }
        return CUDA_SUCCESS;
    }});
}

EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent of, unsigned) {
    WITH_CONTEXT
    STREAM(s, handle)
    EVENT(e, of)
    if (e->capture != nullptr) {
        if (s->capture != nullptr && s->capture != e->capture) return invalidate(s, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        s->capture = e->capture; // work is recorded in the order of the calls, whatever the stream
        s->capture->streams.insert(s);
        return CUDA_SUCCESS;
    }
    if (s->capture != nullptr) return invalidate(s, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    Work w;
    if (e->recorded > 0) {
        w.wait = e;
        w.times = e->recorded;
    }
    return put(s, w);
}

EXPORT CUresult cuEventSynchronize(CUevent handle) {
    WITH_CONTEXT
    EVENT(e, handle)
    if (e->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
    reach(e, e->recorded);
    return current->lost;
}

EXPORT CUresult cuEventQuery(CUevent handle) {
    WITH_CONTEXT
    EVENT(e, handle)
    if (e->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
    if (e->done < e->recorded && host::draw(2) == 0 && e->stream != nullptr) step(e->stream); // who asks often enough will see it done
    if (current->lost != CUDA_SUCCESS) return current->lost;
    return e->done < e->recorded ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
    WITH_CONTEXT
    EVENT(a, from)
    EVENT(b, to)
    if (!a->timing || !b->timing || a->recorded == 0 || b->recorded == 0) return CUDA_ERROR_INVALID_HANDLE;
    if (a->done < a->recorded || b->done < b->recorded) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(b->at - a->at).count();
    return CUDA_SUCCESS;
}

// --------------------------------------------------------------------- modules and kernels

EXPORT CUresult cuModuleLoadDataEx(CUmodule *to, const void *image, unsigned count, CUjit_option *options, void **values) {
    WITH_CONTEXT
    auto m = std::make_unique<Module>();
    m->context = current;
    std::string log;
    CUresult r = load(static_cast<const char *>(image), *m, log);
    char *buffer = nullptr;
    std::size_t room = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char *>(values[i]);
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) room = reinterpret_cast<std::size_t>(values[i]);
    }
    if (buffer != nullptr && room > 0) snprintf(buffer, room, "%s", log.c_str());
    if (r != CUDA_SUCCESS) return r;
    current->modules.insert(m.get());
    status->modules++;
    *to = reinterpret_cast<CUmodule>(m.release());
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleUnload(CUmodule handle) {
    WITH_CONTEXT
    Module *m = reinterpret_cast<Module *>(handle);
    if (current->modules.erase(m) == 0) return CUDA_ERROR_INVALID_HANDLE;
    finish_all(current);
    status->modules--;
    delete m;
    return current->lost;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *to, CUmodule handle, const char *name) {
    WITH_CONTEXT
    Module *m = reinterpret_cast<Module *>(handle);
    if (current->modules.count(m) == 0) return CUDA_ERROR_INVALID_HANDLE;
    auto it = m->kernels.find(name);
    if (it == m->kernels.end()) return CUDA_ERROR_NOT_FOUND;
    *to = reinterpret_cast<CUfunction>(it->second.get());
    return CUDA_SUCCESS;
}

// kernel_of returns the kernel of a handle, if its module is loaded in the current context.
static Kernel *kernel_of(CUfunction handle) {
    Kernel *k = reinterpret_cast<Kernel *>(handle);
    for (Module *m : current->modules)
        for (auto &entry : m->kernels)
            if (entry.second.get() == k) return k;
    return nullptr;
}

EXPORT CUresult cuFuncGetAttribute(int *to, CUfunction_attribute attribute, CUfunction handle) {
    WITH_CONTEXT
    Kernel *k = kernel_of(handle);
    if (k == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *to = k->most_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *to = k->shared; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *to = 0; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *to = 32; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    WITH_CONTEXT
    Kernel *k = kernel_of(handle);
    if (k == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value + k->shared > shared_opt_in(current->device)) return CUDA_ERROR_INVALID_VALUE;
    k->dynamic_shared = value;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads, std::size_t dynamic) {
    WITH_CONTEXT
    Kernel *k = kernel_of(handle);
    if (k == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (threads < 1) return CUDA_ERROR_INVALID_VALUE;
    std::size_t all = (std::size_t)shared_multiprocessor(current->device), reserved = all - (std::size_t)shared_opt_in(current->device);
    std::size_t shared = (std::size_t)k->shared + dynamic + reserved;
    *blocks = threads > k->most_threads ? 0 : (int)std::min<std::size_t>(1536 / (std::size_t)threads, shared > 0 ? all / shared : 32);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                               CUstream on, void **arguments, void **) {
    WITH_CONTEXT
    STREAM(s, on)
    Kernel *k = kernel_of(handle);
    if (k == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0 || gx > 0x7fffffff || gy > 65535 || gz > 65535 || bx > 1024 || by > 1024 || bz > 64)
        return CUDA_ERROR_INVALID_VALUE;
    if ((uint64_t)bx * by * bz > 1024) return CUDA_ERROR_INVALID_VALUE;
    if (bx * by * bz > (unsigned)k->most_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (shared + (unsigned)k->shared > (unsigned)std::max(shared_default, k->dynamic_shared + k->shared)) {
        say("kernel " + k->name + " is launched with " + std::to_string(shared) + " bytes of dynamic shared memory, more than was allowed");
        return CUDA_ERROR_INVALID_VALUE;
    }
    host::Grid g;
    g.kernel = k->code;
    g.program = k->program;
    g.blocks = {gx, gy, gz};
    g.threads = {bx, by, bz};
    g.dynamic_shared = shared;
    g.waits = k->waits;
    for (std::size_t i = 0; i < k->sizes.size(); i++) {
        uint64_t slot = 0;
        std::memcpy(&slot, arguments[i], (std::size_t)k->sizes[i]);
        // An address of another device's memory works on the host, and nowhere else.
        if (k->sizes[i] == 8)
            if (const Memory *m = holding(static_cast<uintptr_t>(slot), 1); m != nullptr && m->device != current->device) {
                say("kernel " + k->name + " is given memory that is not of its device");
                return CUDA_ERROR_INVALID_VALUE;
            }
        g.slots.push_back(slot);
    }
    return put(s, {[g, device = current->device] { return run(g, device); }});
}

// --------------------------------------------------------------------------------- graphs

EXPORT CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
    WITH_CONTEXT
    STREAM(s, handle)
    if (s->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    auto c = std::make_unique<Capture>();
    s->capture = c.get();
    c->streams.insert(s);
    current->captures[c.get()] = std::move(c);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *to) {
    WITH_CONTEXT
    STREAM(s, handle)
    *to = nullptr;
    Capture *c = s->capture;
    if (c == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    for (Stream *other : c->streams) other->capture = nullptr;
    for (Event *e : c->events)
        if (e->capture == c) e->capture = nullptr;
    bool invalid = c->invalid;
    Graph *g = new Graph{current, std::move(c->work)};
    current->captures.erase(c);
    if (invalid) {
        delete g;
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    current->graphs.insert(g);
    status->graphs++;
    *to = reinterpret_cast<CUgraph>(g);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *to, CUgraph handle, unsigned long long) {
    WITH_CONTEXT
    Graph *g = reinterpret_cast<Graph *>(handle);
    if (current->graphs.count(g) == 0) return CUDA_ERROR_INVALID_HANDLE;
    Graph *ready = new Graph(*g);
    current->ready.insert(ready);
    status->graphs++;
    *to = reinterpret_cast<CUgraphExec>(ready);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroy(CUgraph handle) {
    WITH_CONTEXT
    Graph *g = reinterpret_cast<Graph *>(handle);
    if (current->graphs.erase(g) == 0) return CUDA_ERROR_INVALID_HANDLE;
    status->graphs--;
    delete g;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec handle) {
    WITH_CONTEXT
    Graph *g = reinterpret_cast<Graph *>(handle);
    if (current->ready.erase(g) == 0) return CUDA_ERROR_INVALID_HANDLE;
    status->graphs--;
    delete g; // launches under way have copies of its work
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphLaunch(CUgraphExec handle, CUstream on) {
    WITH_CONTEXT
    STREAM(s, on)
    Graph *g = reinterpret_cast<Graph *>(handle);
    if (current->ready.count(g) == 0) return CUDA_ERROR_INVALID_HANDLE;
    for (const Work &w : g->work)
        if (CUresult r = put(s, w); r != CUDA_SUCCESS) return r;
    return CUDA_SUCCESS;
}
