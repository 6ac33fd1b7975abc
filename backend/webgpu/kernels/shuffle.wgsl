// Pixels become channels, or, where back, channels pixels. One thread for every pixel of the coarse
// planes. Numbers are moved as bits.
@id(0) override back: u32 = 0u;
struct Push { dst_at: u32, src_at: u32, factor: u32, planes: u32, h: u32, w: u32, fine_h: u32, fine_w: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read> src: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var k = id.y; k < push.planes; k += groups.y) {
        let dx = k % push.factor;
        let dy = k / push.factor % push.factor;
        let plane = k / (push.factor * push.factor);
        for (var i = id.x; i < push.h * push.w; i += 256u * groups.x) {
            let y = i / push.w * push.factor + dy;
            let x = i % push.w * push.factor + dx;
            let there = y < push.fine_h && x < push.fine_w;
            let fine = (plane * push.fine_h + y) * push.fine_w + x;
            let coarse = k * push.h * push.w + i;
            if (back != 0u) {
                if (there) {
                    dst[push.dst_at + fine] = src[push.src_at + coarse];
                }
            } else {
                var v = 0u;
                if (there) {
                    v = src[push.src_at + fine];
                }
                dst[push.dst_at + coarse] = v;
            }
        }
    }
}
