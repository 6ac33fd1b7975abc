// What instructions do to the registers of a warp: a table of all that clang makes of
// ../kernels. Each rounds as the PTX reference says.
#include "host.h"
#include "ptx.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>

namespace ptx {

namespace {

using Table = std::map<std::string, Handler>;

// A register of all lanes. Operations work on copies, of which a compiler makes vectors, and
// on all lanes, of which those count that take part.
template <class T> struct Lanes {
    T v[LANES];
};

template <class T> Lanes<T> read(const Warp &w, const Operand &o) {
    Lanes<T> r;
    if constexpr (sizeof(T) >= 4) {
        std::memcpy(r.v, w.registers.data() + place<T>(o), sizeof r.v);
    } else {
        for (int l = 0; l < LANES; l++) r.v[l] = get<T>(w, o, l);
    }
    return r;
}

template <class T> void write(Warp &w, const Operand &o, uint32_t lanes, const Lanes<T> &r) {
    if (sizeof(T) >= 4 && lanes == 0xffffffff) {
        std::memcpy(w.registers.data() + place<T>(o), r.v, sizeof r.v);
        return;
    }
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) set<T>(w, o, l, r.v[l]);
}

// Handlers that apply a function, without state of its own, to each lane.
template <class D, class A, class F> Handler unary(F) {
    return [](Warp &w, const Instruction &i, uint32_t lanes) {
        auto a = read<A>(w, i.operand[1]);
        Lanes<D> d;
        for (int l = 0; l < LANES; l++) d.v[l] = F{}(a.v[l]);
        write(w, i.operand[0], lanes, d);
    };
}
template <class D, class A, class B, class F> Handler binary(F) {
    return [](Warp &w, const Instruction &i, uint32_t lanes) {
        auto a = read<A>(w, i.operand[1]);
        auto b = read<B>(w, i.operand[2]);
        Lanes<D> d;
        for (int l = 0; l < LANES; l++) d.v[l] = F{}(a.v[l], b.v[l]);
        write(w, i.operand[0], lanes, d);
    };
}
template <class D, class A, class B, class C, class F> Handler ternary(F) {
    return [](Warp &w, const Instruction &i, uint32_t lanes) {
        auto a = read<A>(w, i.operand[1]);
        auto b = read<B>(w, i.operand[2]);
        auto c = read<C>(w, i.operand[3]);
        Lanes<D> d;
        for (int l = 0; l < LANES; l++) d.v[l] = F{}(a.v[l], b.v[l], c.v[l]);
        write(w, i.operand[0], lanes, d);
    };
}

uint32_t predicate(const Warp &w, const Instruction &i, int k) {
    if (i.predicate >> k & 1) return w.predicates[i.operand[(std::size_t)k].narrow];
    return get<uint32_t>(w, i.operand[(std::size_t)k], 0) != 0 ? 0xffffffff : 0; // a constant
}
void set_predicate(Warp &w, const Instruction &i, uint32_t lanes, uint32_t v) {
    uint32_t &p = w.predicates[i.operand[0].narrow];
    p = (p & ~lanes) | (v & lanes);
}

template <class T, class F> Handler compare(F) {
    return [](Warp &w, const Instruction &i, uint32_t lanes) {
        auto a = read<T>(w, i.operand[1]), b = read<T>(w, i.operand[2]);
        uint32_t v = 0;
        for (int l = 0; l < LANES; l++) v |= (uint32_t)F{}(a.v[l], b.v[l]) << l;
        set_predicate(w, i, lanes, v);
    };
}

template <class T> void select(Table &t, const std::string &type) {
    t["selp." + type] = [](Warp &w, const Instruction &i, uint32_t lanes) {
        uint32_t p = predicate(w, i, 3);
        auto a = read<T>(w, i.operand[1]), b = read<T>(w, i.operand[2]);
        for (int l = 0; l < LANES; l++) a.v[l] = p >> l & 1 ? a.v[l] : b.v[l];
        write(w, i.operand[0], lanes, a);
    };
}

template <class T> void bits(Table &t, const std::string &size) {
    std::string b = ".b" + size;
    constexpr unsigned width = 8 * sizeof(T);
    t["and" + b] = binary<T, T, T>([](T x, T y) { return (T)(x & y); });
    t["or" + b] = binary<T, T, T>([](T x, T y) { return (T)(x | y); });
    t["xor" + b] = binary<T, T, T>([](T x, T y) { return (T)(x ^ y); });
    t["not" + b] = unary<T, T>([](T x) { return (T)~x; });
    t["shl" + b] = binary<T, T, uint32_t>([](T x, uint32_t n) { return n < width ? (T)((uint64_t)x << n) : (T)0; });
    for (const char *type : {"b", "u", "s", "f"}) {
        t["mov." + (type + size)] = unary<T, T>([](T x) { return x; });
        select<T>(t, type + size);
    }
}

template <class T> void comparisons(Table &t, const std::string &type) {
    t["setp.eq." + type] = compare<T>([](T x, T y) { return x == y; });
    t["setp.ne." + type] = compare<T>([](T x, T y) { return x < y || x > y; }); // ordered
    t["setp.lt." + type] = compare<T>([](T x, T y) { return x < y; });
    t["setp.le." + type] = compare<T>([](T x, T y) { return x <= y; });
    t["setp.gt." + type] = compare<T>([](T x, T y) { return x > y; });
    t["setp.ge." + type] = compare<T>([](T x, T y) { return x >= y; });
    if (!std::is_floating_point<T>::value) return;
    // Also true of NaN.
    t["setp.equ." + type] = compare<T>([](T x, T y) { return !(x < y || x > y); });
    t["setp.neu." + type] = compare<T>([](T x, T y) { return x != y; });
    t["setp.ltu." + type] = compare<T>([](T x, T y) { return !(x >= y); });
    t["setp.leu." + type] = compare<T>([](T x, T y) { return !(x > y); });
    t["setp.gtu." + type] = compare<T>([](T x, T y) { return !(x <= y); });
    t["setp.geu." + type] = compare<T>([](T x, T y) { return !(x < y); });
    t["setp.num." + type] = compare<T>([](T x, T y) { return x == x && y == y; });
    t["setp.nan." + type] = compare<T>([](T x, T y) { return x != x || y != y; });
}

// The high half of a product, and division, whose results by zero PTX does not say.
template <class T> T high(T x, T y) {
    if constexpr (sizeof(T) < 8) {
        using Wide = std::conditional_t<std::is_signed<T>::value, int64_t, uint64_t>;
        return (T)(((Wide)x * (Wide)y) >> (8 * sizeof(T)));
    } else {
        using Wide = std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>;
        return (T)(((Wide)x * (Wide)y) >> 64);
    }
}
template <class T> T quotient(T x, T y) {
    if (y == 0) return (T)~(T)0;
    if (std::is_signed<T>::value && y == (T)-1) return (T)(0 - (uint64_t)x);
    return (T)(x / y);
}
template <class T> T remainder(T x, T y) {
    if (y == 0) return x;
    if (std::is_signed<T>::value && y == (T)-1) return 0;
    return (T)(x % y);
}

template <class T> void integer(Table &t, const std::string &type) {
    constexpr unsigned width = 8 * sizeof(T);
    std::string s = "." + type;
    // In uint64_t, where nothing overflows without being allowed to.
    t["add" + s] = binary<T, T, T>([](T x, T y) { return (T)((uint64_t)x + (uint64_t)y); });
    t["sub" + s] = binary<T, T, T>([](T x, T y) { return (T)((uint64_t)x - (uint64_t)y); });
    t["mul.lo" + s] = binary<T, T, T>([](T x, T y) { return (T)((uint64_t)x * (uint64_t)y); });
    t["mad.lo" + s] = ternary<T, T, T, T>([](T x, T y, T z) { return (T)((uint64_t)x * (uint64_t)y + (uint64_t)z); });
    t["mul.hi" + s] = binary<T, T, T>([](T x, T y) { return high(x, y); });
    t["div" + s] = binary<T, T, T>([](T x, T y) { return quotient(x, y); });
    t["rem" + s] = binary<T, T, T>([](T x, T y) { return remainder(x, y); });
    t["min" + s] = binary<T, T, T>([](T x, T y) { return x < y ? x : y; });
    t["max" + s] = binary<T, T, T>([](T x, T y) { return x > y ? x : y; });
    t["neg" + s] = unary<T, T>([](T x) { return (T)(0 - (uint64_t)x); });
    t["shr" + s] = binary<T, T, uint32_t>([](T x, uint32_t n) { return n < width ? (T)(x >> n) : x < 0 ? (T)-1 : (T)0; });
    comparisons<T>(t, type);
}
template <class T, class Wide> void widening(Table &t, const std::string &type) {
    t["mul.wide." + type] = binary<Wide, T, T>([](T x, T y) { return (Wide)((uint64_t)(Wide)x * (uint64_t)(Wide)y); });
    t["mad.wide." + type] = ternary<Wide, T, T, Wide>([](T x, T y, Wide z) { return (Wide)((uint64_t)(Wide)x * (uint64_t)(Wide)y + (uint64_t)z); });
}

template <class T> void floating(Table &t, const std::string &type) {
    std::string s = "." + type, rn = ".rn." + type;
    t["add" + rn] = binary<T, T, T>([](T x, T y) { return x + y; });
    t["sub" + rn] = binary<T, T, T>([](T x, T y) { return x - y; });
    t["mul" + rn] = binary<T, T, T>([](T x, T y) { return x * y; });
    t["fma" + rn] = ternary<T, T, T, T>([](T x, T y, T z) { return std::fma(x, y, z); });
    t["div" + rn] = binary<T, T, T>([](T x, T y) { return x / y; });
    t["sqrt" + rn] = unary<T, T>([](T x) { return std::sqrt(x); });
    t["neg" + s] = unary<T, T>([](T x) { return -x; });
    t["abs" + s] = unary<T, T>([](T x) { return std::fabs(x); });
    // Of NaN and a number, the number.
    t["min" + s] = binary<T, T, T>([](T x, T y) { return std::fmin(x, y); });
    t["max" + s] = binary<T, T, T>([](T x, T y) { return std::fmax(x, y); });
    comparisons<T>(t, type);
}

template <class D, class S> void conversion(Table &t, const std::string &name) {
    t["cvt." + name] = unary<D, S>([](S x) { return (D)x; });
}
template <class D> void conversions_to(Table &t, const std::string &d) {
    conversion<D, uint16_t>(t, d + ".u16");
    conversion<D, int16_t>(t, d + ".s16");
    conversion<D, uint32_t>(t, d + ".u32");
    conversion<D, int32_t>(t, d + ".s32");
    conversion<D, uint64_t>(t, d + ".u64");
    conversion<D, int64_t>(t, d + ".s64");
}
// To an integer, rounded and held within its range; NaN is 0, as on the GPU.
template <class D, class S> D held(S rounded) {
    if (rounded != rounded) return 0;
    if (rounded <= (S)std::numeric_limits<D>::min()) return std::numeric_limits<D>::min();
    if (rounded >= (S)std::numeric_limits<D>::max()) return std::numeric_limits<D>::max();
    return (D)rounded;
}
template <class D, class S> void to_integer(Table &t, const std::string &name) {
    t["cvt.rzi." + name] = unary<D, S>([](S x) { return held<D, S>(std::trunc(x)); });
    t["cvt.rni." + name] = unary<D, S>([](S x) { return held<D, S>(std::nearbyint(x)); });
    t["cvt.rmi." + name] = unary<D, S>([](S x) { return held<D, S>(std::floor(x)); });
    t["cvt.rpi." + name] = unary<D, S>([](S x) { return held<D, S>(std::ceil(x)); });
}

// extract is bfe.
uint32_t extract(uint32_t a, uint32_t from, uint32_t count) {
    from &= 0xff, count &= 0xff;
    uint64_t mask = count >= 32 ? 0xffffffffu : (1ull << count) - 1;
    return from >= 32 ? 0 : (uint32_t)(a >> from & mask);
}

// The same with the sign, the last bit that was taken, in all bits above.
int32_t extract_signed(int32_t a, uint32_t from, uint32_t count) {
    from &= 0xff, count &= 0xff;
    if (count == 0) return 0;
    uint32_t last = std::min(from + count - 1, 31u), kept = last + 1 > from ? last + 1 - from : 0;
    int32_t sign = a >> last & 1 ? -1 : 0;
    return kept == 0 ? sign : kept >= 32 ? a : (int32_t)(extract((uint32_t)a, from, kept) | (uint32_t)sign << kept);
}

// shuffle gives each lane the value of another, if that is in its segment, as shfl.sync does.
template <int (*from)(int lane, int by, int bound)> void shuffle(Warp &w, const Instruction &i, uint32_t lanes) {
    uint32_t values[LANES];
    for (int l = 0; l < LANES; l++) values[l] = get<uint32_t>(w, i.operand[1], l);
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        int bound = (int)get<uint32_t>(w, i.operand[3], l);
        int other = from(l, (int)get<uint32_t>(w, i.operand[2], l) & 31, bound);
        if (!(lanes >> other & 1)) throw Stop{host::Fault::stuck, "it takes the value of lane " + std::to_string(other) + ", which is not there", (uint32_t)l};
        set<uint32_t>(w, i.operand[0], l, values[other]);
    }
}
// The bound has the clamp in bits 0–4 and the mask of segments in bits 8–12.
int last_of(int lane, int bound) { int mask = bound >> 8 & 31; return (lane & mask) | (bound & 31 & ~mask); }
int first_of(int lane, int bound) { return lane & (bound >> 8 & 31); }
int from_xor(int lane, int by, int bound) { int j = lane ^ by; return j <= last_of(lane, bound) ? j : lane; }
int from_down(int lane, int by, int bound) { int j = lane + by; return j <= last_of(lane, bound) ? j : lane; }
int from_up(int lane, int by, int bound) { int j = lane - by; return j >= last_of(lane, bound) ? j : lane; }
int from_index(int lane, int by, int bound) { int j = first_of(lane, bound) | (by & ~(bound >> 8 & 31)); return j <= last_of(lane, bound) ? j : lane; }

// multiply is mma: the factors and sums of all lanes, in the fragments that ../kernels/device_ptx.h shows.
template <host::Act product> void multiply(Warp &w, const Instruction &i, uint32_t lanes) {
    if (lanes != 0xffffffff) throw Stop{host::Fault::stuck, "an operation on matrices by fewer than 32 threads", 0};
    float d[LANES][4];
    unsigned a[LANES][4], b[LANES][2];
    host::Product records[LANES];
    void *pointers[LANES];
    for (int l = 0; l < LANES; l++) {
        for (std::size_t k = 0; k < 4; k++) d[l][k] = get<float>(w, i.operand[10 + k], l), a[l][k] = get<uint32_t>(w, i.operand[4 + k], l);
        for (std::size_t k = 0; k < 2; k++) b[l][k] = get<uint32_t>(w, i.operand[8 + k], l);
        records[l] = {d[l], a[l], b[l]};
        pointers[l] = &records[l];
    }
    product(pointers);
    for (int l = 0; l < LANES; l++)
        for (std::size_t k = 0; k < 4; k++) set<float>(w, i.operand[k], l, d[l][k]);
    w.block->program->counts.products++;
}

Table make() {
    Table t;
    bits<uint16_t>(t, "16");
    bits<uint32_t>(t, "32");
    bits<uint64_t>(t, "64");
    integer<uint16_t>(t, "u16");
    integer<int16_t>(t, "s16");
    integer<uint32_t>(t, "u32");
    integer<int32_t>(t, "s32");
    integer<uint64_t>(t, "u64");
    integer<int64_t>(t, "s64");
    comparisons<uint16_t>(t, "b16");
    comparisons<uint32_t>(t, "b32");
    comparisons<uint64_t>(t, "b64");
    widening<uint16_t, uint32_t>(t, "u16");
    widening<int16_t, int32_t>(t, "s16");
    widening<uint32_t, uint64_t>(t, "u32");
    widening<int32_t, int64_t>(t, "s32");
    floating<float>(t, "f32");
    floating<double>(t, "f64");
    conversions_to<uint16_t>(t, "u16");
    conversions_to<int16_t>(t, "s16");
    conversions_to<uint32_t>(t, "u32");
    conversions_to<int32_t>(t, "s32");
    conversions_to<uint64_t>(t, "u64");
    conversions_to<int64_t>(t, "s64");
    conversions_to<float>(t, "rn.f32");
    conversions_to<double>(t, "rn.f64");
    conversion<float, double>(t, "rn.f32.f64");
    conversion<double, float>(t, "f64.f32");
    to_integer<int32_t, float>(t, "s32.f32");
    to_integer<int32_t, double>(t, "s32.f64");
    to_integer<int64_t, float>(t, "s64.f32");
    to_integer<int64_t, double>(t, "s64.f64");
    t["cvt.rmi.f32.f32"] = unary<float, float>([](float x) { return std::floor(x); });
    t["cvt.rmi.f64.f64"] = unary<double, double>([](double x) { return std::floor(x); });
    t["cvt.rna.tf32.f32"] = unary<uint32_t, float>([](float x) { return host::float_to_tf32(x); });
    t["cvt.f32.f16"] = unary<float, uint16_t>([](uint16_t x) { return host::half_to_float(x); });
    t["cvt.rn.f16.f32"] = unary<uint16_t, float>([](float x) { return host::float_to_half(x); });
    t["cvt.rn.f16x2.f32"] = binary<uint32_t, float, float>([](float high, float low) {
        return (uint32_t)host::float_to_half(low) | (uint32_t)host::float_to_half(high) << 16;
    });
    t["cvt.rn.bf16x2.f32"] = binary<uint32_t, float, float>([](float high, float low) {
        return (uint32_t)host::float_to_bfloat16(low) | (uint32_t)host::float_to_bfloat16(high) << 16;
    });
    // To within two units in the last place; it may be any number as close as that. An H100's was seen below
    // where it counts: 3·rsqrt(9) is less than 1.
    t["rsqrt.approx.f32"] = unary<float, float>([](float x) { return std::nextafterf((float)(1 / std::sqrt((double)x)), 0); });
    // Device memory has the same addresses in the generic and in its own space.
    for (const char *name : {"cvta.global.u64", "cvta.to.global.u64"}) t[name] = t.at("mov.b64");
    t["bfe.u32"] = ternary<uint32_t, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t from, uint32_t count) { return extract(a, from, count); });
    t["bfe.s32"] = ternary<int32_t, int32_t, uint32_t, uint32_t>([](int32_t a, uint32_t from, uint32_t count) { return extract_signed(a, from, count); });
    t["brev.b32"] = unary<uint32_t, uint32_t>([](uint32_t a) {
        uint32_t r = 0;
        for (int k = 0; k < 32; k++) r |= (a >> k & 1) << (31 - k);
        return r;
    });
    t["mov.b64 joins"] = binary<uint64_t, uint32_t, uint32_t>([](uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; });
    t["mov.b32 joins"] = binary<uint32_t, uint16_t, uint16_t>([](uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; });
    t["mov.b64 parts"] = [](Warp &w, const Instruction &i, uint32_t lanes) {
        auto all = read<uint64_t>(w, i.operand[2]);
        Lanes<uint32_t> low, high;
        for (int l = 0; l < LANES; l++) low.v[l] = (uint32_t)all.v[l], high.v[l] = (uint32_t)(all.v[l] >> 32);
        write(w, i.operand[0], lanes, low);
        write(w, i.operand[1], lanes, high);
    };
    t["mov.b32 parts"] = [](Warp &w, const Instruction &i, uint32_t lanes) {
        auto all = read<uint32_t>(w, i.operand[2]);
        Lanes<uint16_t> low, high;
        for (int l = 0; l < LANES; l++) low.v[l] = (uint16_t)all.v[l], high.v[l] = (uint16_t)(all.v[l] >> 16);
        write(w, i.operand[0], lanes, low);
        write(w, i.operand[1], lanes, high);
    };
    t["mov.pred"] = [](Warp &w, const Instruction &i, uint32_t lanes) { set_predicate(w, i, lanes, predicate(w, i, 1)); };
    t["not.pred"] = [](Warp &w, const Instruction &i, uint32_t lanes) { set_predicate(w, i, lanes, ~predicate(w, i, 1)); };
    t["and.pred"] = [](Warp &w, const Instruction &i, uint32_t lanes) { set_predicate(w, i, lanes, predicate(w, i, 1) & predicate(w, i, 2)); };
    t["or.pred"] = [](Warp &w, const Instruction &i, uint32_t lanes) { set_predicate(w, i, lanes, predicate(w, i, 1) | predicate(w, i, 2)); };
    t["xor.pred"] = [](Warp &w, const Instruction &i, uint32_t lanes) { set_predicate(w, i, lanes, predicate(w, i, 1) ^ predicate(w, i, 2)); };
    t["shfl.sync.bfly.b32"] = shuffle<from_xor>;
    t["shfl.sync.down.b32"] = shuffle<from_down>;
    t["shfl.sync.up.b32"] = shuffle<from_up>;
    t["shfl.sync.idx.b32"] = shuffle<from_index>;
    t["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"] = multiply<host::product_tf32>;
    t["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"] = multiply<host::product_f16>;
    t["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"] = multiply<host::product_bf16>;
    // Threads run one after the other and see each other's writes at once.
    for (const char *name : {"bar.warp.sync", "membar.gl"}) t[name] = [](Warp &, const Instruction &, uint32_t) {};
    return t;
}

} // namespace

Handler operation(const std::string &name) {
    static const Table table = make();
    auto it = table.find(name);
    return it == table.end() ? nullptr : it->second;
}

} // namespace ptx
