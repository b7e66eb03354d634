package actuator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
)

// Publish writes what is to be known about the workloads: patches of objects that are still
// as they were read, and events. A patch of an object that has changed meanwhile is left to
// the next cycle, and what was written already is not written again. The error names what
// could not be written; all the rest has been.
func (a *Actuator) Publish(ctx context.Context, patches []resource.Patch, events []resource.Event) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.Timeout)
	defer cancel()
	b := &batch{Actuator: a}
	errs := make([]error, len(patches))
	a.each(len(patches), func(i int) { errs[i] = b.patch(ctx, &patches[i]) })
	return summary(slices.Concat(errs, b.publishEvents(ctx, events)))
}

// mostErrors are spelt out: when the API server is away they are all the same.
const mostErrors = 10

// summary joins errors, the first of them in words.
func summary(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - mostErrors; more > 0 {
		errs = append(errs[:mostErrors:mostErrors], fmt.Errorf("actuator: %d more could not be written", more))
	}
	return errors.Join(errs...)
}

// patch writes one patch.
func (b *batch) patch(ctx context.Context, p *resource.Patch) error {
	body, err := json.Marshal(p.Merge)
	if err != nil {
		return fmt.Errorf("actuator: %s: %w", &p.Object, err)
	}
	if len(p.Merge) == 0 || b.sent.already(p, body) {
		return nil
	}
	version, err := b.write(ctx, p)
	switch {
	case err == nil:
		b.sent.add(p, body, version)
		return nil
	case apierrors.IsConflict(err) || gone(err):
		return nil
	}
	return b.describePatch(p, err)
}

// write sends a patch and returns the version that came of it.
func (b *batch) write(ctx context.Context, p *resource.Patch) (version string, err error) {
	mapping, err := b.mapping(&p.Object)
	if err != nil {
		return "", err
	}
	merge := maps.Clone(p.Merge)
	merge["metadata"] = map[string]any{"resourceVersion": p.ResourceVersion}
	body, err := json.Marshal(merge)
	if err != nil {
		return "", err
	}
	of := b.part(&p.Object, mapping, p.Subresource)
	object, err := of.patch(ctx, types.MergePatchType, body, metav1.PatchOptions{FieldManager: b.config.FieldManager})
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}

// gone tells an object that is not there from a subresource that is not.
func gone(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name != "" && !slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

func (b *batch) describePatch(p *resource.Patch, err error) error {
	what, advice := "patch", ""
	if p.Subresource != "" {
		what = "patch " + p.Subresource
	}
	switch mapping, mappingErr := b.mapping(&p.Object); {
	case apierrors.IsForbidden(err) && mappingErr == nil:
		advice = "; " + right(mapping.Resource, p.Subresource)
	case apierrors.IsNotFound(err):
		advice = "; its custom resource definition has no such subresource"
	}
	return fmt.Errorf("actuator: %s: %s: %w%s", &p.Object, what, err, advice)
}

// sent are the last patches of each object.
type sent struct {
	mu     sync.Mutex
	bodies map[patched]sentPatch
}

type patched struct {
	uid         types.UID
	subresource string
}

// sentPatch turned one version of an object into another.
type sentPatch struct {
	body          [sha256.Size]byte
	before, after string
}

// already tells whether the same was sent, and the object has not changed since; what is
// known of it may be from before the patch.
func (s *sent) already(p *resource.Patch, body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.bodies[patched{p.Object.UID, p.Subresource}]
	return ok && last.body == sha256.Sum256(body) && (p.ResourceVersion == last.before || p.ResourceVersion == last.after)
}

// mostSent bounds the memory of patches: when it is full, all of it is forgotten, and what
// is sent once too often does no harm.
const mostSent = 20_000

func (s *sent) add(p *resource.Patch, body []byte, version string) {
	if p.Object.UID == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bodies == nil || len(s.bodies) >= mostSent {
		s.bodies = make(map[patched]sentPatch)
	}
	s.bodies[patched{p.Object.UID, p.Subresource}] = sentPatch{sha256.Sum256(body), p.ResourceVersion, version}
}
