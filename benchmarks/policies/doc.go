// Policies compares Poolwright's loop with other autoscalers, and with what somebody would
// have paid who knew the future, on the shipped day and on recorded traffic. It checks
// targets and writes documentation.
//
// Every other autoscaler is compared in all settings of its published grid, and judged by the
// best of them. Recorded traffic is third-party data from a folder outside the repository;
// without it the shipped day alone is compared, and nothing is written. The program exits
// with status 1 when a target is missed.
package main
