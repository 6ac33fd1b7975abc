// ball_scale is what a vector with this squared norm is multiplied by. It is 1 on the sphere, also
// where a root is off in its last bit, and NaN for NaN.
fn ball_scale(squares: f32, radius: f32) -> f32 {
    let norm = sqrt(squares);
    if (norm <= radius || squares <= radius * radius) {
        return 1.0;
    }
    return radius / norm;
}
