// Command soak keeps a real process of `poolwright serve` busy with calls while its loop
// runs: for long at a rate that it should bear, then at a multiple of it, which it should
// refuse in part and get over, then at the first rate again.
package main
