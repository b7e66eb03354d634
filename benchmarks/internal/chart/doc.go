// Package chart draws scatter plots in panels as SVG that is readable on light and dark pages.
//
// Equal figures give equal text, byte for byte, so that a drawn figure can be kept in
// a repository.
package chart
