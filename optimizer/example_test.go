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

// A plan that serves the weekday always, and the rare launch not.
func ExampleSolveRobust() {
	p := &optimizer.Problem{
		Pools: []optimizer.Pool{{Name: "h100"}},
		Workloads: []optimizer.Workload{{
			Name: "chat", Priority: 1, Demand: 12,
			Variants: []optimizer.Variant{{
				Name: "chat-h100", Capacity: 7, DevicesPerReplica: 1,
				Placements: []optimizer.Placement{{Pool: 0, PricePerHour: 4}},
			}},
		}},
	}
	r := &optimizer.Robustness{
		Scenarios: []optimizer.Scenario{
			{Name: "night", Probability: 0.4, Demand: []float64{3}},
			{Name: "weekday", Probability: 0.55, Demand: []float64{18}},
			{Name: "launch", Probability: 0.05, Demand: []float64{40}},
		},
		Service: optimizer.Joint, Probability: 0.95,
	}
	s, err := optimizer.SolveRobust(p, r, optimizer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d replicas for %g requests/s, %g per hour more than without scenarios\n",
		s.Plan.Allocations[0].Replicas[0][0], s.Demand[0], s.Exposure.Cost-s.PointExposure.Cost)
	fmt.Printf("%g requests/s unmet at worst, %.3g on the mean\n", s.Exposure.WorstUnmet, s.Exposure.ExpectedUnmet)
	// Output:
	// 3 replicas for 18 requests/s, 4 per hour more than without scenarios
	// 19 requests/s unmet at worst, 0.95 on the mean
}

// Three devices lack, which the price of the plan says nothing about.
func ExampleStudy() {
	problem := &optimizer.Problem{
		Pools: []optimizer.Pool{{Name: "h100", Limited: true, Capacity: 4}},
		Workloads: []optimizer.Workload{{
			Name: "chat", Priority: 1, Demand: 68,
			Variants: []optimizer.Variant{
				{Name: "chat-h100", Capacity: 10, DevicesPerReplica: 1, Placements: []optimizer.Placement{{Pool: 0, PricePerHour: 4}}},
			},
		}},
	}
	plan, err := optimizer.Solve(problem, optimizer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	increase, err := optimizer.NewStudy(problem, plan, optimizer.Options{}).Increase(optimizer.Relief{Raise: optimizer.PoolLimits})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Allocations[0].Unmet, "requests/s unmet")
	fmt.Println(increase.Pools[0], "devices more cost", increase.Plan.PricePerHour, "per hour in all")
	// Output:
	// 28 requests/s unmet
	// 3 devices more cost 28 per hour in all
}
