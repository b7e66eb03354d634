package optimizer_test

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
)

// The large accelerator is cheaper per request, but the small one fills the last
// gap for less.
func ExampleSolve() {
	problem := &optimizer.Problem{
		Pools: []optimizer.Pool{
			{Name: "h100", Limited: true, Capacity: 8},
			{Name: "l4"},
		},
		Workloads: []optimizer.Workload{{
			Name: "chat", Priority: 1, Demand: 21,
			Variants: []optimizer.Variant{
				{Name: "chat-h100", Capacity: 10, DevicesPerReplica: 1, Placements: []optimizer.Placement{{Pool: 0, PricePerHour: 4}}},
				{Name: "chat-l4", Capacity: 1.5, DevicesPerReplica: 1, Placements: []optimizer.Placement{{Pool: 1, PricePerHour: 0.8}}},
			},
		}},
	}
	plan, err := optimizer.Solve(problem, optimizer.Options{RelativeGap: 1e-3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for j, variant := range problem.Workloads[0].Variants {
		fmt.Println(variant.Name, plan.Allocations[0].Replicas[j])
	}
	fmt.Printf("%.2f per hour, at least %.2f\n", plan.Objective, plan.Bound)
	// Output:
	// chat-h100 [2]
	// chat-l4 [1]
	// 8.80 per hour, at least 8.80
}
