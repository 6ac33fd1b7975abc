// What convolution kernels have in common: their arguments, and what follows a sum. A thread has eight
// outputs of a pixel, in two vectors.

// After a sum: a layer, σ(sum + bias), or an addition, beta·start + scale·sum.
@id(0) override adds: u32 = 0u;
// Channels of a vector that a layer projects onto a ball: 1, 2, 4 or 8; 0 for none.
@id(1) override ball: u32 = 0u;

struct Push {
    dst_at: u32, dst_plane: u32, dst_pitch: u32,
    src_at: u32, src_plane: u32, src_pitch: u32,
    start_at: u32, start_plane: u32, start_pitch: u32,
    radius_at: u32, radius_plane: u32, radius_pitch: u32, radius_step: u32, // a vector has plane 1, pitch and step 0
    bias_at: u32, has_bias: u32,
    channels: u32,            // of the source; those of the filter beyond meet zeros
    known: u32,               // channels of start; those beyond are zero
    outputs: u32, padded: u32,
    height: i32, width: i32,  // of the source
    y0: i32, x0: i32,         // of the source's pixels, the first of the result
    rows: u32, columns: u32,  // of the result
    first_row: u32,           // of this dispatch, so that none takes long
    kh: u32, kw: u32,
    beta: f32, scale: f32,
    slope: f32,
}
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<storage, read> src: array<f32>;
@group(0) @binding(3) var<storage, read> weights: array<vec4f>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;   // of a layer that has one
@group(0) @binding(5) var<storage, read> radius: array<f32>; // of a layer with balls
@group(0) @binding(6) var<storage, read> start: array<f32>;  // of an addition whose beta is not 0

// finish puts eight outputs, from o on, of pixel (y, x) of the result to their places.
fn finish(a: vec4f, b: vec4f, o: u32, y: u32, x: u32) {
    var v = array<f32, 8>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
    let to = push.dst_at + y * push.dst_pitch + x;
    if (adds != 0u) {
        for (var k = 0u; k < 8u; k++) {
            if (o + k < push.outputs) {
                var s = push.scale * v[k];
                if (push.beta != 0.0 && o + k < push.known) {
                    s += push.beta * start[push.start_at + (o + k) * push.start_plane + y * push.start_pitch + x];
                }
                dst[to + (o + k) * push.dst_plane] = s;
            }
        }
        return;
    }
    for (var k = 0u; k < 8u; k++) {
        if (push.has_bias != 0u && o + k < push.outputs) {
            v[k] += bias[push.bias_at + o + k];
        }
        v[k] = select(v[k], v[k] * push.slope, v[k] < 0.0);
    }
    if (ball != 0u) {
        for (var g = 0u; g < 8u; g += max(ball, 1u)) {
            if (o + g < push.outputs) {
                var squares = 0.0;
                for (var k = 0u; k < ball; k++) {
                    squares += v[g + k] * v[g + k];
                }
                let r = radius[push.radius_at + (o + g) / max(ball, 1u) * push.radius_plane + y * push.radius_pitch + x * push.radius_step];
                let s = ball_scale(squares, r);
                if (s != 1.0) {
                    for (var k = 0u; k < ball; k++) {
                        v[g + k] *= s;
                    }
                }
            }
        }
    }
    for (var k = 0u; k < 8u; k++) {
        if (o + k < push.outputs) {
            dst[to + (o + k) * push.dst_plane] = v[k];
        }
    }
}
