package resource

import corev1 "k8s.io/api/core/v1"

// PodDevices counts the devices that a pod holds: what its containers ask for together or,
// if that is more, what an init container asks for. Devices of resource claims are not
// among them.
func PodDevices(spec *corev1.PodSpec) int {
	total, initial, sidecars := 0, 0, 0
	for i := range spec.Containers {
		total += containerDevices(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars += containerDevices(c)
		} else {
			initial = max(initial, containerDevices(c)+sidecars)
		}
	}
	return max(total+sidecars, initial)
}

// containerDevices are the devices that a container asks for: requests of devices equal
// the limits, and may be left out.
func containerDevices(c *corev1.Container) int {
	return max(Devices(c.Resources.Limits), Devices(c.Resources.Requests))
}

// SelectedProduct returns the type of device that the spec of a pod asks for, by its node
// selector or a required node affinity to a single type; empty if it asks for none.
func SelectedProduct(spec *corev1.PodSpec) string {
	if product := Product(spec.NodeSelector); product != "" {
		return product
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	product := ""
	for i, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		// The pod may go where any of the terms holds.
		one := Product(fixedLabels(term))
		if one == "" || i > 0 && one != product {
			return ""
		}
		product = one
	}
	return product
}

// fixedLabels are the labels of which a term admits a single value.
func fixedLabels(term corev1.NodeSelectorTerm) map[string]string {
	fixed := make(map[string]string)
	for _, e := range term.MatchExpressions {
		if e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			fixed[e.Key] = e.Values[0]
		}
	}
	return fixed
}
