// dst = x·y, rounded once; dst may be one of them, or both. Many devices take subnormal numbers for
// zero: these are made of integers.
struct Push { n: u32, dst_at: u32, x_at: u32, y_at: u32 }
@group(0) @binding(0) var<uniform> push: Push;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read> y: array<u32>;

const one = 0x3f800000u;

fn exponent(a: u32) -> u32 {
    return (a >> 23u) & 255u;
}

// Normal is a number that is not zero, with a mantissa of 24 bits.
struct Normal { mantissa: u32, exponent: i32 }

fn normalised(a: u32) -> Normal {
    let mantissa = a & 0x7fffffu;
    let e = i32(exponent(a));
    if (e == 0) {
        let shift = 23u - firstLeadingBit(mantissa);
        return Normal(mantissa << shift, 1 - i32(shift));
    }
    return Normal(mantissa | 0x800000u, e);
}

// small is a product of which a factor or the result may be subnormal.
fn small(a: u32, b: u32) -> u32 {
    let sign = (a ^ b) & 0x80000000u;
    let na = normalised(a);
    let nb = normalised(b);
    let ma = na.mantissa;
    let mb = nb.mantissa;
    let p = bitcast<f32>((ma & 0x7fffffu) | one) * bitcast<f32>((mb & 0x7fffffu) | one);
    let e = i32(exponent(bitcast<u32>(p))) + na.exponent + nb.exponent - 254;
    if (e >= 1) {
        if (e > 254) {
            return sign | 0x7f800000u;
        }
        return sign | (u32(e) << 23u) | (bitcast<u32>(p) & 0x7fffffu);
    }
    // In units of the smallest number it is ma·mb/2^shift, rounded to even.
    let shift = u32(151 - na.exponent - nb.exponent);
    if (shift > 48u) {
        return sign;
    }
    // The product has 48 bits, made of halves of twelve.
    let middle = (ma >> 12u) * (mb & 0xfffu) + (ma & 0xfffu) * (mb >> 12u);
    let lower = (ma & 0xfffu) * (mb & 0xfffu) + ((middle & 0xfffu) << 12u);
    let upper = (ma >> 12u) * (mb >> 12u) + (middle >> 12u) + (lower >> 24u); // in units of 2^24
    var lo = (upper << 24u) | (lower & 0xffffffu);
    var hi = upper >> 8u;
    // Moved, so that what is cut off are the bits of lo. A shift by 32 bits does not exist.
    if (shift < 32u) {
        hi = (hi << (32u - shift)) | (lo >> shift);
        lo = lo << (32u - shift);
    } else if (shift > 32u) {
        let over = shift - 32u;
        lo = (hi << (32u - over)) | (lo >> over) | select(0u, 1u, (lo << (32u - over)) != 0u);
        hi = hi >> over;
    }
    if (lo > 0x80000000u || (lo == 0x80000000u && (hi & 1u) != 0u)) {
        hi++;
    }
    return sign | hi;
}

fn product(from_x: u32, from_y: u32) -> u32 {
    var a = from_x;
    var b = from_y;
    let ea = exponent(a);
    let eb = exponent(b);
    let zero_a = (a << 1u) == 0u;
    let zero_b = (b << 1u) == 0u;
    if (!zero_a && !zero_b && ea < 255u && eb < 255u && (ea == 0u || eb == 0u || ea + eb < 129u)) {
        return small(a, b);
    }
    // Infinity times a subnormal number is not infinity times zero.
    if (ea == 0u && !zero_a) {
        a = (a & 0x80000000u) | one;
    }
    if (eb == 0u && !zero_b) {
        b = (b & 0x80000000u) | one;
    }
    return bitcast<u32>(bitcast<f32>(a) * bitcast<f32>(b));
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = id.x; i < push.n; i += 256u * groups.x) {
        dst[push.dst_at + i] = product(x[push.x_at + i], y[push.y_at + i]);
    }
}
