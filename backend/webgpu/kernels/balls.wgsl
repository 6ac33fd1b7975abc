// Projects the `size` channels of each of images·groups vectors at every pixel onto its ball. Radii are
// a vector, or a map with one for every pixel. dst may be src.
struct Push { dst_at: u32, src_at: u32, radius_at: u32, vectors: u32, groups: u32, size: u32, plane: u32, has_map: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<storage, read> src: array<f32>;
@group(0) @binding(3) var<storage, read> radius: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var v = id.y; v < push.vectors; v += groups.y) {
        let first = v * push.size * push.plane;
        for (var i = id.x; i < push.plane; i += 256u * groups.x) {
            let r = radius[push.radius_at + select(v % push.groups, v * push.plane + i, push.has_map != 0u)];
            var squares = 0.0;
            for (var c = 0u; c < push.size; c++) {
                let x = src[push.src_at + first + c * push.plane + i];
                squares += x * x;
            }
            let scale = ball_scale(squares, r);
            for (var c = 0u; c < push.size; c++) {
                let at = first + c * push.plane + i;
                let x = src[push.src_at + at];
                dst[push.dst_at + at] = select(x * scale, x, scale == 1.0);
            }
        }
    }
}
