package actuator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// mostAttempts to write one target.
const mostAttempts = 5

// scale brings a target from the replicas that the change was decided on to those asked for.
func (b *batch) scale(ctx context.Context, object *resource.Reference, c *planner.Change, dryRun bool) error {
	mapping, err := b.mapping(object)
	if err != nil {
		return describe(object, "", c, err)
	}
	at := b.replicasOf(object, mapping)
	options := metav1.PatchOptions{FieldManager: b.config.FieldManager}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	for attempt := 1; ; attempt++ {
		err := at.change(ctx, object.UID, c, options)
		if err == nil {
			return nil
		}
		again := attempt < mostAttempts && (apierrors.IsConflict(err) || transient(err) && pause(ctx, attempt, err) == nil)
		if !again {
			return describe(object, right(at.resource, at.subresource), c, err)
		}
	}
}

// errReplaced says that the object has been deleted and made again.
var errReplaced = errors.New("it is another object of that name now: the next cycle plans with it")

// change carries a change out, if it still is one. Where the API server finds it invalid, the object
// tells why: it is not what the change was decided on, or the API server does not want it so.
func (r *replicas) change(ctx context.Context, uid types.UID, c *planner.Change, options metav1.PatchOptions) error {
	written, err := r.write(ctx, uid, c.From, c.To, options)
	switch {
	case apierrors.IsInvalid(err):
		return r.explain(ctx, uid, c, options, err)
	case err == nil && written.number != c.To:
		return fmt.Errorf("the API server made it %d replicas instead: a webhook or the owner of the object changes what is written", written.number)
	}
	return err
}

// explain tells why a change was refused; nil where it has been carried out already.
func (r *replicas) explain(ctx context.Context, uid types.UID, c *planner.Change, options metav1.PatchOptions, refusal error) error {
	switch now, err := r.read(ctx, options); {
	case transient(err) || apierrors.IsConflict(err):
		return err
	case err != nil:
		return fmt.Errorf("%w; what it is now cannot be read: %w", refusal, err)
	case uid != "" && now.uid != uid:
		return errReplaced
	case now.number == c.To:
		return nil
	case now.number != c.From:
		return fmt.Errorf("somebody else made it %d replicas since it was read: the next cycle plans with them", now.number)
	}
	return refusal
}

// mapping finds the resource of a kind. One that is missing may have been installed since
// the cluster was last asked.
func (b *batch) mapping(object *resource.Reference) (*meta.RESTMapping, error) {
	find := func() (*meta.RESTMapping, error) {
		if object.Version == "" {
			return b.config.Client.Mapper.RESTMapping(object.GroupKind())
		}
		return b.config.Client.Mapper.RESTMapping(object.GroupKind(), object.Version)
	}
	mapping, err := find()
	if meta.IsNoMatchError(err) {
		b.forget.Do(b.config.Client.Mapper.Reset)
		mapping, err = find()
	}
	return mapping, err
}

// modelServing of Kthena has a scale subresource since v0.3.
var modelServing = schema.GroupKind{Group: "workload.serving.volcano.sh", Kind: "ModelServing"}

// replicasOf returns where the number of replicas of an object is.
func (b *batch) replicasOf(object *resource.Reference, mapping *meta.RESTMapping) *replicas {
	if object.GroupKind() == modelServing && !b.hasScale(mapping.Resource) {
		return &replicas{b.part(object, mapping, "")}
	}
	return &replicas{b.part(object, mapping, scaleSubresource)}
}

// hasScale tells whether a resource has a scale subresource, as far as can be found out.
func (b *batch) hasScale(r schema.GroupVersionResource) bool {
	list, err := b.config.Client.Discovery.ServerResourcesForGroupVersion(r.GroupVersion().String())
	return err != nil || slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool { return a.Name == r.Resource+"/scale" })
}
