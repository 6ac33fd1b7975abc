package tv

// GroupReport tells how one group of axes was solved.
type GroupReport struct {
	From, Count int     // the group's axes are From to From+Count−1
	Alpha       float64 // α times the group's weight
	Iterations  int
	Evaluations int // of the duality gap; each costs about two iterations
	Primal      float64
	Dual        float64
	Gap         float64 // Primal − Dual
	// Converged tells whether the requested gap was reached. If not, AtFloor tells whether the limit of
	// float32 is the reason; otherwise it is the limit of iterations.
	Converged, AtFloor bool
}

// Report tells how the last call was solved. Objectives are sums over all pixels
// and groups.
type Report struct {
	Groups     []GroupReport
	Iterations int // of all groups together
	Primal     float64
	Dual       float64
	Gap        float64 // Primal − Dual
	Converged  bool    // in every group
}

// RelativeGap is the gap divided by the primal objective; 0 where both are 0.
func (r Report) RelativeGap() float64 {
	if r.Gap == 0 {
		return 0
	}
	return r.Gap / r.Primal
}

// add puts a group's report into the total.
func (r *Report) add(g GroupReport) {
	r.Converged = g.Converged && (r.Converged || len(r.Groups) == 0)
	r.Groups = append(r.Groups, g)
	r.Iterations += g.Iterations
	r.Primal += g.Primal
	r.Dual += g.Dual
	r.Gap += g.Gap
}
