package cluster

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// allowance is a number of devices that some namespaces may use together.
type allowance struct {
	namespaces []string
	// resource by which pods ask for the devices.
	resource corev1.ResourceName
	// devices by product. Those of anyProduct add to those of each.
	devices map[string]int
}

// anyProduct stands for all products; every site has one.
const anyProduct = ""

// covers tells whether the devices of a node count in the allowance.
func (a *allowance) covers(s *site) bool {
	_, own := a.devices[s.product]
	_, others := a.devices[anyProduct]
	return a.resource == s.resource && (own || others)
}

// left is how many devices of a product may still be used, given those in use by product: its
// own and, of those that may be of any, what the other products don't use beyond their own. It
// is < 0 where more are in use.
func (a *allowance) left(product string, used map[string]int) int {
	shared := a.devices[anyProduct]
	for other, n := range used {
		if other != product {
			shared -= max(0, n-a.devices[other])
		}
	}
	return a.devices[product] + max(0, shared) - used[product]
}

// queueLabel is the label by which objects ask for a LocalQueue of Kueue.
const queueLabel = "kueue.x-k8s.io/queue-name"

// allowances are those of ResourceQuotas and of the ClusterQueues that workloads go through.
// queues are the LocalQueues that they ask for, by namespace.
func allowances(v *View, queues map[string][]string) []allowance {
	var all []allowance
	for _, quota := range v.List(resourceQuotaKind) {
		all = append(all, quotaAllowances(quota)...)
	}
	through := make(map[string][]string)
	for _, local := range v.List(localQueueKind) {
		if slices.Contains(queues[local.GetNamespace()], local.GetName()) {
			name, _, _ := unstructured.NestedString(local.Object, "spec", "clusterQueue")
			through[name] = append(through[name], local.GetNamespace())
		}
	}
	for _, queue := range v.List(clusterQueueKind) {
		if namespaces := slices.Compact(through[queue.GetName()]); len(namespaces) > 0 {
			all = append(all, queueAllowances(v, queue, namespaces)...)
		}
	}
	return all
}

// quotaAllowances are those of a ResourceQuota. One that has scopes is not for all pods.
func quotaAllowances(quota *unstructured.Unstructured) []allowance {
	spec, _ := quota.Object["spec"].(map[string]any)
	if spec["scopes"] != nil || spec["scopeSelector"] != nil {
		return nil
	}
	hard, _ := spec["hard"].(map[string]any)
	var all []allowance
	for name, quantity := range hard {
		of, ok := strings.CutPrefix(name, "requests.")
		if n, isDevices := deviceCount(of, quantity); ok && isDevices {
			all = append(all, allowance{
				namespaces: []string{quota.GetNamespace()}, resource: corev1.ResourceName(of), devices: map[string]int{anyProduct: n},
			})
		}
	}
	return all
}

// queueAllowances are the nominal quotas of a ClusterQueue. A flavor is devices of the product
// that the labels of its nodes name, or of any. Flavors are alternatives: what does not fit the
// one gets the next, so that their quotas add up.
func queueAllowances(v *View, queue *unstructured.Unstructured, namespaces []string) []allowance {
	devices := make(map[corev1.ResourceName]map[string]int)
	for _, group := range elements(queue.Object, "spec", "resourceGroups") {
		for _, flavor := range elements(group, "flavors") {
			name, _ := flavor["name"].(string)
			product := anyProduct
			if f, ok := v.Get(flavorKind, "", name); ok {
				labels, _, _ := unstructured.NestedStringMap(f.Object, "spec", "nodeLabels")
				product = resource.Product(labels)
			}
			for _, r := range elements(flavor, "resources") {
				of, _ := r["name"].(string)
				if n, ok := deviceCount(of, r["nominalQuota"]); ok {
					name := corev1.ResourceName(of)
					if devices[name] == nil {
						devices[name] = make(map[string]int)
					}
					devices[name][product] += n
				}
			}
		}
	}
	var all []allowance
	for name, byProduct := range devices {
		all = append(all, allowance{namespaces: namespaces, resource: name, devices: byProduct})
	}
	return all
}

// elements are a list of objects within an object; nil where there is none.
func elements(object map[string]any, path ...string) []map[string]any {
	found, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	elements, _ := found.([]any)
	var all []map[string]any
	for i := range elements {
		if m, ok := elements[i].(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// mostDevices is what is believed of a quota: some are so large that they are none.
const mostDevices = 1_000_000

// deviceCount reads a quantity of devices; false if it is of something else.
func deviceCount(name string, quantity any) (int, bool) {
	if !resource.IsDevice(corev1.ResourceName(name)) {
		return 0, false
	}
	q, err := apiresource.ParseQuantity(fmt.Sprint(quantity))
	return int(min(q.Value(), mostDevices)), err == nil && q.Sign() >= 0
}

// limit bounds the devices of each namespace of a fleet in each of its pools. An allowance
// for several pools leaves to each what the others don't use now.
func (s *snapshot) limit(in *inventory) {
	for k := range s.fleet.Pools {
		s.fleet.Pools[k].Quotas = slices.Clone(s.fleet.Pools[k].Quotas) // the overlay's own
	}
	holding := make(map[string][]*pod)
	for p := range in.held {
		if in.sites[p.node] != nil && in.index.holds(p) {
			holding[p.namespace] = append(holding[p.namespace], p)
		}
	}
	for _, a := range allowances(s.view, s.queues()) {
		used, held := s.use(in, &a, holding)
		for k := range s.fleet.Pools {
			at := s.sample[k]
			if at == nil || !a.covers(at) {
				continue
			}
			left := a.left(at.product, used)
			for _, namespace := range a.namespaces {
				s.bound(k, planner.Quota{Namespace: namespace, Devices: max(0, left+held[quotaKey{namespace, k}])})
			}
		}
	}
}

// queues are the LocalQueues that targets ask for, by namespace.
func (s *snapshot) queues() map[string][]string {
	if len(s.view.List(localQueueKind)) == 0 {
		return nil
	}
	queues := make(map[string][]string)
	for i := range s.workloads {
		for j := range s.workloads[i].Declared {
			target := s.workloads[i].Declared[j].Target
			if object, ok := s.view.Get(target.GroupKind(), target.Namespace, target.Name); ok {
				queues[target.Namespace] = append(queues[target.Namespace], object.GetLabels()[queueLabel])
			}
		}
	}
	return queues
}

// use is how many devices of an allowance the pods of its namespaces hold, by product, and how
// many of them count as those of variants, by namespace and pool of the fleet.
func (s *snapshot) use(in *inventory, a *allowance, holding map[string][]*pod) (used map[string]int, held map[quotaKey]int) {
	used, held = make(map[string]int), make(map[quotaKey]int)
	for _, namespace := range a.namespaces {
		for _, p := range holding[namespace] {
			at := in.sites[p.node]
			if !a.covers(at) {
				continue
			}
			used[at.product] += in.held[p]
			if k, ok := s.counted[p]; ok {
				held[quotaKey{namespace, k}] += in.held[p]
			}
		}
	}
	return used, held
}

type quotaKey struct {
	namespace string
	pool      int
}

// bound adds a quota to a pool; of two of a namespace the lower one counts. Namespaces
// without workloads need none.
func (s *snapshot) bound(pool int, q planner.Quota) {
	if !s.namespaces[q.Namespace] {
		return
	}
	quotas := s.fleet.Pools[pool].Quotas
	k, found := slices.BinarySearchFunc(quotas, q.Namespace, func(q planner.Quota, name string) int { return strings.Compare(q.Namespace, name) })
	if found {
		quotas[k].Devices = min(quotas[k].Devices, q.Devices)
		return
	}
	s.fleet.Pools[pool].Quotas = slices.Insert(quotas, k, q)
}
