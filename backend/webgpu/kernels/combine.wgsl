// dst = Σ a·x over one to four terms; dst may be one of them.
struct Push { n: u32, terms: u32, dst_at: u32, at0: u32, at1: u32, at2: u32, at3: u32, a0: f32, a1: f32, a2: f32, a3: f32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<storage, read> x0: array<f32>;
@group(0) @binding(3) var<storage, read> x1: array<f32>;
@group(0) @binding(4) var<storage, read> x2: array<f32>;
@group(0) @binding(5) var<storage, read> x3: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = id.x; i < push.n; i += 256u * groups.x) {
        var v = push.a0 * x0[push.at0 + i];
        if (push.terms > 1u) {
            v += push.a1 * x1[push.at1 + i];
        }
        if (push.terms > 2u) {
            v += push.a2 * x2[push.at2 + i];
        }
        if (push.terms > 3u) {
            v += push.a3 * x3[push.at3 + i];
        }
        dst[push.dst_at + i] = v;
    }
}
