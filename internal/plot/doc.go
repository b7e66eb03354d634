// Package plot draws how well predictions meet observations, as SVG for people with a
// browser and as text for people with a terminal.
package plot
