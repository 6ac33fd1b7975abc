// The projection of vectors onto balls around 0.
#ifndef AVERAGED_IMAGING_BALL_H
#define AVERAGED_IMAGING_BALL_H

#include "device.h"

// The factor that projects a vector with these squares added up: 1 inside the ball and on the
// sphere, NaN for NaN, and for 0 too a number. Of vectors longer than 1e-15 it is right to three
// units in the last place; a root and a division that round correctly take four times as many
// instructions. A GPU's reciprocal root may be too small by some of these units, so it does not say
// what lies on the sphere.
DEVICE float ball_scale(float squares, float radius) {
    float scale = radius * rsqrtf(squares + 0x1p-126f);
    return scale >= 1 || squares <= radius * radius ? 1 : scale;
}

#endif
