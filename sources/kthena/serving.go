package kthena

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// serving is a ModelServing. A replica is one ServingGroup.
type serving struct {
	object *unstructured.Unstructured
	// replicas is the number of ServingGroups asked for.
	replicas int
	// roles are those of one ServingGroup.
	roles []role
	// devices of one ServingGroup, and the nodes over which they can be spread such that
	// every pod keeps its devices together.
	devices, nodes int
}

// role is a part of a ServingGroup: so many times an entry pod with its workers.
type role struct {
	roleSpec
	// entries matches the names of the entry pods, and its submatch is that of the ServingGroup.
	entries *regexp.Regexp
}

type roleSpec struct {
	Name           string      `json:"name"`
	Replicas       *int        `json:"replicas"`
	EntryTemplate  podTemplate `json:"entryTemplate"`
	WorkerReplicas int         `json:"workerReplicas"`
	WorkerTemplate podTemplate `json:"workerTemplate"`
}

type podTemplate struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec corev1.PodSpec `json:"spec"`
}

// serving finds a ModelServing by its name.
func (n *network) serving(namespace, of string) (*serving, *problem) {
	if known := n.servings[name{namespace, of}]; known != nil {
		return known, nil
	}
	object, ok := n.view.Get(servingKind, namespace, of)
	if !ok {
		return nil, &problem{TargetNotFound, fmt.Sprintf("there is no ModelServing %q in %s", of, namespace)}
	}
	if known := n.before[name{namespace, of}]; known != nil && known.object == object {
		return known, nil
	}
	s, err := readServing(object)
	if err != nil {
		return nil, &problem{err.reason, fmt.Sprintf("ModelServing %q: %s", of, err.message)}
	}
	return s, nil
}

// readServing decodes a ModelServing.
func readServing(object *unstructured.Unstructured) (*serving, *problem) {
	var m struct {
		Spec struct {
			Replicas *int `json:"replicas"`
			Template struct {
				Roles []roleSpec `json:"roles"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := decode(object, &m); err != nil {
		return nil, err
	}
	s := &serving{object: object, replicas: orOne(m.Spec.Replicas)}
	if s.replicas < 0 {
		return nil, &problem{resource.InvalidSpec, fmt.Sprintf("spec.replicas: %d < 0", s.replicas)}
	}
	if len(m.Spec.Template.Roles) == 0 {
		return nil, &problem{resource.InvalidSpec, "spec.template.roles: there is none"}
	}
	for i, r := range m.Spec.Template.Roles {
		// So Kthena names the entry pods.
		entries, err := regexp.Compile(`^(` + regexp.QuoteMeta(object.GetName()) + `-\d+)-` + regexp.QuoteMeta(r.Name) + `-\d+-0$`)
		if err != nil {
			return nil, &problem{resource.InvalidSpec, fmt.Sprintf("spec.template.roles[%d].name: %v", i, err)}
		}
		s.roles = append(s.roles, role{r, entries})
	}
	err := s.countDevices()
	return s, err
}

// replicas is that in one ServingGroup.
func (r *role) replicas() int { return orOne(r.Replicas) }

func orOne(n *int) int {
	if n == nil {
		return 1
	}
	return *n
}

// mostDevices of one replica, and most of anything that it has.
const mostDevices = 1_000_000

// countDevices adds up entry and worker pods of all roles.
func (s *serving) countDevices() *problem {
	largest := 0
	for i := range s.roles {
		r := &s.roles[i]
		entry, worker := resource.PodDevices(&r.EntryTemplate.Spec), resource.PodDevices(&r.WorkerTemplate.Spec)
		for _, n := range [...]int{r.replicas(), r.WorkerReplicas, entry, worker} {
			if n < 0 || n > mostDevices {
				return &problem{resource.InvalidSpec, fmt.Sprintf("spec.template.roles[%d]: %d times 1 pod of %d devices and %d of %d", i, r.replicas(), entry, r.WorkerReplicas, worker)}
			}
		}
		s.devices += r.replicas() * (entry + r.WorkerReplicas*worker)
		if s.devices > mostDevices {
			return &problem{resource.InvalidSpec, fmt.Sprintf("spec.template.roles: more than %d devices", mostDevices)}
		}
		if r.replicas() > 0 {
			largest = max(largest, entry, min(r.WorkerReplicas, 1)*worker)
		}
	}
	if largest > 0 {
		s.nodes = s.devices / largest
	}
	return nil
}

// accelerator is the type of device that the pods with devices select; empty where they
// select none, or different ones.
func (s *serving) accelerator() (accelerator string, mixed bool) {
	for i := range s.roles {
		r := &s.roles[i]
		for _, template := range []*podTemplate{&r.EntryTemplate, &r.WorkerTemplate} {
			selected := resource.SelectedProduct(&template.Spec)
			if selected == "" || resource.PodDevices(&template.Spec) == 0 {
				continue
			}
			if accelerator != "" && accelerator != selected {
				return "", true
			}
			accelerator = selected
		}
	}
	return accelerator, false
}

// entryLabels are the labels of the entry pods of a role.
func (s *serving) entryLabels(r *role) labels.Set {
	return labels.Merge(r.EntryTemplate.Metadata.Labels, labels.Set{nameLabel: s.object.GetName(), roleLabel: r.Name, entryLabel: "true"})
}

// variant is the ModelServing as a way to serve the workload whose target it is.
func (s *serving) variant(t *target, m *measured) resource.Variant {
	v := resource.Variant{
		Variant: planner.Variant{
			Name:            s.object.GetName(),
			MinReplicas:     t.MinReplicas,
			MaxReplicas:     optimizer.Bound{Limited: true, Value: t.MaxReplicas},
			CurrentReplicas: s.replicas,
			ScaleTarget:     resource.ReferenceTo(s.object).ScaleTarget(),
		},
		Target:    resource.ReferenceTo(s.object),
		Leaders:   m.leaders(),
		Reporters: m.reporters(),
	}
	v.DevicesPerReplica, v.NodesPerReplica = s.devices, s.nodes
	v.Accelerator, _ = s.accelerator()
	if t.cost > 0 {
		v.Priced, v.PricePerReplicaHour = true, float64(t.cost)
	}
	return v
}
