package scene

import "math"

// sphere is a ball with a texture in coordinates from its centre.
type sphere struct {
	centre  vec
	radius  float64
	texture func(vec) vec
	gloss   float64 // share of mirrored light, head on
}

var spheres = []sphere{
	{vec{-1.55, 0.85, 0.25}, 0.85, marble, 0.04},
	{vec{0.25, 0.62, -0.75}, 0.62, stripes, 0.05},
	{vec{1.75, 0.95, 0.65}, 0.95, cells, 0.03},
	{vec{-0.45, 0.33, -1.75}, 0.33, func(vec) vec { return vec{0.75, 0.77, 0.80} }, 0.75},
	{vec{1.15, 0.24, -1.65}, 0.24, func(vec) vec { return vec{0.06, 0.20, 0.62} }, 0.08},
	{vec{-2.55, 0.30, -0.85}, 0.30, func(p vec) vec { return vec{0.90, 0.86, 0.22}.scale(0.7 + 0.5*cloud(p.scale(25), 3)) }, 0.03},
}

const wall = 2.6 // the z of the brick wall; the table is y = 0

// hit returns what the ray meets first: distance, normal and surface.
func hit(r ray) (distance float64, normal vec, of surface) {
	const near = 1e-4
	distance = math.Inf(1)
	if t := -r.from.y / r.along.y; t > near {
		p := r.from.add(r.along.scale(t))
		distance, normal, of = t, vec{0, 1, 0}, surface{wood, p, 0.05}
	}
	if t := (wall - r.from.z) / r.along.z; t > near && t < distance {
		p := r.from.add(r.along.scale(t))
		distance, normal, of = t, vec{0, 0, -1}, surface{bricks, p, 0}
	}
	for _, s := range spheres {
		o := r.from.sub(s.centre)
		b := o.dot(r.along)
		d := b*b - o.dot(o) + s.radius*s.radius
		if d < 0 {
			continue
		}
		if t := -b - math.Sqrt(d); t > near && t < distance {
			p := r.from.add(r.along.scale(t)).sub(s.centre)
			distance, normal, of = t, p.scale(1/s.radius), surface{s.texture, p, s.gloss}
		}
	}
	return distance, normal, of
}

// surface is what a ray meets. Its colour is worked out only where it is seen: textures take
// most of the time.
type surface struct {
	texture func(vec) vec
	at      vec
	gloss   float64
}

// trace returns the light that comes back along the ray.
func trace(r ray, depth int, noise *generator) vec {
	distance, normal, of := hit(r)
	if math.IsInf(distance, 1) {
		return vec{0.35, 0.42, 0.52}
	}
	p := r.from.add(r.along.scale(distance))
	// A point on a round lamp above the left shoulder.
	lamp := vec{-4.0, 6.0, -4.5}.add(vec{noise.next() - 0.5, noise.next() - 0.5, noise.next() - 0.5}.scale(1.6))
	to := lamp.sub(p)
	reach := math.Sqrt(to.dot(to))
	to = to.scale(1 / reach)
	light := vec{0.13, 0.15, 0.19}.scale(0.55 + 0.45*normal.y)
	facing := normal.dot(to)
	lit := false
	if facing > 0 {
		if d, _, _ := hit(ray{p, to}); d > reach {
			lit = true
			light = light.add(vec{1.0, 0.93, 0.80}.scale(facing * 75 / (reach * reach)))
		}
	}
	// One diffuse bounce brings the colours of the neighbours.
	if depth == 0 {
		light = light.add(bounce(p, normal, noise).scale(0.55))
	}
	gloss, out := of.gloss, of.texture(of.at).times(light)
	if lit {
		out = out.add(vec{1, 1, 1}.scale(6 * gloss * math.Pow(math.Max(to.dot(r.along.mirror(normal)), 0), 90)))
	}
	if gloss > 0 && depth < 3 {
		// Schlick's rule: more is mirrored at a grazing angle.
		f := gloss + (1-gloss)*math.Pow(1-math.Max(-r.along.dot(normal), 0), 5)*0.6
		out = lerp(out, trace(ray{p, r.along.mirror(normal)}, depth+1, noise), f)
	}
	return out
}

// bounce is the light from a random direction, by the cosine law.
func bounce(p, normal vec, noise *generator) vec {
	z, a := 2*noise.next()-1, 2*math.Pi*noise.next()
	s := math.Sqrt(math.Max(0, 1-z*z))
	d := normal.add(vec{s * math.Cos(a), s * math.Sin(a), z}.scale(0.999)).unit()
	return trace(ray{p, d}, 3, noise)
}
