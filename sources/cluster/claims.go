package cluster

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// allocation is what dynamic resource allocation (resource.k8s.io) says of devices.
type allocation struct {
	// onNode are the devices in resource slices, by node and product.
	onNode map[string]map[string]int
	// claimed are the devices that claims hold, by the pod that each claim is reserved for
	// first: a claim that several pods share counts once.
	claimed map[types.UID]int
}

// device is one of a resource slice.
type device struct{ driver, pool, name string }

func readAllocation(v *View) allocation {
	d := allocation{onNode: make(map[string]map[string]int), claimed: make(map[types.UID]int)}
	newest := make(map[device]int64)
	for _, slice := range v.List(sliceKind) {
		pool := sliceOf(slice)
		newest[pool] = max(newest[pool], sliceGeneration(slice))
	}
	known := make(map[device]bool)
	for _, slice := range v.List(sliceKind) {
		if pool := sliceOf(slice); sliceGeneration(slice) == newest[pool] {
			d.add(slice, pool, known)
		}
	}
	for _, claim := range v.List(claimKind) {
		if claim.GetAnnotations()[resourcev1.ExtendedResourceClaimAnnotation] == "true" {
			continue // the scheduler made it of what the containers ask for, which counts already
		}
		if pod, n := claimUse(claim, known); n > 0 {
			d.claimed[pod] += n
		}
	}
	return d
}

// sliceOf is the pool of devices that a slice is part of.
func sliceOf(slice *unstructured.Unstructured) device {
	driver, _, _ := unstructured.NestedString(slice.Object, "spec", "driver")
	pool, _, _ := unstructured.NestedString(slice.Object, "spec", "pool", "name")
	return device{driver: driver, pool: pool}
}

// sliceGeneration is that of the slice's pool: slices of older ones are being replaced.
func sliceGeneration(slice *unstructured.Unstructured) int64 {
	generation, _, _ := unstructured.NestedInt64(slice.Object, "spec", "pool", "generation")
	return generation
}

// add counts the accelerators of a slice of one node.
func (d *allocation) add(slice *unstructured.Unstructured, pool device, known map[device]bool) {
	node, _, _ := unstructured.NestedString(slice.Object, "spec", "nodeName")
	if kind, _, _ := strings.Cut(pool.driver, "."); node == "" || kind != "gpu" && kind != "tpu" {
		return
	}
	for _, of := range elements(slice.Object, "spec", "devices") {
		product := deviceProduct(of)
		if product == "" {
			continue
		}
		if d.onNode[node] == nil {
			d.onNode[node] = make(map[string]int)
		}
		d.onNode[node][product]++
		name, _ := of["name"].(string)
		known[device{pool.driver, pool.pool, name}] = true
	}
}

// deviceProduct is what a whole device is called; empty for a part of one. Labels of nodes
// have hyphens for the blanks of names.
func deviceProduct(of map[string]any) string {
	product, kind := "", ""
	attributes, _ := of["attributes"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text, _, _ := unstructured.NestedString(attributes, name, "string")
		switch name[strings.LastIndex(name, "/")+1:] {
		case "productName":
			product = strings.ReplaceAll(text, " ", "-")
		case "type":
			kind = text
		}
	}
	if kind != "" && kind != "gpu" && kind != "tpu" {
		return ""
	}
	return product
}

// claimUse is how many accelerators a claim holds, and for which pod.
func claimUse(claim *unstructured.Unstructured, known map[device]bool) (types.UID, int) {
	reserved := elements(claim.Object, "status", "reservedFor")
	if len(reserved) == 0 {
		return "", 0
	}
	uid, _ := reserved[0]["uid"].(string)
	n := 0
	for _, r := range elements(claim.Object, "status", "allocation", "devices", "results") {
		driver, _ := r["driver"].(string)
		pool, _ := r["pool"].(string)
		name, _ := r["device"].(string)
		if admin, _ := r["adminAccess"].(bool); !admin && known[device{driver, pool, name}] {
			n++
		}
	}
	return types.UID(uid), n
}
