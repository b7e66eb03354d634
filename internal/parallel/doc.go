// Package parallel shares work on lists among goroutines that end before it
// returns. What comes out does not depend on their number.
package parallel
