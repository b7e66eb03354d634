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
	replicas := b.replicasOf(object, mapping)
	for attempt := 1; ; attempt++ {
		err := b.attempt(ctx, replicas, object, c, dryRun)
		if err == nil {
			return nil
		}
		// On a conflict somebody wrote between reading and writing, perhaps just the status:
		// the next attempt finds out.
		again := apierrors.IsConflict(err) || transient(err) && pause(ctx, attempt, err) == nil
		if !again || attempt == mostAttempts {
			return describe(object, replicas.access(), c, err)
		}
	}
}

// errReplaced says that the object has been deleted and made again.
var errReplaced = errors.New("it is another object of that name now: the next cycle plans with it")

// attempt reads, compares and writes once.
func (b *batch) attempt(ctx context.Context, r replicas, object *resource.Reference, c *planner.Change, dryRun bool) error {
	now, err := r.read(ctx)
	switch {
	case err != nil:
		return err
	case object.UID != "" && now.uid != object.UID:
		return errReplaced
	case now.count == c.To:
		return nil
	case now.count != c.From:
		return fmt.Errorf("somebody else made it %d replicas since it was read: the next cycle plans with them", now.count)
	}
	options := metav1.UpdateOptions{FieldManager: b.config.FieldManager}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	written, err := r.write(ctx, now, c.To, options)
	if err == nil && written != c.To {
		err = fmt.Errorf("the API server made it %d replicas instead: a webhook or the owner of the object changes what is written", written)
	}
	return err
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

// replicas reads and writes the number of replicas of an object.
type replicas interface {
	read(ctx context.Context) (count, error)
	// write writes the number if the object is as it was read, and returns what the API
	// server made of it. If it is not, the error is a conflict.
	write(ctx context.Context, as count, n int, options metav1.UpdateOptions) (int, error)
	// access is what a service account needs for that, in words.
	access() string
}

// modelServing of Kthena has a scale subresource since v0.3.
var modelServing = schema.GroupKind{Group: "workload.serving.volcano.sh", Kind: "ModelServing"}

// replicasOf returns the way to the replicas of an object: its scale subresource, or the
// field of the kind that does without in some versions.
func (b *batch) replicasOf(object *resource.Reference, mapping *meta.RESTMapping) replicas {
	if object.GroupKind() == modelServing && !b.hasScale(mapping.Resource) {
		return &replicasField{b.config.Client.Dynamic.Resource(mapping.Resource).Namespace(object.Namespace), mapping.Resource, object.Name}
	}
	return &scaleSubresource{b.config.Client.Scales.Scales(object.Namespace), mapping.Resource.GroupResource(), object.Name}
}

// hasScale tells whether a resource has a scale subresource, as far as can be found out.
func (b *batch) hasScale(r schema.GroupVersionResource) bool {
	list, err := b.config.Client.Discovery.ServerResourcesForGroupVersion(r.GroupVersion().String())
	return err != nil || slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool { return a.Name == r.Resource+"/scale" })
}
