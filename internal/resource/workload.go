package resource

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/planner"
)

// Reader reads workloads out of the objects of one ecosystem.
type Reader interface {
	// Kinds that Read and Patches look at.
	Kinds() []schema.GroupKind
	// Read returns what is declared, in the order of the objects, and what was skipped.
	// Objects that are not valid are skipped; unknown fields are not looked at.
	Read(v View) ([]Workload, []Skipped)
	// Patches returns what is to be written about a workload that Read returned, once it
	// is decided: nothing where all is written already.
	Patches(v View, w *Workload, o *Outcome) []Patch
}

// Workload is what objects declare of a workload. What they leave open is completed by the
// configuration (package sources/overlay).
type Workload struct {
	// Workload has its variants in Declared. What the objects do not say is zero: model,
	// service class, priority, SLO and shape. An expansion rate counts where the
	// configuration asks for batches, or nothing says what replicas sustain.
	planner.Workload
	Declared []Variant
	// MinimumDeclared: the objects say how many replicas there are at least, of the workload or
	// of variants, if only that there may be none.
	MinimumDeclared bool
	// Object declares the workload: events and conditions are its.
	Object Reference
	// Mode is empty where the configuration decides.
	Mode Mode
	// TakeOver: other autoscalers of the targets are no reason to leave them alone.
	TakeOver bool
	Series   Series
	// Conditions that reading found; the planner's come with its plan.
	Conditions []Condition
}

// Weighed tells whether routes may get weights for the workload: nothing in the cluster is
// to change for one in mode [DryRun] or [Off].
func (w *Workload) Weighed() bool { return w.Mode != DryRun && w.Mode != Off }

// Variant is what objects declare of a variant.
type Variant struct {
	// Variant has no pools, and of its replicas only those asked for. What the objects do
	// not say is zero: profile, capacity, devices, price.
	planner.Variant
	// Accelerator names the type of device; empty = that of the nodes that its pods run on,
	// or ran on last.
	Accelerator string
	// Assumed is the type of device that counts where neither that nor the configuration says
	// one; empty = none does.
	Assumed string
	// Product is what nodes call it, where that is declared too: it counts where no pool has
	// the name.
	Product string
	// Target is the object whose replicas are scaled; ScaleTarget names the same. Without
	// one the variant has no replicas, and is only compared with the others.
	Target Reference
	// Object declares the variant, where several objects declare the workload.
	Object Reference
	// StartupLimit is when a start is given up: it counts as the time that one takes until
	// one has been seen; 0 = unknown.
	StartupLimit time.Duration
	// Leaders select one pod of each replica, in the namespace of the target; nil = the
	// pods of the target's selector.
	Leaders labels.Selector
	// Reporters select the pods that report what replicas do, none of them twice; nil = the
	// leaders.
	Reporters []labels.Selector
}

// Series says where a workload's metrics are.
type Series struct {
	// Engine as package metrics names it; empty = unknown.
	Engine string
	// Selector is label values of its series beside the namespace.
	Selector map[string]string
	// ModelLabel has the model's name; empty = the engine's own.
	ModelLabel string
	// Parts are the pods that report of each replica of a variant, by its name, where that is
	// not one, or others report beside it.
	Parts map[string][]Part
	// Port and Path of each pod's own metrics; 0 and empty where pods are not scraped.
	Port int
	Path string
	// Gateway is nil where none counts requests before replicas do.
	Gateway *Gateway
}

// Part is pods of a replica that do the same.
type Part struct {
	// Pods matches their names, and its first submatch is the name of their replica.
	Pods *regexp.Regexp
	// Count is how many such pods of each replica should report; 0 = they count for nothing.
	Count int
	// Prefill: requests go on to pods of another part, which count them.
	Prefill bool
}

// Gateway says which series of an inference gateway are a workload's, as [Series] does.
type Gateway struct {
	Selector   map[string]string
	ModelLabel string
}

// Skipped is an object that could not be read.
type Skipped struct {
	Object Reference
	// Reason is one word in the style of a condition's reason, Message a sentence.
	Reason, Message string
}

// Reasons for which objects of any kind are skipped.
const (
	// Malformed: a field has another type than the API says.
	Malformed = "Malformed"
	// InvalidSpec: values break the rules of the API, or contradict each other.
	InvalidSpec = "InvalidSpec"
	// DuplicateOwnership: two objects scale the same target. The later one is left out.
	DuplicateOwnership = "DuplicateOwnership"
	// DuplicateName: two objects declare workloads of one name. The later one is left out.
	DuplicateName = "DuplicateName"
)

// Mode is how far decisions about a workload are carried out.
type Mode string

// The modes.
const (
	// Apply writes the scale.
	Apply Mode = "apply"
	// Recommend publishes decisions, for others to carry out.
	Recommend Mode = "recommend"
	// DryRun asks the API server whether it would take the scale.
	DryRun Mode = "dry-run"
	// Off decides nothing; devices in use still count.
	Off Mode = "off"
)
