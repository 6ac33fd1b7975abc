// Copies h×w pixels of the first `channels` channels of each image. Numbers are moved as bits.
struct Push {
    dst_at: u32, dst_image: u32, dst_plane: u32, dst_pitch: u32,
    src_at: u32, src_image: u32, src_plane: u32, src_pitch: u32,
    h: u32, w: u32, channels: u32, planes: u32,
}
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read> src: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var k = id.y; k < push.planes; k += groups.y) {
        let n = k / push.channels;
        let c = k % push.channels;
        let to = push.dst_at + n * push.dst_image + c * push.dst_plane;
        let at = push.src_at + n * push.src_image + c * push.src_plane;
        for (var i = id.x; i < push.h * push.w; i += 256u * groups.x) {
            dst[to + i / push.w * push.dst_pitch + i % push.w] = src[at + i / push.w * push.src_pitch + i % push.w];
        }
    }
}
