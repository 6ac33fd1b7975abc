// Projects vectors of `size` channels in place, at the pixels of a region. Radii are a vector, whose
// pitch is 0, or a map.
struct Push { at: u32, plane: u32, pitch: u32, radius_at: u32, radius_plane: u32, radius_pitch: u32, groups: u32, size: u32, h: u32, w: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<storage, read> src: array<f32>;
@group(0) @binding(3) var<storage, read> radius: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var v = id.y; v < push.groups; v += groups.y) {
        for (var i = id.x; i < push.h * push.w; i += 256u * groups.x) {
            let y = i / push.w;
            let x = i % push.w;
            let first = push.at + v * push.size * push.plane + y * push.pitch + x;
            let r = radius[push.radius_at + v * push.radius_plane + select(0u, y * push.radius_pitch + x, push.radius_pitch > 0u)];
            var squares = 0.0;
            for (var c = 0u; c < push.size; c++) {
                let z = src[first + c * push.plane];
                squares += z * z;
            }
            let scale = ball_scale(squares, r);
            if (scale != 1.0) {
                for (var c = 0u; c < push.size; c++) {
                    dst[first + c * push.plane] = src[first + c * push.plane] * scale;
                }
            }
        }
    }
}
