package resource

// Target is the object whose replicas are those of a variant, and what may be done to it.
type Target struct {
	// Object is scaled. Its UID and generation are those of the snapshot.
	Object Reference
	// Workload is the object that declares the workload; the target where that is empty.
	Workload Reference
	// Mode is what the objects and the configuration say, never empty.
	Mode Mode
	// TakeOver: that others scale the target is no reason to leave it alone.
	TakeOver bool
	// Owners are others that scale the target, in words, as [Ownership.Owners] finds them.
	Owners []string
	// Delegated: KEDA scales the target as we say, which is no conflict.
	Delegated bool
}

// EffectiveMode is the mode, or Recommend where the target is to be scaled and others do
// so already, on their own or as we say.
func (t *Target) EffectiveMode() Mode {
	if t.Mode == Apply && (len(t.Owners) > 0 || t.Delegated) && !t.TakeOver {
		return Recommend
	}
	return t.Mode
}

// Advised tells whether changes of the replicas are only published, so that nobody may
// follow.
func (t *Target) Advised() bool { return t.EffectiveMode() != Apply && !t.Delegated }

// Declared is the object that events about the variant are on.
func (t *Target) Declared() Reference {
	if t.Workload.Kind == "" {
		return t.Object
	}
	return t.Workload
}
