package kthena

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	workloadGroup   = "workload.serving.volcano.sh"
	networkingGroup = "networking.serving.volcano.sh"
)

// The kinds that are read.
var (
	boosterKind = schema.GroupKind{Group: workloadGroup, Kind: "ModelBooster"}
	bindingKind = schema.GroupKind{Group: workloadGroup, Kind: "AutoscalingPolicyBinding"}
	policyKind  = schema.GroupKind{Group: workloadGroup, Kind: "AutoscalingPolicy"}
	servingKind = schema.GroupKind{Group: workloadGroup, Kind: "ModelServing"}
	serverKind  = schema.GroupKind{Group: networkingGroup, Kind: "ModelServer"}
	routeKind   = schema.GroupKind{Group: networkingGroup, Kind: "ModelRoute"}
)

// Labels that Kthena puts on pods.
const (
	nameLabel   = "modelserving.volcano.sh/name"
	roleLabel   = "modelserving.volcano.sh/role"
	roleIDLabel = "modelserving.volcano.sh/role-id"
	entryLabel  = "modelserving.volcano.sh/entry"
)

// Reasons for which an object is skipped, and types of conditions.
const (
	// PolicyNotFound: there is no AutoscalingPolicy of the name that the binding gives.
	PolicyNotFound = "PolicyNotFound"
	// TargetNotFound: there is no ModelServing of the name that a target gives.
	TargetNotFound = "TargetNotFound"
	// TargetUnsupported: the target is of a kind, or a part of one, that can't be scaled.
	TargetUnsupported = "TargetUnsupported"
	// PolicyIgnored: backends have different policies, of which none can count.
	PolicyIgnored = "PolicyIgnored"
	// RateLimited: the gateway lets no more tokens through than a limit.
	RateLimited = "RateLimited"
)
