package greedy_test

import (
	"fmt"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
)

// One variant alone has to serve everything for the greedy, so it rents three of the
// large accelerator where two and a small one would do.
func ExampleInferno() {
	problem := &optimizer.Problem{
		Pools: []optimizer.Pool{{Name: "h100", Limited: true, Capacity: 8}, {Name: "l4"}},
		Workloads: []optimizer.Workload{{
			Name: "chat", Priority: 1, Demand: 21,
			Variants: []optimizer.Variant{
				{Name: "chat-h100", Capacity: 10, DevicesPerReplica: 1, Placements: []optimizer.Placement{{Pool: 0, PricePerHour: 4}}},
				{Name: "chat-l4", Capacity: 1.5, DevicesPerReplica: 1, Placements: []optimizer.Placement{{Pool: 1, PricePerHour: 0.9}}},
			},
		}},
	}
	plan, err := greedy.Inferno(problem, greedy.Options{Saturation: greedy.PriorityExhaustive}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	optimum, err := optimizer.Solve(problem, optimizer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f per hour, at best %.2f\n", plan.Objective, optimum.Objective)
	// Output:
	// 12.00 per hour, at best 8.90
}

// Batches of 1, 2 and 4 replicas of each target are filled in the order of their cost.
func ExampleDistribute() {
	targets := []greedy.Target{
		{Cost: 100, MinReplicas: 0, MaxReplicas: 4},
		{Cost: 60, MinReplicas: 1, MaxReplicas: 8},
	}
	fmt.Println(greedy.Distribute(targets, 5, greedy.DefaultExpansionRate))
	fmt.Println(greedy.Distribute(targets, 5, 100))
	// Output:
	// [2 3]
	// [0 5]
}
