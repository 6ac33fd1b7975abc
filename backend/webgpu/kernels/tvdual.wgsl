// p ← the projection of p + dual·∇ū onto the balls of radius alpha, over `together` channels at a time:
// 1, or all of them. A thread reads and writes p at its own pixels only.
struct Push { p_at: u32, ahead_at: u32, channels: u32, together: u32, h: u32, w: u32, alpha: f32, dual: f32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> p: array<f32>;
@group(0) @binding(2) var<storage, read> ahead: array<f32>;

fn ascent(c: u32, i: u32) -> vec2f {
    let plane = push.h * push.w;
    let at = push.ahead_at + c * plane + i;
    let to = push.p_at + 2u * c * plane + i;
    let v = ahead[at];
    var down = 0.0;
    var right = 0.0;
    if (i / push.w + 1u < push.h) {
        down = ahead[at + push.w] - v;
    }
    if (i % push.w + 1u < push.w) {
        right = ahead[at + 1u] - v;
    }
    return vec2f(p[to] + push.dual * down, p[to + plane] + push.dual * right);
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let plane = push.h * push.w;
    for (var g = id.y; g < push.channels / push.together; g += groups.y) {
        for (var i = id.x; i < plane; i += 256u * groups.x) {
            var squares = 0.0;
            for (var c = g * push.together; c < (g + 1u) * push.together; c++) {
                let v = ascent(c, i);
                squares += dot(v, v);
            }
            let norm = sqrt(squares);
            var scale = 1.0;
            if (norm > push.alpha) {
                scale = push.alpha / norm;
            }
            for (var c = g * push.together; c < (g + 1u) * push.together; c++) {
                let v = ascent(c, i);
                let to = push.p_at + 2u * c * plane + i;
                p[to] = v.x * scale;
                p[to + plane] = v.y * scale;
            }
        }
    }
}
