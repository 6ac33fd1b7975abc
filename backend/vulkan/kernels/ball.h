// ball_scale is what a vector with this squared norm is multiplied by. It is 1 on the sphere, also
// where a root is off in its last bit, and NaN for NaN.
float ball_scale(float squares, float radius) {
    float norm = sqrt(squares);
    return norm <= radius || squares <= radius * radius ? 1.0 : radius / norm;
}
