// Command generate writes a large fleet for trying out the optimizer: workloads
// of six models in five service classes on five accelerators, with capacities
// estimated from data sheets. Equal flags give equal output.
//
//	go run ./examples/generate -workloads 1000 -seed 1 > examples/generated-1000.json
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func main() {
	workloads := flag.Int("workloads", 1000, "number of workloads")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	err := write(out, generate(*workloads, *seed))
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// write prints a fleet as JSON with one pool or workload per line, so that files
// stay small and differences readable.
func write(out io.Writer, fleet *poolwrightv1.Fleet) error {
	pools, err := lines(fleet.GetPools())
	if err != nil {
		return err
	}
	workloads, err := lines(fleet.GetWorkloads())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "{\"pools\":[\n%s\n],\"workloads\":[\n%s\n]}\n", pools, workloads)
	return err
}

// lines prints messages as compact JSON, separated by a comma and a line break.
func lines[M proto.Message](messages []M) ([]byte, error) {
	var printed bytes.Buffer
	for i, m := range messages {
		if i > 0 {
			printed.WriteString(",\n")
		}
		// protojson varies its spaces from build to build on purpose.
		text, err := protojson.Marshal(m)
		if err != nil {
			return nil, err
		}
		if err := json.Compact(&printed, text); err != nil {
			return nil, err
		}
	}
	return printed.Bytes(), nil
}
