// u ← u + step·(r − u) with r = y − ∇ᵀp, and ū = u + extrapolation·(r − u) where it looks ahead.
// Where fresh the step is 1 and the old u is not read.
struct Push { u_at: u32, p_at: u32, y_at: u32, ahead_at: u32, channels: u32, h: u32, w: u32, fresh: u32, primal: f32, extrapolation: f32 }
@id(0) override looks_ahead: u32 = 0u;
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> u: array<f32>;
@group(0) @binding(2) var<storage, read> p: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read_write> ahead: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let plane = push.h * push.w;
    for (var c = id.y; c < push.channels; c += groups.y) {
        let down = push.p_at + 2u * c * plane;
        let right = down + plane;
        for (var i = id.x; i < plane; i += 256u * groups.x) {
            let row = i / push.w;
            let column = i % push.w;
            var g = 0.0;
            if (row > 0u) {
                g += p[down + i - push.w];
            }
            if (row + 1u < push.h) {
                g -= p[down + i];
            }
            if (column > 0u) {
                g += p[right + i - 1u];
            }
            if (column + 1u < push.w) {
                g -= p[right + i];
            }
            let r = y[push.y_at + c * plane + i] - g;
            var v = r;
            if (push.fresh == 0u) {
                v = u[push.u_at + c * plane + i];
                v += push.primal * (r - v);
            }
            u[push.u_at + c * plane + i] = v;
            if (looks_ahead != 0u) {
                ahead[push.ahead_at + c * plane + i] = v + push.extrapolation * (r - v);
            }
        }
    }
}
