package llmaz

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/poolwright/poolwright/internal/resource"
)

// Parameters of flavors that llmaz presets.
const (
	tensorParallel   = "TP"
	pipelineParallel = "PP"
	instanceType     = "INSTANCE-TYPE"
)

// flavors returns those that a claim may run on, by preference, and the place of the first
// of them among those of the model.
func (r *reading) flavors(c *claim) ([]flavor, int, error) {
	model := find(r.models, c.model)
	if model == nil {
		return nil, 0, flawed(ModelMissing, "OpenModel %s does not exist, or cannot be read", c.model)
	}
	declared := model.Spec.InferenceConfig.Flavors
	if len(c.flavors) == 0 {
		return declared, 0, nil
	}
	if draft := find(r.models, c.draft); draft != nil {
		declared = slices.Concat(declared, draft.Spec.InferenceConfig.Flavors)
	}
	var chosen []flavor
	for _, name := range c.flavors {
		i := slices.IndexFunc(declared, func(f flavor) bool { return f.Name == name })
		if i < 0 {
			return nil, 0, flawed(FlavorMissing, "OpenModel %s has no flavor %q", c.model, name)
		}
		chosen = append(chosen, declared[i])
	}
	return chosen, slices.IndexFunc(declared, func(f flavor) bool { return f.Name == c.flavors[0] }), nil
}

// parameter is a number; 0 where it is none.
func (f *flavor) parameter(name string) int {
	n, err := strconv.Atoi(f.Params[name])
	if err != nil || n < 1 || n > mostDevices {
		return 0
	}
	return n
}

// mostDevices is more than one pod has, and more pods than a replica has.
const mostDevices = 1e6

// accelerator names the type of device that a flavor selects: as its node selector does,
// else as all nodes do that it selects, else by the type of machine that is to be added for
// it; empty where nothing does.
func (r *reading) accelerator(f *flavor) string {
	if product := resource.Product(f.NodeSelector); product != "" {
		return product
	}
	selector := maps.Clone(f.NodeSelector)
	machine := f.Params[instanceType]
	if machine != "" {
		if selector == nil {
			selector = make(map[string]string)
		}
		selector[corev1.LabelInstanceTypeStable] = machine
	}
	if len(selector) == 0 {
		return ""
	}
	if product := r.productOfNodes(labels.SelectorFromSet(selector)); product != "" {
		return product
	}
	return machine
}

// productOfNodes is the type of device that all selected nodes have; empty where there are
// none, or they differ.
func (r *reading) productOfNodes(selector labels.Selector) string {
	key := selector.String()
	common, known := r.products[key]
	if known {
		return common
	}
	for _, node := range r.view.List(nodeKind) {
		set := node.GetLabels()
		if !selector.Matches(labels.Set(set)) {
			continue
		}
		product := resource.Product(set)
		if product == "" || common != "" && product != common {
			common = ""
			break
		}
		common = product
	}
	r.products[key] = common
	return common
}
