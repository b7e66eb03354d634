package cluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// Kinds that are watched whatever readers ask for, and ConfigMaps, which one does.
var (
	podKind           = schema.GroupKind{Kind: "Pod"}
	nodeKind          = schema.GroupKind{Kind: "Node"}
	configMapKind     = schema.GroupKind{Kind: "ConfigMap"}
	resourceQuotaKind = schema.GroupKind{Kind: "ResourceQuota"}
	deploymentKind    = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	statefulSetKind   = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	replicaSetKind    = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	groupSetKind      = schema.GroupKind{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}
	sliceKind         = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}
	claimKind         = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}
	clusterQueueKind  = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ClusterQueue"}
	localQueueKind    = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "LocalQueue"}
	flavorKind        = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ResourceFlavor"}
)

// inventoryKinds say how many devices there are.
func inventoryKinds() []schema.GroupKind {
	return []schema.GroupKind{nodeKind, resourceQuotaKind, sliceKind, claimKind, clusterQueueKind, localQueueKind, flavorKind}
}

// optionalKinds are those without which a fleet is planned where they may not be read. What
// they would say is unknown then.
func optionalKinds() []schema.GroupKind {
	return slices.Concat(inventoryKinds(), resource.RouteKinds())
}

// Kinds are all kinds of objects that a catalog with some readers watches, by group and name.
func Kinds(readers []resource.Reader) []schema.GroupKind {
	kinds := slices.Concat(
		[]schema.GroupKind{podKind, deploymentKind, statefulSetKind, replicaSetKind, groupSetKind},
		optionalKinds(), resource.OwnershipKinds(),
	)
	for _, r := range readers {
		kinds = append(kinds, r.Kinds()...)
	}
	slices.SortFunc(kinds, compareKinds)
	return slices.Compact(kinds)
}
