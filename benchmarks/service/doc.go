// Service measures calls of `poolwright serve` over gRPC and REST: latency and throughput by
// the size of the fleet and by the number of clients.
//
// Beside it, in the same run and in turn, run two servers with nothing behind them, which answer
// with what the service answers: one takes and gives bytes, the other decodes and encodes
// the messages by the usual libraries. Load comes from ghz and from hey, in processes of their own.
package main
