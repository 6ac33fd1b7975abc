// The projection of vectors onto balls around 0.
#ifndef AVERAGED_IMAGING_BALL_H
#define AVERAGED_IMAGING_BALL_H

#include "device.h"

// The factor that projects a vector with these squares added up: 1 inside the ball and on the
// sphere, NaN for NaN.
DEVICE float ball_scale(float squares, float radius) {
    float norm = sqrtf(squares);
    return norm <= radius ? 1 : radius / norm;
}

#endif
