// The forms of factors on tensor cores.
#ifndef AVERAGED_IMAGING_TENSOR_H
#define AVERAGED_IMAGING_TENSOR_H

#include "device.h"

// EXACT     float32 as the sum of two TF32 numbers, large and small. Of the four products the
//           small ones' is left out, 2⁻²⁰ of the whole at most. Tensor cores add the other three
//           from zero, and an ordinary addition puts them to the sum: in a sum of their own they
//           would cut off its size times 2⁻²³ with every product, and always toward zero. So results
//           are those of float32 sums, to within rounding.
// TF32      rounded to TF32, 10 bits after the binary point. Tensor cores keep the sum: what they
//           cut off is less than what the rounding of factors does.
// HALF      pairs of neighbours rounded to half precision, in one word; sums as with TF32.
// BFLOAT16  pairs of neighbours rounded to bfloat16, 7 bits after the binary point and the range of
//           float32, in one word; sums as with TF32.
enum Form { EXACT, TF32, HALF, BFLOAT16 };

#if DEVICE_ARCH >= 80

// The large part of a float32, 11 bits, and what it leaves, 13 bits, of which TF32 takes the
// nearest 11.
DEVICE unsigned large(unsigned word) { return word & 0xffffe000u; }
DEVICE unsigned small(unsigned word) { return float_to_tf32(__uint_as_float(word) - __uint_as_float(large(word))); }

#endif
#endif
