// The forms of factors on tensor cores.
#ifndef AVERAGED_IMAGING_TENSOR_H
#define AVERAGED_IMAGING_TENSOR_H

#include "device.h"

// EXACT  float32 as the sum of two TF32 numbers, large and small. Of the four products the
//        small ones' is left out, 2⁻²⁰ of the whole at most, so results are those of float32
//        sums, to within rounding.
// TF32   rounded to TF32, 10 bits after the binary point.
// HALF   pairs of neighbours rounded to half precision, in one word.
enum Form { EXACT, TF32, HALF };

// The large part of a float32, 11 bits, and what it leaves: exact, and it has 13 bits, of
// which TF32 takes 11.
DEVICE unsigned large(unsigned word) { return word & 0xffffe000u; }
DEVICE unsigned small(unsigned word) { return __float_as_uint(__uint_as_float(word) - __uint_as_float(large(word))); }

#endif
