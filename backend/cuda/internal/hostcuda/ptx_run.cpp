// Runs a grid of a program: blocks in shuffled order, the warps of a block in shuffled turns,
// the lanes of a warp together where they are at the same instruction, as the GPU does it.
#include "ptx.h"

#include <algorithm>

namespace ptx {

namespace {

// Instructions of a warp before another one's turn, at most.
constexpr unsigned longest_turn = 400;

uint32_t launches, blocks; // so far

// The place of number n, in x, y, z.
host::Extent index(unsigned n, const host::Extent &all) { return {n % all.x, n / all.x % all.y, n / all.x / all.y}; }
std::string place(unsigned n, const host::Extent &all) {
    host::Extent at = index(n, all);
    return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

void start(Warp &w, const Program &p, Block &b, const host::Grid &g, unsigned first, const host::Extent &block) {
    unsigned threads = g.threads.x * g.threads.y * g.threads.z, count = std::min<unsigned>(LANES, threads - first);
    w.block = &b;
    w.first = first;
    w.lanes = w.live = count == LANES ? 0xffffffff : (1u << count) - 1;
    w.registers = p.registers;
    w.predicates.assign((std::size_t)p.predicates, 0);
    w.groups.assign(1, {w.lanes, 0});
    w.at_barrier = false;
    w.group.fill(0);
    for (auto &c : w.copies) c.clear();
    for (std::size_t k = 0; k < p.parameters.size(); k++)
        for (int l = 0; l < LANES; l++) set<uint64_t>(w, {0, p.parameters[k]}, l, g.slots[k]);
    for (unsigned l = 0; l < LANES; l++) {
        const host::Extent values[4] = {index(first + l, g.threads), g.threads, block, g.blocks};
        for (std::size_t which = 0; which < 4; which++) {
            const unsigned axes[3] = {values[which].x, values[which].y, values[which].z};
            for (std::size_t axis = 0; axis < 3; axis++) set<uint32_t>(w, {p.special[which][axis], 0}, (int)l, axes[axis]);
        }
    }
}

// Whether a group waits for other lanes of its warp.
bool waits(const Warp &w, const Program &p, const Group &g) {
    const Instruction &i = p.code[g.at];
    if (i.kind == Kind::together) return g.lanes != (i.members & w.lanes);
    return i.kind == Kind::barrier && g.lanes != w.live;
}

// The group that goes on: the one that is furthest behind, so that others can join it, of
// those that wait for nobody. Groups at one instruction become one. Returns −1 if all wait.
int choose(Warp &w, const Program &p) {
    auto &all = w.groups;
    std::sort(all.begin(), all.end(), [](const Group &a, const Group &b) { return a.at < b.at; });
    std::size_t kept = 0;
    for (const Group &g : all) {
        if (kept > 0 && all[kept - 1].at == g.at) {
            all[kept - 1].lanes |= g.lanes;
        } else {
            all[kept++] = g;
        }
    }
    all.resize(kept);
    for (std::size_t k = 0; k < kept; k++)
        if (!waits(w, p, all[k])) return (int)k;
    return -1;
}

// turn lets a warp do some instructions, until it comes to a barrier or to its end. It
// returns whether it did any.
bool turn(Warp &w, Program &p, unsigned count) {
    bool any = false;
    for (unsigned n = 0; n < count && w.live != 0 && !w.at_barrier; n++) {
        int which = w.groups.size() == 1 && !waits(w, p, w.groups[0]) ? 0 : choose(w, p);
        if (which < 0) return any;
        any = true;
        Group &g = w.groups[(std::size_t)which];
        const Instruction &i = p.code[g.at];
        uint32_t lanes = g.lanes;
        if (i.guard >= 0) {
            uint32_t v = w.predicates[(std::size_t)i.guard];
            lanes &= i.unless ? ~v : v;
        }
        p.counts.instructions++;
        p.counts.lanes += (unsigned)__builtin_popcount(lanes);
        switch (i.kind) {
        case Kind::plain:
        case Kind::together:
            try {
                if (lanes != 0) i.run(w, i, lanes);
            } catch (Stop &s) {
                s.text += ", in line " + std::to_string(i.line) + ": " + i.text;
                throw;
            }
            g.at++;
            break;
        case Kind::barrier:
            if (lanes != g.lanes) throw Stop{host::Fault::stuck, "a barrier under a condition", 0};
            w.at_barrier = true;
            break;
        case Kind::branch:
            if (lanes == g.lanes) {
                g.at = i.target;
            } else {
                g.lanes &= ~lanes;
                g.at++;
                if (lanes != 0) w.groups.push_back({lanes, i.target}); // g is no more
            }
            break;
        case Kind::exit:
            w.live &= ~lanes;
            g.lanes &= ~lanes;
            g.at++;
            if (g.lanes == 0) w.groups.erase(w.groups.begin() + which);
            break;
        }
    }
    return any;
}

[[noreturn]] void stuck(const std::vector<Warp> &warps, const Program &p) {
    std::string text = "threads wait for each other for ever:";
    for (const Warp &w : warps)
        for (const Group &g : w.groups) {
            const Instruction &i = p.code[g.at];
            text += " " + std::to_string(__builtin_popcount(g.lanes)) + " in line " + std::to_string(i.line) + " (" + i.text + ")";
        }
    throw Stop{host::Fault::stuck, text, 0};
}

// release lets all warps go on that have come to a barrier.
void release(std::vector<Warp> &warps, Block &b, const Program &p) {
    uint32_t at = 0;
    bool any = false;
    for (Warp &w : warps) {
        if (w.live == 0) continue;
        if (any && w.groups[0].at != at)
            throw Stop{host::Fault::stuck, "threads wait at different barriers, in lines " + std::to_string(p.code[at].line) + " and " + std::to_string(p.code[w.groups[0].at].line), 0};
        any = true;
        at = w.groups[0].at;
        w.groups[0].at++;
        w.at_barrier = false;
    }
    b.epoch++;
}

void run_block(Program &p, const host::Grid &g, const host::Extent &block, uint32_t number, std::vector<Warp> &warps, Block &b) {
    b.program = &p;
    b.number = number;
    b.serial = ++blocks;
    b.launch = launches;
    b.epoch = 0;
    b.shared.assign((p.shared + g.dynamic_shared + 3) / 4 * 4, 0);
    b.shared_words.resize(std::max(b.shared_words.size(), b.shared.size() / p.word + 1));
    unsigned threads = g.threads.x * g.threads.y * g.threads.z;
    unsigned count = (threads + LANES - 1) / LANES;
    warps.resize(count);
    for (unsigned k = 0; k < count; k++) start(warps[k], p, b, g, k * LANES, block);
    p.counts.blocks++;
    p.counts.warps += count;
    for (;;) {
        bool any = false, alive = false, all_wait = true;
        unsigned at = host::draw(count), step = host::stride(count);
        for (unsigned k = 0; k < count; k++, at = (at + step) % count) {
            Warp &w = warps[at];
            try {
                any = turn(w, p, 1 + host::draw(longest_turn)) || any;
            } catch (Stop &s) {
                unsigned t = w.first + s.lane;
                s.text = "thread " + place(t, g.threads) + ": " + s.text;
                throw;
            }
            alive = alive || w.live != 0;
            all_wait = all_wait && (w.live == 0 || w.at_barrier);
        }
        if (!alive) return;
        if (all_wait) {
            release(warps, b, p);
        } else if (!any) {
            stuck(warps, p);
        }
    }
}

} // namespace

host::Fault run(Program &p, const host::Grid &g, std::string &text) {
    static std::vector<Warp> warps; // calls do not overlap
    static Block block;
    launches++;
    p.counts.launches++;
    uint64_t all = (uint64_t)g.blocks.x * g.blocks.y * g.blocks.z;
    unsigned n = (unsigned)std::min<uint64_t>(all, 0x7fffffff);
    uint64_t at = host::draw(n), step = n > 1 ? host::stride(n) : 1;
    for (auto &w : warps) w.span = Span{}; // memory may have gone since
    for (uint64_t i = 0; i < all; i++, at = (at + step) % all) {
        try {
            run_block(p, g, index((unsigned)at, g.blocks), (uint32_t)at, warps, block);
        } catch (const Stop &s) {
            text = "kernel " + p.name + ", block " + place((unsigned)at, g.blocks) + ", " + s.text;
            return s.fault;
        }
    }
    return host::Fault::none;
}

} // namespace ptx
