// Loops that the compiler would unroll, and should not: the PTX is text in the repository
// and in the program.
#ifndef AVERAGED_IMAGING_LOOPS_H
#define AVERAGED_IMAGING_LOOPS_H

#if defined(__CUDA__)
#define ROLLED _Pragma("nounroll")
#else
#define ROLLED
#endif

#endif
