// Package peer solves allocation problems with general solvers of integer
// programs: CBC, GLPK and lp_solve, called as the commands that they install.
package peer
