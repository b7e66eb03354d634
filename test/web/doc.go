// Package web tests the pages of `poolwright serve` and the report of a simulation in
// Chromium, by clicks and keys, and with axe-core.
//
// `make test-web` runs it. It leaves pictures of what it has seen in the folder that
// POOLWRIGHT_SCREENSHOTS names.
package web
