// dst = min(max(src, lo), hi). Comparisons are false for NaN, and what is inside stays as its bits are.
// lo and hi are bits.
struct Push { n: u32, dst_at: u32, src_at: u32, lo: u32, hi: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read> src: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = id.x; i < push.n; i += 256u * groups.x) {
        var bits = src[push.src_at + i];
        let v = bitcast<f32>(bits);
        if (v <= bitcast<f32>(push.lo)) {
            bits = push.lo;
        }
        if (v >= bitcast<f32>(push.hi)) {
            bits = push.hi;
        }
        dst[push.dst_at + i] = bits;
    }
}
