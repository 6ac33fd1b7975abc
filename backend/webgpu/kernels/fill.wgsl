// dst = value, as bits.
struct Push { n: u32, dst_at: u32, value: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = id.x; i < push.n; i += 256u * groups.x) {
        dst[push.dst_at + i] = push.value;
    }
}
