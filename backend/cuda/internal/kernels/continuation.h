// How a blur continues an image beyond its frame, along one axis.
#ifndef AVERAGED_IMAGING_CONTINUATION_H
#define AVERAGED_IMAGING_CONTINUATION_H

#include "device.h"

// Folded belongs to the adjoint of Reflected: with period 2n, there are n samples and n
// zeros; where the forward blur reads sample i at two places, the adjoint reads at place i
// and at place 2n−1−i.
enum Continuation { Circular, Zero, Reflected, Folded };

DEVICE int wrapped(int i, int n) {
    i %= n;
    return i < 0 ? i + n : i;
}

// The sample of n that stands at place i, or −1 for a zero.
DEVICE int sample(int i, int n, int continuation) {
    if ((unsigned)i < (unsigned)n) return i;
    if (continuation == Circular) return wrapped(i, n);
    if (continuation == Zero) return -1;
    i = wrapped(i, 2 * n);
    if (i < n) return i;
    return continuation == Reflected ? 2 * n - 1 - i : -1;
}

// Whether any of the places [i, i + count) has a sample.
DEVICE bool any_sample(int i, int count, int n, int continuation) {
    if (continuation == Circular || continuation == Reflected) return true;
    if (continuation == Zero) return i < n && i + count > 0;
    i = wrapped(i, 2 * n);
    return i < n || i + count > 2 * n;
}

// The places of an extended image where sample i stands, in order: the first one that is not
// before `before` places in front of the image, counted from there, and the one after place
// `place`, counted from the image.
DEVICE int first_copy(int i, int before, int n, int continuation) {
    if (continuation == Circular) return wrapped(i + before, n);
    if (continuation == Zero) return i + before;
    return min(wrapped(i + before, 2 * n), wrapped(2 * n - 1 - i + before, 2 * n));
}

DEVICE int next_copy(int place, int n, int continuation) {
    if (continuation == Circular) return place + n;
    if (continuation == Zero) return 1 << 30; // there is but one
    // Samples run forwards in the first half of a period and backwards in the second; the two
    // places of a sample lie alike on both sides of the middle, and of the end.
    int at = wrapped(place, 2 * n), turn = at < n ? n : 2 * n;
    return place + 2 * (turn - at) - 1;
}

#endif
