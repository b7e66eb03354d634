// Package hindsight finds the cheapest replicas for rates that are known in advance: a
// bound for whoever has to guess, and a schedule to simulate.
//
// Time is cut into windows with a constant arrival rate for each workload. In each of
// them the replicas that serve must sustain the rates within the SLO, as the performance
// model of the planner sees it or as capacities say that are given, within pools and
// quotas and with no less than the declared minimums. A replica is paid from the moment
// at which it is asked for; it serves after its start-up time.
//
// # The schedule
//
// Each window has the cheapest plan of package optimizer. Where a workload has several
// variants, a replica that is not in the plan of the window before costs its start-up, so
// that plans do not jump from variant to variant; that looks back only, so the schedule
// need not be the cheapest.
//
// For one variant it is. The k-th replica is needed in the windows whose plan has k or
// more. Over a gap between two of them it is kept if that costs no more than a start-up, and
// else given back and started again just in time; replicas do not influence each other, so
// the cheapest for each is the cheapest for all. At the beginning, what runs is kept or
// given back in the same way, and what is needed sooner than it can start is started at
// once and late.
//
// # The bound
//
// In no window can anybody pay less for what serves than the proven bound of the cheapest
// plan for that window alone. Replicas of workloads with one variant are paid beyond that:
// whoever serves every window's rate pays at least the cheapest gaps and start-ups. The
// bound is the sum of both. For fleets whose workloads have one variant each it is the cost
// of the schedule, and no lower bound is higher; for others the gaps and start-ups of
// workloads with several variants are missing in it.
//
// The bound ignores the time that replicas drain, and what start-ups take from pools: the
// schedule may ask for a device that is still in use, and gets it late. Where pools do not
// hold what a window needs, the plan serves what it can, by priority; the cost is then
// that of serving so much, and Unserved tells for how long.
package hindsight
