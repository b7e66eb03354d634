package actuator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// cluster takes events, and names them as the API server would.
func cluster(t *testing.T) (*Actuator, func() []eventsv1.Event) {
	t.Helper()
	client := fake.NewClientset()
	made := 0
	client.PrependReactor("create", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		event := action.(clienttesting.CreateAction).GetObject().(*eventsv1.Event)
		made++
		event.Name = fmt.Sprintf("%s%d", event.GenerateName, made)
		return false, nil, nil
	})
	a := New(Config{Client: &kube.Client{Typed: client}, Instance: "poolwright-0", Concurrency: 1})
	return a, func() []eventsv1.Event {
		list, err := client.EventsV1().Events(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		return list.Items
	}
}

func scaled(to int) resource.Event {
	return resource.Event{
		Object: resource.Reference{
			GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			Namespace:        "team", Name: "chat", UID: "d", Generation: int64(to),
		},
		Reason: "Scaled", Message: fmt.Sprintf("to %d", to),
	}
}

func publish(t *testing.T, a *Actuator, events ...resource.Event) {
	t.Helper()
	require.NoError(t, a.Publish(t.Context(), nil, events))
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		warning := scaled(3)
		warning.Warning, warning.Reason = true, "NotScaled"
		publish(t, a, scaled(2), warning)
		events := list()
		require.Len(t, events, 2)
		e := events[0]
		require.Equal(t, "team", e.Namespace)
		require.Equal(t, corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "team", Name: "chat", UID: "d"}, e.Regarding)
		require.Equal(t, []string{"Normal", "Scaled", "Scale", "to 2", "poolwright.dev/poolwright", "poolwright-0"},
			[]string{e.Type, e.Reason, e.Action, e.Note, e.ReportingController, e.ReportingInstance})
		require.Nil(t, e.Series)
		require.Equal(t, "Warning", events[1].Type)
	})
}

func TestTheSameEventIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		for i := range 100 { // 25 minutes
			again := scaled(2)
			again.Object.Generation = int64(i)
			publish(t, a, again)
			if i == 1 {
				require.EqualValues(t, 2, list()[0].Series.Count, "written when it becomes a series")
			}
			time.Sleep(15 * time.Second)
		}
		events := list()
		require.Len(t, events, 1)
		require.EqualValues(t, 82, events[0].Series.Count, "written every five minutes")
		time.Sleep(time.Hour)
		publish(t, a, scaled(2))
		require.Len(t, list(), 2, "after a long time it is news")
	})
}

func TestAnEventOfASeriesIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		for i := range 20 {
			e := scaled(i)
			e.Series = "from 2 to 5"
			publish(t, a, e)
			time.Sleep(15 * time.Second)
		}
		require.Len(t, list(), 1)
	})
}

func TestEventsOfOneObjectAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		for i := range 240 { // an hour
			publish(t, a, scaled(i))
			time.Sleep(15 * time.Second)
		}
		require.InDelta(t, 10+60, len(list()), 1)
		other := scaled(1)
		other.Object.UID, other.Object.Name = "other", "other"
		publish(t, a, other)
		require.InDelta(t, 10+60+1, len(list()), 1, "each object has a budget of its own")
	})
}

func TestEventsOfOneCallAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		var events []resource.Event
		for i := range mostEvents + 7 {
			e := scaled(2)
			e.Object.UID = types.UID(fmt.Sprint(i))
			events = append(events, e)
		}
		err := a.Publish(t.Context(), nil, events)
		require.ErrorContains(t, err, "7 events were not written")
		require.Len(t, list(), mostEvents)
	})
}

func TestAnEventThatTheClusterHasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		publish(t, a, scaled(2))
		client := a.config.Client.Typed.(*fake.Clientset)
		require.NoError(t, client.EventsV1().Events("team").Delete(t.Context(), list()[0].Name, metav1.DeleteOptions{}))
		time.Sleep(seriesEvery)
		publish(t, a, scaled(2))
		require.Len(t, list(), 1)
	})
}

func TestEventsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, list := cluster(t)
		client := a.config.Client.Typed.(*fake.Clientset)
		forbidden := true
		client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			if forbidden {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", fmt.Errorf("no rule"))
			}
			return false, nil, nil
		})
		err := a.Publish(t.Context(), nil, []resource.Event{scaled(2)})
		require.ErrorContains(t, err, "Deployment team/chat: event Scaled")
		require.ErrorContains(t, err, `needs the verbs create and patch on events in the API group "events.k8s.io"`)
		forbidden = false
		publish(t, a, scaled(2))
		require.Len(t, list(), 1)
	})
}

func TestLongMessagesAreCut(t *testing.T) {
	require.Equal(t, "short", note("short"))
	long := note("x" + strings.Repeat("ü", noteLimit))
	require.LessOrEqual(t, len(long), noteLimit)
	require.True(t, strings.HasSuffix(long, "ü…"))
}

type oneTarget resource.Target

func (o oneTarget) Target(workload, _ string) (resource.Target, bool) {
	return resource.Target(o), workload == "team/chat"
}

func TestEventsOfACycle(t *testing.T) {
	object := scaled(1).Object
	workload := resource.Reference{GroupVersionKind: schema.GroupVersionKind{Group: "llmd.ai", Kind: "VariantAutoscaling"}, Namespace: "team", Name: "chat"}
	changes := []planner.Change{
		{Workload: "team/chat", Variant: "h100", From: 2, To: 5, Reason: "more arrives"},
		{Workload: "team/gone", Variant: "h100", From: 2, To: 5},
	}
	dropped := []controller.Drop{{Change: changes[0], Reason: "it has 3 replicas now", Found: 3}}
	for name, test := range map[string]struct {
		mode    resource.Mode
		dropped []controller.Drop
		event   resource.Event
	}{
		"scaled":      {resource.Apply, nil, resource.Event{Reason: "Scaled", Message: "Deployment team/chat scaled from 2 to 5: more arrives"}},
		"recommended": {resource.Recommend, nil, resource.Event{Reason: "Recommended", Series: "Deployment team/chat 2 5", Message: "Deployment team/chat should be scaled from 2 to 5: more arrives"}},
		"dry run":     {resource.DryRun, nil, resource.Event{Reason: "DryRun", Series: "Deployment team/chat 2 5", Message: "Deployment team/chat would be scaled from 2 to 5: more arrives"}},
		"dropped": {resource.Apply, dropped, resource.Event{
			Reason: "NotScaled", Warning: true, Message: "Deployment team/chat stays at 3 replicas instead of 5: it has 3 replicas now",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := New(Config{Targets: oneTarget{Object: object, Workload: workload, Mode: test.mode}})
			entry := controller.Entry{Dropped: test.dropped}
			entry.Decision.Changes = changes
			test.event.Object = workload
			require.Equal(t, []resource.Event{test.event}, a.Events(&entry))
		})
	}
}
