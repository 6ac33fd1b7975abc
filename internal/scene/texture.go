package scene

import "math"

// lattice is a random number in [0,1) for every point with integer coordinates.
func lattice(x, y, z int) float64 {
	h := mix(uint64(x)*0x9e3779b97f4a7c15 ^ mix(uint64(y)*0xc2b2ae3d27d4eb4f^mix(uint64(z)+0x165667b19e3779f9)))
	return float64(h>>11) * 0x1p-53
}

// valueNoise interpolates the lattice smoothly.
func valueNoise(p vec) float64 {
	fx, fy, fz := math.Floor(p.x), math.Floor(p.y), math.Floor(p.z)
	x, y, z := int(fx), int(fy), int(fz)
	tx, ty, tz := smooth(0, 1, p.x-fx), smooth(0, 1, p.y-fy), smooth(0, 1, p.z-fz)
	sum := 0.0
	for i := range 8 {
		a, b, c := i&1, i>>1&1, i>>2
		w := (1 - tx + float64(a)*(2*tx-1)) * (1 - ty + float64(b)*(2*ty-1)) * (1 - tz + float64(c)*(2*tz-1))
		sum += w * lattice(x+a, y+b, z+c)
	}
	return sum
}

// cloud is value noise over several octaves, about ½ in the mean.
func cloud(p vec, octaves int) float64 {
	sum, weight := 0.0, 0.5
	for range octaves {
		sum += weight * valueNoise(p)
		p, weight = p.scale(2.03).add(vec{17.1, 5.7, 31.3}), weight/2
	}
	return sum
}

// wood is the table: planks along x with year rings and fibres.
func wood(p vec) vec {
	plank := math.Floor(p.z / 0.9)
	q := vec{p.x*0.35 + 13*lattice(int(plank), 1, 0), 0.3 * plank, p.z * 2.2}
	ring := 14 * (q.z + 0.8*cloud(q.scale(1.7), 3))
	ring -= math.Floor(ring)
	fibre := cloud(vec{p.x * 6, 3.1 * plank, p.z * 90}, 3)
	c := lerp(vec{0.42, 0.22, 0.10}, vec{0.62, 0.38, 0.19}, smooth(0.1, 0.9, ring))
	c = c.scale(0.72 + 0.55*fibre)
	gap := math.Abs(p.z/0.9 - plank - 0.5)
	return c.scale(1 - 0.8*smooth(0.485, 0.497, gap))
}

// bricks are the wall.
func bricks(p vec) vec {
	row := math.Floor(p.y / 0.34)
	shift := 0.5 * math.Mod(math.Abs(row), 2)
	column := math.Floor(p.x/0.86 + shift)
	dx := math.Abs(p.x/0.86+shift-column-0.5) * 0.86
	dy := math.Abs(p.y/0.34-row-0.5) * 0.34
	grain := cloud(p.scale(11), 4)
	edge := 0.012 * (cloud(p.scale(23), 2) - 0.4)
	mortar := math.Max(smooth(0.405, 0.418, dx+edge), smooth(0.145, 0.158, dy+edge))
	tone := lattice(int(column), int(row), 7)
	brick := lerp(vec{0.40, 0.13, 0.08}, vec{0.58, 0.27, 0.17}, tone).scale(0.55 + 0.8*grain)
	return lerp(brick, vec{0.55, 0.52, 0.47}.scale(0.6+0.6*grain), mortar)
}

// marble has veins where a plane wave is bent by the cloud.
func marble(p vec) vec {
	v := math.Abs(math.Sin(5*p.x + 3*p.y + 9*cloud(p.scale(2.4), 5)))
	return lerp(vec{0.16, 0.30, 0.36}, vec{0.86, 0.88, 0.84}, math.Pow(v, 0.45))
}

// stripes go round a ball, with thin lines between broad ones.
func stripes(p vec) vec {
	t := 7 * (p.y + 0.15*p.x)
	k := math.Floor(t)
	f := t - k
	c := vec{0.88, 0.80, 0.62}
	if int(k)&1 == 0 {
		c = vec{0.72, 0.08, 0.10}
	}
	if f < 0.12 || f > 0.88 {
		c = vec{0.05, 0.06, 0.16}
	}
	return c.scale(0.85 + 0.3*cloud(p.scale(40), 2))
}

// cells are a net of hexagon-like spots: distance to the nearest random point.
func cells(p vec) vec {
	q := p.scale(7)
	nearest, second := 9.0, 9.0
	id := 0.0
	bx, by, bz := int(math.Floor(q.x)), int(math.Floor(q.y)), int(math.Floor(q.z))
	for i := range 27 {
		x, y, z := bx+i%3-1, by+i/3%3-1, bz+i/9-1
		d := q.sub(vec{float64(x) + lattice(x, y, z), float64(y) + lattice(y, z, x), float64(z) + lattice(z, x, y)})
		if r := math.Sqrt(d.dot(d)); r < nearest {
			nearest, second, id = r, nearest, lattice(x, z, y)
		} else if r < second {
			second = r
		}
	}
	c := lerp(vec{0.95, 0.62, 0.08}, vec{0.16, 0.50, 0.14}, smooth(0.2, 0.8, id))
	return c.scale(0.25 + 0.75*smooth(0.02, 0.14, second-nearest))
}
