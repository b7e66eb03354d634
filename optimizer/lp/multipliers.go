package lp

// Multipliers implements Solver.
func (s *simplex) Multipliers(column int) []float64 {
	position := s.position[s.rows+column]
	if position < 0 {
		return nil
	}
	u := make([]float64, s.rows)
	for i, a := range s.inverseRow(int(position)) {
		u[i] = a * s.rowScale[i] * s.columnScale[column]
	}
	return u
}
