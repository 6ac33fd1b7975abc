package backendtest

// referenceUnshuffle sets every element of the coarse array to its definition.
func referenceUnshuffle(coarse, fine tensor, q int) {
	eachElement(coarse.Shape, func(n, c, y, x int) {
		v, u := q*y+c%(q*q)/q, q*x+c%q
		i := coarse.index(n, c, y, x)
		coarse.v[i] = 0
		if v < fine.H && u < fine.W {
			coarse.v[i] = fine.at(n, c/(q*q), v, u)
		}
	})
}

// referenceShuffle takes every element of the fine array from where the definition has
// it.
func referenceShuffle(fine, coarse tensor, q int) {
	eachElement(fine.Shape, func(n, c, y, x int) {
		fine.v[fine.index(n, c, y, x)] = coarse.at(n, c*q*q+y%q*q+x%q, y/q, x/q)
	})
}
