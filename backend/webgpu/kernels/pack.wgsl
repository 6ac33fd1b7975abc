// Puts weights of shape (Out, In, KH, KW) into the order in which convolutions read them: input, tap,
// output, with outputs padded with zeros. For the adjoint inputs and outputs change places, and the
// taps are turned around.
struct Push { dst_at: u32, src_at: u32, outputs: u32, inputs: u32, taps: u32, padded: u32, turned: u32, n: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read> src: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = id.x; i < push.n; i += 256u * groups.x) {
        let o = i % push.padded;
        let t = i / push.padded % push.taps;
        let c = i / push.padded / push.taps;
        var v = 0u;
        if (o < push.outputs) {
            if (push.turned != 0u) {
                v = src[push.src_at + (c * push.outputs + o) * push.taps + push.taps - 1u - t];
            } else {
                v = src[push.src_at + (o * push.inputs + c) * push.taps + t];
            }
        }
        dst[push.dst_at + i] = v;
    }
}
