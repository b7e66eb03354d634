// Package handbook reads the pages of the documentation, and does what they say.
//
// A page is Markdown. What readers are to type stands in blocks marked "sh"; a block marked
// "text" right after such a block is what the commands print. In it, "…" stands for
// whatever varies: within a line for any part of it, as a line of its own for any number
// of lines. A command that is meant to fail says so, as readers want to know it too:
//
//	poolwright optimize -f examples/infeasible-slo.yaml # exits with 3
//
// [Follow] types a page into one shell, as a reader would into a terminal, so that
// variables, folders and background jobs live on from block to block.
package handbook
