// Package oracle holds the answers of package optimizer against those of another
// exact solver.
package oracle
