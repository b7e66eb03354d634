// Package examples holds fleet files to learn from and to try; README.md says what
// each of them shows and where its numbers come from.
package examples
