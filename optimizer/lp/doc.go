// Package lp solves the linear programs inside the optimizer, by an engine of
// choice: a bounded revised simplex in pure Go, or COIN-OR Clp.
//
// Both engines answer with the same conventions. The Lagrangian of
//
//	minimise c·x  subject to  L ≤ A·x ≤ U,  l ≤ x ≤ u
//
// gives the reduced costs d = c − Aᵀy. At an optimum a row with y > 0 is at its
// lower bound and one with y < 0 at its upper bound; a column with d > 0 is at its
// lower bound and one with d < 0 at its upper bound. Where the optimum is not
// degenerate, y and d are the derivatives of the objective by these bounds.
//
// Bounds of magnitude 1e20 and more are infinite. Coefficients and costs must be
// below 1e20; coefficients below 1e-20 count as zero.
//
// Every optimum is certified against the problem as given before it is reported:
// rows, bounds, signs of the multipliers and the duality gap. So is every
// infeasibility, by a combination of the rows that no values of the columns can
// meet. An engine whose answer fails tries again from a cold basis, Clp after that
// by the pure Go engine; what still fails is an IterationLimit. Equal calls in
// equal order give equal results, bit for bit.
//
// The Clp engine is compiled in by the build tag clp and needs cgo and the Debian
// packages coinor-libclp-dev and pkg-config.
package lp
