package optimizer

import "slices"

// Equal tells whether two problems are the same, in the same order.
func (p *Problem) Equal(q *Problem) bool {
	return p.BudgetPerHour == q.BudgetPerHour && slices.Equal(p.Pools, q.Pools) && slices.Equal(p.Quotas, q.Quotas) &&
		slices.EqualFunc(p.Workloads, q.Workloads, equalWorkloads)
}

func equalWorkloads(a, b Workload) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Priority == b.Priority &&
		a.Demand == b.Demand && a.UnmetPenalty == b.UnmetPenalty && a.Penalized == b.Penalized &&
		a.Mixing == b.Mixing && a.Redundancy == b.Redundancy && a.waived == b.waived &&
		a.MinReplicas == b.MinReplicas && a.MaxReplicas == b.MaxReplicas &&
		slices.Equal(a.Shapes, b.Shapes) && slices.EqualFunc(a.Variants, b.Variants, equalVariants)
}

func equalVariants(a, b Variant) bool {
	return a.Name == b.Name && a.Capacity == b.Capacity && slices.Equal(a.ShapeCapacities, b.ShapeCapacities) &&
		a.Phase == b.Phase && a.DevicesPerReplica == b.DevicesPerReplica && a.NodesPerReplica == b.NodesPerReplica &&
		a.MinReplicas == b.MinReplicas && a.MaxReplicas == b.MaxReplicas && a.CurrentReplicas == b.CurrentReplicas &&
		a.SwitchUp == b.SwitchUp && a.SwitchDown == b.SwitchDown && a.quotaOnly() == b.quotaOnly() &&
		slices.Equal(a.Placements, b.Placements)
}
