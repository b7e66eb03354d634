package actuator_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/actuator"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// targets by variant.
type targets map[string]resource.Target

func (t targets) Target(_, variant string) (resource.Target, bool) {
	target, ok := t[variant]
	return target, ok
}

var (
	deployment   = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	modelServing = schema.GroupVersionKind{Group: "workload.serving.volcano.sh", Version: "v1alpha1", Kind: "ModelServing"}
)

const (
	deployments   = "/apis/apps/v1/namespaces/team/deployments/"
	modelServings = "/apis/workload.serving.volcano.sh/v1alpha1/namespaces/team/modelservings/"
)

func target(kind schema.GroupVersionKind, name string) resource.Target {
	return resource.Target{
		Object: resource.Reference{GroupVersionKind: kind, Namespace: "team", Name: name, UID: types.UID("uid-of-" + name), Generation: 1},
		Mode:   resource.Apply,
	}
}

func change(variant string, from, to int) planner.Change {
	return planner.Change{Workload: "team/chat", Variant: variant, From: from, To: to, Goal: to, Reason: "because"}
}

// one carries one change of the Deployment chat from 2 to 5 out.
func one(t *testing.T, client *kube.Client, with resource.Target) error {
	t.Helper()
	a := actuator.New(actuator.Config{Client: client, Targets: targets{"h100": with}})
	errs := a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})
	require.Len(t, errs, 1)
	return errs[0]
}

func TestScaleIsWritten(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 2)
	require.NoError(t, one(t, client, target(deployment, "chat")))
	require.EqualValues(t, 5, o.replicas)
	patch := "PATCH " + deployments + "chat/scale?fieldManager=poolwright"
	read := "PATCH " + deployments + "chat/scale?dryRun=All&fieldManager=poolwright"
	require.Equal(t, []string{patch}, s.asked())

	require.NoError(t, one(t, client, target(deployment, "chat")))
	require.Equal(t, []string{patch, read}, s.asked(), "there are as many as are wanted")
	require.EqualValues(t, 5, o.replicas)
}

func TestModes(t *testing.T) {
	for name, test := range map[string]struct {
		mode     resource.Mode
		owners   []string
		takeOver bool
		replicas int64
		asked    int
		err      string
	}{
		"apply":           {mode: resource.Apply, replicas: 5, asked: 1},
		"dry run":         {mode: resource.DryRun, replicas: 2, asked: 1},
		"recommend":       {mode: resource.Recommend, replicas: 2},
		"off":             {mode: resource.Off, replicas: 2, err: `Deployment team/chat is left alone: its mode is "off"`},
		"foreign owner":   {mode: resource.Apply, owners: []string{"HorizontalPodAutoscaler team/chat"}, replicas: 2},
		"taken over":      {mode: resource.Apply, owners: []string{"HorizontalPodAutoscaler team/chat"}, takeOver: true, replicas: 5, asked: 1},
		"dry run, owned":  {mode: resource.DryRun, owners: []string{"ScaledObject team/chat"}, replicas: 2, asked: 1},
		"nothing decided": {replicas: 2, err: `its mode is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := newAPIServer(t)
			o := s.add(deployments+"chat", 2)
			with := target(deployment, "chat")
			with.Mode, with.Owners, with.TakeOver = test.mode, test.owners, test.takeOver
			if err := one(t, client, with); test.err != "" {
				require.ErrorContains(t, err, test.err)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, test.replicas, o.replicas)
			require.Len(t, s.asked(), test.asked)
		})
	}
}

func TestDryRunIsRefusedAsTheWriteWouldBe(t *testing.T) {
	s, client := newAPIServer(t)
	s.add(deployments+"chat", 2)
	s.fault = func(r *http.Request) *apierrors.StatusError {
		if r.URL.Query().Get("dryRun") == metav1.DryRunAll {
			return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "chat", fmt.Errorf("a policy"))
		}
		return nil
	}
	with := target(deployment, "chat")
	with.Mode = resource.DryRun
	require.ErrorContains(t, one(t, client, with), "a policy")
}

func TestSomebodyElse(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 3)
	require.EqualError(t, one(t, client, target(deployment, "chat")),
		"actuator: Deployment team/chat: scale from 2 to 5: somebody else made it 3 replicas since it was read: the next cycle plans with them")

	o.replicas, o.uid = 2, "another"
	require.ErrorContains(t, one(t, client, target(deployment, "chat")), "it is another object of that name now")
	require.EqualValues(t, 2, o.replicas)
}

func TestConflicts(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 2)
	left := 4
	s.fault = func(*http.Request) *apierrors.StatusError {
		if left == 0 {
			return nil
		}
		left--
		return conflict
	}
	require.NoError(t, one(t, client, target(deployment, "chat")))
	require.EqualValues(t, 5, o.replicas)
	require.Len(t, s.asked(), 5)

	o.replicas, left = 2, 1000
	err := one(t, client, target(deployment, "chat"))
	require.ErrorContains(t, err, "the object has been modified")
	require.Len(t, s.asked(), 5)

	o.replicas = 2
	s.fault = func(*http.Request) *apierrors.StatusError {
		o.replicas = 7
		return nil
	}
	require.ErrorContains(t, one(t, client, target(deployment, "chat")), "somebody else made it 7 replicas")
	require.EqualValues(t, 7, o.replicas, "what somebody else wrote is not overwritten")
}

func TestRefusalsArePermanentUntilTheObjectChanges(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for name, test := range map[string]struct {
		refusal *apierrors.StatusError
		asked   int
		says    string
	}{
		"forbidden": {
			apierrors.NewForbidden(deployments, "chat", fmt.Errorf("no rule")), 1,
			`the service account needs the verb patch on deployments/scale in the API group "apps"`,
		},
		"invalid":   {apierrors.NewInvalid(deployment.GroupKind(), "chat", nil), 2, "is invalid"},
		"not found": {apierrors.NewNotFound(deployments, "chat"), 1, "it is gone, or its kind cannot be scaled"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := newAPIServer(t)
			s.add("/apis/apps/v1/namespaces/team/deployments/chat", 2)
			s.fault = func(r *http.Request) *apierrors.StatusError {
				if reads(r) {
					return nil
				}
				return test.refusal
			}
			all := targets{"h100": target(deployment, "chat")}
			a := actuator.New(actuator.Config{Client: client, Targets: all})
			apply := func(to int) error { return a.Apply(t.Context(), []planner.Change{change("h100", 2, to)})[0] }

			require.ErrorContains(t, apply(5), test.says)
			require.Len(t, s.asked(), test.asked)
			err := apply(5)
			require.ErrorContains(t, err, "Deployment team/chat")
			require.ErrorContains(t, err, "refused before")
			require.Empty(t, s.asked())

			require.Error(t, apply(4))
			require.Len(t, s.asked(), test.asked, "another number may be taken")

			s.fault = nil
			changed := all["h100"]
			changed.Object.Generation++
			all["h100"] = changed
			require.NoError(t, apply(5))
		})
	}
}

// Not every webhook takes dry runs: what one refuses as a dry run is written all the same.
func TestRefusalOfADryRunIsNoneOfAWrite(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 2)
	s.fault = func(r *http.Request) *apierrors.StatusError {
		if r.URL.Query().Get("dryRun") == "" {
			return nil
		}
		return apierrors.NewBadRequest("admission webhook does not support dry run")
	}
	all := targets{"h100": target(deployment, "chat")}
	a := actuator.New(actuator.Config{Client: client, Targets: all})
	apply := func(mode resource.Mode) error {
		changed := all["h100"]
		changed.Mode = mode
		all["h100"] = changed
		return a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0]
	}
	require.ErrorContains(t, apply(resource.DryRun), "does not support dry run")
	require.ErrorContains(t, apply(resource.DryRun), "refused before")
	require.NoError(t, apply(resource.Apply))
	require.EqualValues(t, 5, o.replicas)
}

func TestTransientFailuresAreTriedAgain(t *testing.T) {
	for name, failure := range map[string]*apierrors.StatusError{
		"too many requests": apierrors.NewTooManyRequestsError("slow down"),
		"internal error":    apierrors.NewInternalError(fmt.Errorf("a webhook did not answer")),
		"unavailable":       apierrors.NewServiceUnavailable("starting"),
	} {
		t.Run(name, func(t *testing.T) {
			s, client := newAPIServer(t)
			o := s.add(deployments+"chat", 2)
			left := 2
			s.fault = func(*http.Request) *apierrors.StatusError {
				if left == 0 {
					return nil
				}
				left--
				return failure
			}
			require.NoError(t, one(t, client, target(deployment, "chat")))
			require.EqualValues(t, 5, o.replicas)
		})
	}
}

// Who gives up does not wait before: others wait for the place.
func TestNothingIsWaitedForAfterTheLastAttempt(t *testing.T) {
	s, client := newAPIServer(t)
	s.add(deployments+"chat", 2)
	var asked []time.Time
	s.fault = func(*http.Request) *apierrors.StatusError {
		asked = append(asked, time.Now())
		return apierrors.NewInternalError(fmt.Errorf("a webhook did not answer"))
	}
	require.Error(t, one(t, client, target(deployment, "chat")))
	ended := time.Now()
	require.Len(t, asked, 5)
	require.Less(t, ended.Sub(asked[4]), asked[4].Sub(asked[3]))
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	s, client := newAPIServer(t)
	s.add(deployments+"chat", 2)
	s.fault = func(*http.Request) *apierrors.StatusError {
		return apierrors.NewTooManyRequests("slow down", 3600)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	a := actuator.New(actuator.Config{Client: client, Targets: targets{"h100": target(deployment, "chat")}})
	require.Error(t, a.Apply(ctx, []planner.Change{change("h100", 2, 5)})[0])
	require.Less(t, time.Since(began), time.Minute)
}

func TestKindsMayBeInstalledLater(t *testing.T) {
	s, client := newAPIServer(t)
	kind := schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}
	with := target(kind, "chat")
	err := one(t, client, with)
	require.ErrorContains(t, err, `no matches for kind "LeaderWorkerSet"`)
	require.ErrorContains(t, err, "install its custom resource definition")

	s.mu.Lock()
	s.resources["leaderworkerset.x-k8s.io/v1"] = []metav1.APIResource{
		{Name: "leaderworkersets", Kind: "LeaderWorkerSet", Namespaced: true},
		{Name: "leaderworkersets/scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Namespaced: true},
	}
	s.mu.Unlock()
	o := s.add("/apis/leaderworkerset.x-k8s.io/v1/namespaces/team/leaderworkersets/chat", 2)
	require.NoError(t, one(t, client, with))
	require.EqualValues(t, 5, o.replicas)
}

func TestModelServingWithoutScaleSubresource(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(modelServings+"chat", 2)
	with := target(modelServing, "chat")
	require.NoError(t, one(t, client, with))
	require.EqualValues(t, 5, o.replicas)
	require.Equal(t, []string{"PATCH " + modelServings + "chat?fieldManager=poolwright"}, s.asked())

	o.replicas = 2
	s.fault = func(*http.Request) *apierrors.StatusError {
		o.replicas = 4
		return nil
	}
	require.ErrorContains(t, one(t, client, with), "somebody else made it 4 replicas")
	require.EqualValues(t, 4, o.replicas)

	s.fault = func(*http.Request) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{}, "chat", fmt.Errorf("no rule"))
	}
	o.replicas = 2
	require.ErrorContains(t, one(t, client, with), `the service account needs the verb patch on modelservings in the API group "workload.serving.volcano.sh"`)

	s.fault = nil
	s.mu.Lock()
	s.resources["workload.serving.volcano.sh/v1alpha1"] = append(s.resources["workload.serving.volcano.sh/v1alpha1"],
		metav1.APIResource{Name: "modelservings/scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Namespaced: true})
	s.mu.Unlock()
	client.Mapper.Reset()
	s.asked()
	require.NoError(t, one(t, client, with))
	require.Contains(t, s.asked(), "PATCH "+modelServings+"chat/scale?fieldManager=poolwright", "since v0.3")
}

// reads tells a patch that changes nothing, where the mode is not dry-run.
func reads(r *http.Request) bool { return r.URL.Query().Get("dryRun") == metav1.DryRunAll }

// A Scale leaves 0 replicas out.
func TestFromNone(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 0)
	a := actuator.New(actuator.Config{Client: client, Targets: targets{"h100": target(deployment, "chat")}})
	require.ErrorContains(t, one(t, client, target(deployment, "chat")), "somebody else made it 0 replicas")
	require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", 0, 5)})[0])
	require.EqualValues(t, 5, o.replicas)
}

// A write that was carried out, and was answered with an error, is not repeated.
func TestAnswersThatAreLost(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 2)
	s.fault = func(*http.Request) *apierrors.StatusError {
		s.fault, o.replicas = nil, 5
		return apierrors.NewTimeoutError("it may have been done", 0)
	}
	require.NoError(t, one(t, client, target(deployment, "chat")))
	require.Len(t, s.asked(), 3, "written, written again, and read")
}

// What there is after a refusal may not be known either.
func TestReadingThatFails(t *testing.T) {
	s, client := newAPIServer(t)
	s.add(deployments+"chat", 3)
	failure := apierrors.NewTooManyRequestsError("slow down")
	s.fault = func(r *http.Request) *apierrors.StatusError {
		if !reads(r) {
			return nil
		}
		s.fault = nil
		return failure
	}
	require.ErrorContains(t, one(t, client, target(deployment, "chat")), "somebody else made it 3 replicas", "asked again")

	a := actuator.New(actuator.Config{Client: client, Targets: targets{"h100": target(deployment, "chat")}})
	s.fault = func(r *http.Request) *apierrors.StatusError {
		if !reads(r) {
			return nil
		}
		return apierrors.NewBadRequest("a webhook does not support dry run")
	}
	err := a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0]
	require.ErrorContains(t, err, "the server rejected our request due to an error in our request; what it is now cannot be read: a webhook does not support dry run")
	s.asked()
	require.ErrorContains(t, a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0], "refused before")
	require.Empty(t, s.asked())
}

func TestReadingChangesNothing(t *testing.T) {
	s, client := newAPIServer(t)
	o := s.add(deployments+"chat", 7)
	s.mutate = func(replicas int64) int64 { return min(replicas, 3) }
	require.ErrorContains(t, one(t, client, target(deployment, "chat")), "somebody else made it")
	require.EqualValues(t, 7, o.replicas)

	with := target(deployment, "chat")
	with.Mode = resource.DryRun
	s.mutate = nil
	require.ErrorContains(t, one(t, client, with), "somebody else made it 7 replicas")
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	s, client := newAPIServer(t)
	s.add(deployments+"chat", 2)
	s.mutate = func(replicas int64) int64 { return min(replicas, 3) }
	require.ErrorContains(t, one(t, client, target(deployment, "chat")), "the API server made it 3 replicas instead")
}

func TestUnknownVariantsAndNumbers(t *testing.T) {
	_, client := newAPIServer(t)
	a := actuator.New(actuator.Config{Client: client, Targets: targets{"h100": target(deployment, "chat")}})
	errs := a.Apply(t.Context(), []planner.Change{change("a100", 2, 5), change("h100", 2, -1)})
	require.ErrorContains(t, errs[0], "the object to scale is not known")
	require.ErrorContains(t, errs[1], "Deployment team/chat cannot be scaled to -1")
}

func TestManyTargetsAreWrittenSomeAtATime(t *testing.T) {
	s, client := newAPIServer(t)
	all := make(targets)
	var changes []planner.Change
	for i := range 300 {
		name := fmt.Sprintf("chat-%d", i)
		all[name] = target(deployment, name)
		s.add(deployments+name, 2)
		changes = append(changes, change(name, 2, 3+i%5))
	}
	delete(s.objects, deployments+"chat-7")
	a := actuator.New(actuator.Config{Client: client, Targets: all, Concurrency: 8})
	for i, err := range a.Apply(t.Context(), changes) {
		if i == 7 {
			require.ErrorContains(t, err, "Deployment team/chat-7")
			continue
		}
		require.NoError(t, err)
		require.EqualValues(t, changes[i].To, s.objects[deployments+changes[i].Variant].replicas)
	}
	require.LessOrEqual(t, s.mostInFlight.Load(), int64(8))
}
