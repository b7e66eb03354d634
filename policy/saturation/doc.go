// Package saturation computes what the saturation analyzer of llm-d's
// workload-variant-autoscaler would do, as a baseline for comparisons.
//
// [Decide] looks at every ready replica of a model, whatever its variant. A replica is
// saturated when its KV usage or its queue reaches a threshold. The others have something
// to spare, threshold − value. When they have too little on average, or when there are
// none, the cheapest variant gets one replica more. When they would have enough with one
// of them fewer and the same load, the dearest variant gets one replica less:
//
//	spare kv    = kvCacheThreshold − Σ kv/n           over the n replicas not saturated
//	spare queue = queueLengthThreshold − Σ queue/n
//	up:    spare kv < kvSpareTrigger or spare queue < queueSpareTrigger
//	down:  n ≥ 2, and both spares reach their triggers with Σ/(n−1) in place of Σ/n
//
// While replicas of a variant report that are not those that there are, or these are not
// those that were decided, nothing changes for the whole model: replicas start.
//
// The project has a second analyzer, its default from v0.9.0 on, which counts tokens and
// needs to know how engines were started. It is not this one.
//
// Source: llm-d/llm-d-workload-variant-autoscaler v0.5.1 (February 2026),
// docs/saturation-analyzer.md and docs/saturation-scaling-config.md. These tell of
// transitions variant by variant; the release holds the whole model, so this does.
package saturation
