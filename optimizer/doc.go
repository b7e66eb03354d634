// Package optimizer chooses accelerator mix and replicas at least cost.
//
// A [Problem] is an integer program: workloads w with variants v on pools g,
// integers x for the replicas of a variant in a pool,
//
//	minimise   Σ p·x + Σ up·(Σx − x⁰)⁺ + Σ down·(x⁰ − Σx)⁺ + Σ π_w·u_w
//	subject to Σ_v c_v·x_v + u_w ≥ λ_w            demand of each workload
//	           Σ d_v·x_v ≤ N_g                    devices of each pool
//	           Σ d_v·x_v ≤ quota                  devices per namespace and pool
//	           Σ p·x ≤ budget
//	           min ≤ x ≤ max                      per variant and per workload
//
// with at most one variant in use where mixing is [Single]. Where requests differ in
// shape, or pass through a prefill and a decode variant, the demand is a routing:
// fractions f of the traffic λ_s of each shape on each variant, or pair of variants,
// with Σ_s f·λ_s/c_sv ≤ x_v. Only replicas are whole; fractions are not. Unmet demand u of
// workloads without penalty is minimised first, priority by priority
// (lexicographically), and cost after that.
//
// A workload with redundancy r is served if its demand still is whichever r replicas
// fail: those of the highest capacity where all requests are alike, and of either
// phase where there are phases. Quotas count the devices that replicas ask for;
// pools count whole nodes where replicas need them, and the devices that do not
// make up a node can only hold what fits there (see [Pool]).
//
// [Solve] returns a plan with a lower bound that it has proven, so that the gap
// between the two says how much could be saved at the very most. Equal problems
// get bit-equal solutions; the order of the input does not matter, and names only
// decide between parts that are interchangeable.
//
// [SolveRobust] finds one plan for several scenarios of demand: for all of them, or
// for as many as a probability asks for.
//
// A [Study] asks what follows from a plan: what would serve all demand, and what other
// prices, demand and pools would change.
//
// The bound is that of the Lagrangian that prices the limits between workloads,
// raised by a proximal bundle method; pricing a workload is an exact search. Plans
// come from exchanges of configurations and from linear programs over them. A gap
// that remains is closed by enumerating all configurations that a better plan could
// use, or else by branching on replicas. Where there are few workloads, linear programs
// over known configurations, to which pricing adds others, take the place of the bundle
// at the nodes and choose what to branch on. Pools that most variants use together are solved
// as one first, as a relaxation.
package optimizer
