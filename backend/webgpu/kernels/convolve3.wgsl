// A 3×3 convolution. A workgroup has a tile of pixels and 8·blocks outputs, a thread four pixels of a
// row and eight outputs. Some channels of the tile with its margin, and of the filter, are in shared
// memory at a time; a sum is made channel after channel, and in each of them tap after tap, wherever
// the pixel lies.
@id(2) override blocks: u32 = 4u;
@id(3) override chunk: u32 = 4u; // channels at a time: as many as 16 KB of shared memory have room for

const columns = 32u;
const pitch = columns + 5u;                      // of the patch; odd, so that rows meet different banks
override threads: u32 = 256u / blocks;           // on the pixels of a tile
override rows: u32 = threads / 8u;               // of a tile
override plane: u32 = (rows + 2u) * pitch;
override patch_length: u32 = chunk * plane;
override tap_length: u32 = chunk * 9u * 2u * blocks;
var<workgroup> patch_: array<f32, patch_length>;
var<workgroup> taps: array<vec4f, tap_length>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
    let block = thread / threads;
    let pixel = thread % threads;
    let tx = pixel % 8u * 4u;
    let ty = pixel / 8u;
    let across = (push.columns + columns - 1u) / columns;
    let left = group.x % across * columns;
    let top = push.first_row + group.x / across * rows;
    let first = group.y * 8u * blocks; // the first output
    let sy = push.y0 + i32(top) - 1;
    let sx = push.x0 + i32(left) - 1;

    // Sums of four pixels, of four outputs each.
    var a0 = vec4f(); var a1 = vec4f(); var a2 = vec4f(); var a3 = vec4f();
    var b0 = vec4f(); var b1 = vec4f(); var b2 = vec4f(); var b3 = vec4f();
    let cells = (rows + 2u) * (columns + 2u);
    for (var c = 0u; c < push.channels; c += chunk) {
        workgroupBarrier();
        for (var i = thread; i < chunk * cells; i += 256u) {
            let k = i / cells;
            let py = i % cells / (columns + 2u);
            let px = i % cells % (columns + 2u);
            let y = sy + i32(py);
            let x = sx + i32(px);
            var v = 0.0;
            if (c + k < push.channels && y >= 0 && y < push.height && x >= 0 && x < push.width) {
                v = src[push.src_at + (c + k) * push.src_plane + u32(y) * push.src_pitch + u32(x)];
            }
            patch_[k * plane + py * pitch + px] = v;
        }
        for (var i = thread; i < tap_length; i += 256u) {
            let tap = i / (2u * blocks);
            let o = i % (2u * blocks);
            var w = vec4f();
            if (c + tap / 9u < push.channels) {
                w = weights[((c * 9u + tap) * push.padded + first) / 4u + o];
            }
            taps[i] = w;
        }
        workgroupBarrier();
        for (var k = 0u; k < chunk; k++) {
            for (var r = 0u; r < 3u; r++) {
                let at = k * plane + (ty + r) * pitch + tx;
                let v0 = patch_[at]; let v1 = patch_[at + 1u]; let v2 = patch_[at + 2u];
                let v3 = patch_[at + 3u]; let v4 = patch_[at + 4u]; let v5 = patch_[at + 5u];
                let w = (k * 9u + r * 3u) * 2u * blocks + 2u * block;
                var wa = taps[w]; var wb = taps[w + 1u];
                a0 += wa * v0; a1 += wa * v1; a2 += wa * v2; a3 += wa * v3;
                b0 += wb * v0; b1 += wb * v1; b2 += wb * v2; b3 += wb * v3;
                wa = taps[w + 2u * blocks]; wb = taps[w + 2u * blocks + 1u];
                a0 += wa * v1; a1 += wa * v2; a2 += wa * v3; a3 += wa * v4;
                b0 += wb * v1; b1 += wb * v2; b2 += wb * v3; b3 += wb * v4;
                wa = taps[w + 4u * blocks]; wb = taps[w + 4u * blocks + 1u];
                a0 += wa * v2; a1 += wa * v3; a2 += wa * v4; a3 += wa * v5;
                b0 += wb * v2; b1 += wb * v3; b2 += wb * v4; b3 += wb * v5;
            }
        }
    }
    let y = top + ty;
    let x = left + tx;
    // In a loop, so that what follows a sum is compiled once.
    var sums = array<vec4f, 8>(a0, b0, a1, b1, a2, b2, a3, b3);
    for (var j = 0u; j < 4u; j++) {
        if (y < push.rows && x + j < push.columns) {
            finish(sums[2u * j], sums[2u * j + 1u], first + 8u * block, y, x + j);
        }
    }
}
