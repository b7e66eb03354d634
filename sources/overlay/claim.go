package overlay

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// claims know which workload scales what. What controls a target is scaled with it.
type claims struct {
	view resource.View
	// names are workloads by their names; targets and within by the objects that they scale,
	// and by those that control these.
	names           map[string]int
	targets, within map[objectName]int
}

type objectName struct {
	schema.GroupKind
	namespace, name string
}

func nameOf(r resource.Reference) objectName { return objectName{r.GroupKind(), r.Namespace, r.Name} }

func newClaims(v resource.View) *claims {
	return &claims{v, make(map[string]int), make(map[objectName]int), make(map[objectName]int)}
}

// conflict is another workload that has what a workload wants.
type conflict struct {
	with            int
	reason, message string
}

// claim takes name and targets for workload i; not if another has one of them.
func (c *claims) claim(i int, declared []resource.Workload) *conflict {
	w := &declared[i]
	if with, ok := c.names[w.QualifiedName()]; ok {
		return &conflict{with, resource.DuplicateName, fmt.Sprintf("%v and %v both declare a workload %s: the latter is left out",
			declared[with].Object, w.Object, w.QualifiedName())}
	}
	for j := range w.Declared {
		if target := w.Declared[j].Target; target.Name != "" {
			if with, ok := c.owner(target); ok {
				return &conflict{with, resource.DuplicateOwnership, fmt.Sprintf("%v and %v both scale %v: the latter is left out",
					declared[with].Object, w.Object, target)}
			}
		}
	}
	c.names[w.QualifiedName()] = i
	for j := range w.Declared {
		if target := w.Declared[j].Target; target.Name != "" {
			c.targets[nameOf(target)] = i
			for _, r := range resource.Lineage(c.view, target) {
				c.within[nameOf(r)] = i
			}
		}
	}
	return nil
}

// owner is the workload that scales a target, what controls it or what it controls.
func (c *claims) owner(target resource.Reference) (int, bool) {
	if i, ok := c.within[nameOf(target)]; ok {
		return i, true
	}
	for _, r := range resource.Lineage(c.view, target) {
		if i, ok := c.targets[nameOf(r)]; ok {
			return i, true
		}
	}
	return 0, false
}
