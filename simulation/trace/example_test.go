package trace_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/poolwright/poolwright/simulation/trace"
)

// The trace of one workload, twice as fast, and requests that are
// drawn for another.
func Example() {
	file, err := trace.Read(trace.File{Name: "conv.csv", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("t,in,out\n0,374,44\n4.3,396,109\n8,120,60\n")), nil
	}})
	if err != nil {
		fmt.Println(err) // every mistake, as file:line: what
		return
	}
	faster, err := trace.Place(file, trace.Placement{Stretch: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	drawn, err := trace.Generate(trace.Generator{
		Arrivals: trace.Arrivals{Rate: trace.Constant(0.5).Until(10), Process: trace.Gamma, SCV: 2},
		Input:    trace.Lengths{Mean: 1000, SCV: 1},
		Output:   trace.Lengths{Mean: 200, SCV: 0.5, Max: 500},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	workloads := []trace.Workload{{Name: "chat", Source: faster}, {Name: "code", Source: drawn}}
	requests, failed := trace.Requests(workloads, 1)
	chat := 0
	for r := range requests {
		if workloads[r.Workload].Name == "chat" {
			fmt.Printf("%.2f s: %d tokens in, %d out\n", r.At, r.Input, r.Output)
			chat++
		}
	}
	if err := failed(); err != nil {
		fmt.Println(err)
	}
	rates, err := trace.Rates(workloads[1], 1, 5, 3)
	fmt.Println(chat, trace.End(workloads), rates, err)
	// Output:
	// 0.00 s: 374 tokens in, 44 out
	// 2.15 s: 396 tokens in, 109 out
	// 4.00 s: 120 tokens in, 60 out
	// 3 10 [0.5 0.5 0] <nil>
}
