package ledger

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/poolwright/poolwright/internal/exact"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// Summary is what a person wants to know of a decision.
type Summary struct {
	// Demand is what the plan serves: all, a part, or not even the minimums.
	Demand string
	// PricePerHour and Objective are those of the decision.
	PricePerHour, Objective float64
	// Stopped: the clock ended a search.
	Stopped    bool
	Changes    []planner.Change
	Conditions []WorkloadCondition
}

// WorkloadCondition is a condition and whose it is.
type WorkloadCondition struct {
	// Workload is the qualified name.
	Workload string
	Type     planner.ConditionType
	Message  string
}

// Summarize returns the summary of a decision.
func Summarize(d *planner.Decision) Summary {
	s := Summary{
		Demand: demandName(d.Demand), PricePerHour: d.PricePerHour, Objective: d.Objective,
		Stopped: d.Answers != nil, Changes: d.Changes,
	}
	for i := range d.Plans {
		for _, c := range d.Plans[i].Conditions {
			s.Conditions = append(s.Conditions, WorkloadCondition{d.Fleet.Workloads[i].QualifiedName(), c.Type, c.Message})
		}
	}
	return s
}

func demandName(d optimizer.Demand) string {
	switch d {
	case optimizer.Served:
		return "served"
	case optimizer.Partial:
		return "partial"
	case optimizer.Infeasible:
		return "infeasible"
	}
	return "unknown"
}

// digest is the SHA-256 of a decision in its canonical form, in hexadecimal.
func digest(d *planner.Decision) (string, error) {
	sum := sha256.New()
	err := exact.Write(sum, d)
	return hex.EncodeToString(sum.Sum(nil)), err
}
