// Package architecture holds the rules that no compiler checks: which package may
// import which, what the pure core may not touch, and what the repository's text
// must and must not contain. It has tests only.
package architecture
