// dst[n,i] = Σⱼ m[i·columns+j]·src[n,j] for up to 16 rows and columns. A thread has read all channels
// of its pixel before it writes any, so that dst may be src.
struct Push { dst_at: u32, src_at: u32, matrix_at: u32, rows: u32, columns: u32, plane: u32, images: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(0) @binding(2) var<storage, read> src: array<f32>;
@group(0) @binding(3) var<storage, read> m: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var n = id.y; n < push.images; n += groups.y) {
        let at = push.src_at + n * push.columns * push.plane;
        let to = push.dst_at + n * push.rows * push.plane;
        for (var i = id.x; i < push.plane; i += 256u * groups.x) {
            var v: array<f32, 16>;
            for (var j = 0u; j < push.columns; j++) {
                v[j] = src[at + j * push.plane + i];
            }
            for (var k = 0u; k < push.rows; k++) {
                var sum = m[push.matrix_at + k * push.columns] * v[0];
                for (var j = 1u; j < push.columns; j++) {
                    sum += m[push.matrix_at + k * push.columns + j] * v[j];
                }
                dst[to + k * push.plane + i] = sum;
            }
        }
    }
}
