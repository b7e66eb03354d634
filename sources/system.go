package sources

import (
	"cmp"
	"slices"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Facts of the inferno optimizers.
const (
	// defaultClass is the service class of a server that names none.
	defaultClass = "Free"
	// lowestPriority is that of a class whose priority is not in [1, 100].
	lowestPriority = 100
	// queueToBatch is the number of waiting places per place in the batch where
	// coefficients are those of decodeParms and prefillParms.
	queueToBatch = 10
	// maxBatch is the largest batch limit of a variant of ours.
	maxBatch = 65536
)

// isSystem tells the description of an inferno system from a fleet: it has all in
// "system", or is that system's content.
func isSystem(tree document.Value) bool {
	for key := range tree.Members() {
		switch key.Text() {
		case "system", "acceleratorData", "modelData", "serviceClassData", "serverData":
			return true
		}
	}
	return false
}

// system is the description of an inferno system, looked up by name.
type system struct {
	unlimited, heterogeneous bool
	// types are the accelerator types in the order in which accelerators name them.
	types        []string
	accelerators map[string]accelerator
	// prices of one device of each type, per hour.
	prices map[string]float64
	// counts are the devices of each type.
	counts   map[string]int32
	profiles map[string][]profile
	classes  map[string]class
}

// accelerator is a number of devices of one type that are used together.
type accelerator struct {
	name, kind string
	devices    int32
	// cents is the price of all devices together, in cents per hour.
	cents float64
}

// class is a service class.
type class struct {
	priority int32
	// targets by model.
	targets map[string]record
}

// importSystem translates the description of an inferno system into a fleet.
func importSystem(tree document.Value) (*poolwrightv1.Fleet, error) {
	var mistakes document.Error
	root := systemRecord(tree, &mistakes)
	options := optimizerRecord(root)
	s := system{unlimited: options.flag("unlimited"), heterogeneous: options.flag("heterogeneous")}
	s.readAccelerators(root)
	s.readCounts(root)
	s.readProfiles(root)
	s.readClasses(root)
	fleet := &poolwrightv1.Fleet{Pools: s.pools(), Workloads: s.workloads(root), Objective: objective(options)}
	if err := mistakes.OrNil(); err != nil {
		slices.SortStableFunc(mistakes.Violations, func(a, b document.Violation) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, err
	}
	return fleet, nil
}

// systemRecord finds the object that holds the sections.
func systemRecord(tree document.Value, mistakes *document.Error) record {
	root := newRecord("", tree, mistakes)
	for _, wrapper := range []string{"system", "spec"} {
		if root.has(wrapper) {
			root = root.record(wrapper)
		}
	}
	return root
}

func optimizerRecord(root record) record {
	for _, wrapper := range []string{"optimizerData", "optimizer", "spec"} {
		if root.has(wrapper) {
			root = root.record(wrapper)
		}
	}
	return root
}

// saturationPolicies are those of the family by its names.
var saturationPolicies = map[string]poolwrightv1.Objective_SaturationPolicy{
	"":                   poolwrightv1.Objective_NONE,
	"None":               poolwrightv1.Objective_NONE,
	"PriorityExhaustive": poolwrightv1.Objective_PRIORITY_EXHAUSTIVE,
	"PriorityRoundRobin": poolwrightv1.Objective_PRIORITY_ROUND_ROBIN,
	"RoundRobin":         poolwrightv1.Objective_ROUND_ROBIN,
}

// objective is what the family's greedy would do. It is nil where all is as usual.
func objective(options record) *poolwrightv1.Objective {
	policy, ok := saturationPolicies[options.text("saturationPolicy")]
	if !ok {
		options.reject("saturationPolicy", "must be None, PriorityExhaustive, PriorityRoundRobin or RoundRobin")
	}
	delayed := options.flag("delayedBestEffort")
	if policy == poolwrightv1.Objective_NONE && !delayed {
		return nil
	}
	return &poolwrightv1.Objective{SaturationPolicy: policy, DelayedBestEffort: delayed}
}

func (s *system) readAccelerators(root record) {
	s.accelerators, s.prices = map[string]accelerator{}, map[string]float64{}
	for _, r := range root.records("acceleratorData", "accelerators", "spec") {
		a := accelerator{
			name:    r.required("name"),
			kind:    r.text("type"),
			devices: r.count("multiplicity", 1),
			cents:   r.number("cost"),
		}
		if a.kind == "" {
			a.kind = a.name
		}
		if a.devices == 0 {
			r.reject("multiplicity", "must be at least 1")
			a.devices = 1
		}
		if _, twice := s.accelerators[a.name]; twice && a.name != "" {
			r.reject("name", "accelerator %q is given twice", a.name)
			continue
		}
		s.accelerators[a.name] = a
		if _, known := s.prices[a.kind]; !known {
			s.prices[a.kind] = a.cents / centsPerUnit / float64(a.devices)
			s.types = append(s.types, a.kind)
		}
	}
}

// readCounts reads how many devices of each type there are. Older descriptions have
// them beside the accelerators.
func (s *system) readCounts(root record) {
	s.counts = map[string]int32{}
	list := root.records("capacityData", "capacity", "count")
	if _, v, ok := root.find("acceleratorData"); ok && v.Kind() == document.Object {
		list = append(list, root.record("acceleratorData").records("count")...)
	}
	for _, r := range list {
		kind := r.required("type")
		if _, twice := s.counts[kind]; twice {
			r.reject("type", "the count of %q is given twice", kind)
		}
		s.counts[kind] = r.count("count", 0)
	}
}

// readClasses reads service classes: with targets per model, or in older
// descriptions one entry per class and model.
func (s *system) readClasses(root record) {
	s.classes = map[string]class{}
	for _, r := range root.records("serviceClassData", "serviceClasses", "spec") {
		name := r.required("name")
		c, ok := s.classes[name]
		if !ok {
			c = class{priority(r), map[string]record{}}
			s.classes[name] = c
		}
		targets := r.records("modelTargets")
		if r.has("model") {
			targets = append(targets, r)
		}
		for _, target := range targets {
			model := target.required("model")
			if _, twice := c.targets[model]; twice {
				target.reject("model", "class %q has a target for model %q twice", name, model)
			}
			c.targets[model] = target
		}
	}
}

func priority(r record) int32 {
	if p := r.count("priority", lowestPriority); p >= 1 && p <= lowestPriority {
		return p
	}
	return lowestPriority
}

// pools are one per accelerator type, at the price per device of the type's first
// accelerator. A type that is not counted has no devices, unless the system is
// unlimited.
func (s *system) pools() []*poolwrightv1.Pool {
	pools := make([]*poolwrightv1.Pool, 0, len(s.types))
	for _, kind := range s.types {
		pool := &poolwrightv1.Pool{Name: kind, Accelerator: kind, PricePerHour: s.prices[kind]}
		if !s.unlimited {
			count := s.counts[kind]
			pool.Capacity = &count
		}
		pools = append(pools, pool)
	}
	return pools
}
