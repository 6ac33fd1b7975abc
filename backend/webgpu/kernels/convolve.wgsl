// A convolution with a filter of any odd size: a workgroup has 8×32 pixels, and a thread one of them,
// with eight outputs.
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
    let across = (push.columns + 31u) / 32u;
    let x = group.x % across * 32u + thread % 32u;
    let y = push.first_row + group.x / across * 8u + thread / 32u;
    let first = group.y * 8u;
    if (y >= push.rows || x >= push.columns) {
        return;
    }
    let sy = push.y0 + i32(y) - i32(push.kh / 2u);
    let sx = push.x0 + i32(x) - i32(push.kw / 2u);
    var a = vec4f();
    var b = vec4f();
    for (var c = 0u; c < push.channels; c++) {
        for (var r = 0u; r < push.kh; r++) {
            let v = sy + i32(r);
            if (v < 0 || v >= push.height) {
                continue;
            }
            for (var s = 0u; s < push.kw; s++) {
                let u = sx + i32(s);
                if (u < 0 || u >= push.width) {
                    continue;
                }
                let z = src[push.src_at + c * push.src_plane + u32(v) * push.src_pitch + u32(u)];
                let w = (((c * push.kh + r) * push.kw + s) * push.padded + first) / 4u;
                a += weights[w] * z;
                b += weights[w + 1u] * z;
            }
        }
    }
    finish(a, b, first, y, x);
}
