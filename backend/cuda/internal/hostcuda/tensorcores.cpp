// How tensor cores add, by the models of Khattak and Mikaitis ("Accurate models of NVIDIA
// tensor cores", arXiv 2512.07004), which they compared with the cards bit by bit. A group of
// products and the sum so far are aligned to the largest exponent among them, that of a product
// being the sum of its factors' exponents; what lies more than 23 places and some extra ones
// below it is cut off; the rest is added exactly, and the result is rounded toward zero. A group
// is as many products as have factors in 16 bytes, with one extra place, on an A100, and in 32
// bytes, with two, on an H100. So TF32 has groups of 4 and 8, half precision and bfloat16 of 8 and 16.
#include "host.h"

#include <cstring>

namespace host {

static int group_bytes = 32, extra_places = 2;

void tensor_cores_of(int capability) {
    bool newer = capability >= 90;
    group_bytes = newer ? 32 : 16;
    extra_places = newer ? 2 : 1;
}

// A row of the result at a time.
using Ints = int __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));
using Longs = long long __attribute__((vector_size(64)));

// The exponents of 0, and of infinity and NaN, whose sum is that of the latter.
constexpr int zero = -4000, no_number = 10000;

static Ints select(Ints mask, Ints yes, Ints no) { return (mask & yes) | (~mask & no); }
static Ints larger(Ints a, Ints b) { return select(a > b, a, b); }

// Exponents of factors or sums; numbers below the least normal one have that one's.
static Ints exponents(Floats f, int least) {
    Ints bits = (Ints)f & 0x7fffffff;
    Ints e = larger((bits >> 23) - 127, Ints{} + least);
    return select(bits == 0, Ints{} + zero, select(e > 127, Ints{} + no_number, e));
}

// 2^e of a normal number.
static Floats power(Ints e) { return (Floats)((e + 127) << 23); }
static Doubles wide_power(Ints e) { return (Doubles)((__builtin_convertvector(e, Longs) + 1023) << 52); }

// The nearest floats towards zero; beyond the largest, infinity.
static Floats toward_zero(Doubles v) {
    Floats f = __builtin_convertvector(v, Floats);
    Doubles back = __builtin_convertvector(f, Doubles);
    Longs away = (v > 0 ? back > v : back < v) & (v < 0x1p128) & (v > -0x1p128);
    return (Floats)((Ints)f + __builtin_convertvector(away, Ints));
}

// Adds a group of products to a row of sums, by the exponents of the row's factors, of b's, and
// of the sums. The unit is the last place that is kept; in it all is an integer.
template <int GROUP> Floats add_group(Floats d, const float *a, const int *of_a, const Floats *b, const Ints *of_b) {
    Ints largest = exponents(d, -126);
    for (int k = 0; k < GROUP; k++) largest = larger(largest, of_a[k] + of_b[k]);
    // Almost always a float holds each product in its place, and an int the sum of 8 of them.
    Ints special = ((largest < -90) & (largest > zero / 2)) | (largest > 90);
    int any = 0;
    for (int c = 0; c < 8; c++) any |= special[c];
    if (any) {
        for (int c = 0; c < 8; c++) {
            int places = 23 + extra_places - (largest[c] > 500 ? 500 : largest[c] < -500 ? -500 : largest[c]);
            double scale = __builtin_ldexp(1, places), sum = __builtin_trunc((double)d[c] * scale);
            for (int k = 0; k < GROUP; k++) sum += __builtin_trunc((double)a[k] * (double)b[k][c] * scale);
            d[c] = toward_zero(Doubles{} + sum / scale)[0];
        }
        return d;
    }
    Ints places = 23 + extra_places - larger(largest, Ints{} - 90);
    Floats scale = power(places);
    Ints first = __builtin_convertvector(d * scale, Ints), second = {};
    for (int k = 0; k < GROUP; k++) (k < 8 ? first : second) += __builtin_convertvector(a[k] * b[k] * scale, Ints);
    if constexpr (GROUP > 8) return toward_zero((__builtin_convertvector(first, Doubles) + __builtin_convertvector(second, Doubles)) * wide_power(-places));
    Floats sum = __builtin_convertvector(first, Floats); // the nearest
    Ints back = __builtin_convertvector(sum, Ints), away = select(first < 0, back < first, back > first);
    return (Floats)((Ints)sum + away) * power(-places);
}

template <int GROUP, int DEPTH> void add_groups(float (&d)[16][8], const float (&a)[16][DEPTH], const float (&b)[DEPTH][8], int least) {
    int of_a[16][DEPTH];
    for (int i = 0; i < 16 * DEPTH; i += 8) {
        Floats f;
        std::memcpy(&f, &a[0][0] + i, sizeof f);
        Ints e = exponents(f, least);
        std::memcpy(&of_a[0][0] + i, &e, sizeof e);
    }
    Floats rows[DEPTH];
    Ints of_b[DEPTH];
    std::memcpy(rows, b, sizeof rows);
    for (int k = 0; k < DEPTH; k++) of_b[k] = exponents(rows[k], least);
    for (int r = 0; r < 16; r++) {
        Floats sum;
        std::memcpy(&sum, d[r], sizeof sum);
        for (int k = 0; k < DEPTH; k += GROUP) sum = add_group<GROUP>(sum, a[r] + k, of_a[r] + k, rows + k, of_b + k);
        std::memcpy(d[r], &sum, sizeof sum);
    }
}

void add_products_tf32(float (&d)[16][8], const float (&a)[16][8], const float (&b)[8][8]) {
    group_bytes == 32 ? add_groups<8>(d, a, b, -126) : add_groups<4>(d, a, b, -126);
}
void add_products_f16(float (&d)[16][8], const float (&a)[16][16], const float (&b)[16][8]) {
    group_bytes == 32 ? add_groups<16>(d, a, b, -14) : add_groups<8>(d, a, b, -14);
}
void add_products_bf16(float (&d)[16][8], const float (&a)[16][16], const float (&b)[16][8]) {
    group_bytes == 32 ? add_groups<16>(d, a, b, -126) : add_groups<8>(d, a, b, -126);
}

} // namespace host
