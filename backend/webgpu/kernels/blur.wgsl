// dst[y, x] = Σ weight·source[y + dy, x + dx] over taps, in runs whose sums are added up, with the
// source continued beyond its frame. A fold is the adjoint of reflection: a sample adds up all that it
// was continued to.
struct Push { dst_at: u32, src_at: u32, taps_at: u32, count: u32, planes: u32, h: u32, w: u32, continuation: u32, source_h: i32, source_w: i32, first: u32, n: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<storage, read> src: array<f32>;
@group(0) @binding(3) var<storage, read> taps: array<i32>; // dy, dx, and the weight's bits

const circular = 0u;
const zero = 1u;
const reflected = 2u;
const folded = 3u;
const run = 32u;

// place is that of i in a row of n, -1 where there is none.
fn place(i: i32, n: i32) -> i32 {
    if (i >= 0 && i < n) {
        return i;
    }
    if (push.continuation == zero) {
        return -1;
    }
    let period = select(2 * n, n, push.continuation == circular);
    var j = i - i / period * period; // of i's sign
    if (j < 0) {
        j += period;
    }
    if (j < n) {
        return j;
    }
    return select(-1, 2 * n - 1 - j, push.continuation == reflected);
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let flips = select(1u, 4u, push.continuation == folded);
    for (var k = id.y; k < push.planes; k += groups.y) {
        let source = push.src_at + k * u32(push.source_h * push.source_w);
        for (var j0 = id.x; j0 < push.n; j0 += 256u * groups.x) {
            let i = push.first + j0;
            var total = 0.0;
            for (var flip = 0u; flip < flips; flip++) {
                var y = i32(i / push.w);
                var x = i32(i % push.w);
                if ((flip & 1u) != 0u) {
                    y = 2 * push.source_h - 1 - y;
                }
                if ((flip & 2u) != 0u) {
                    x = 2 * push.source_w - 1 - x;
                }
                for (var t = 0u; t < push.count; t += run) {
                    var sum = 0.0;
                    for (var j = t; j < min(t + run, push.count); j++) {
                        let v = place(y + taps[push.taps_at + 3u * j], push.source_h);
                        let u = place(x + taps[push.taps_at + 3u * j + 1u], push.source_w);
                        if (v >= 0 && u >= 0) {
                            sum += bitcast<f32>(taps[push.taps_at + 3u * j + 2u]) * src[source + u32(v * push.source_w + u)];
                        }
                    }
                    total += sum;
                }
            }
            dst[push.dst_at + k * push.h * push.w + i] = total;
        }
    }
}
