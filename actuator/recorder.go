package actuator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
)

// Limits of events.
const (
	// seriesAfter: what happens again within this time is counted, not told again.
	seriesAfter = 30 * time.Minute
	// seriesEvery is how often a count is written, after the second time, when it becomes one.
	seriesEvery = 5 * time.Minute
	// eventBurst events of one object are told at once, and then one every eventEvery.
	eventBurst = 10
	eventEvery = time.Minute
	// mostEvents are written in one call, and mostTold remembered.
	mostEvents = 500
	mostTold   = 20_000
	// noteLimit is the API's, in bytes.
	noteLimit = 1024
)

// recorder remembers which events were told.
type recorder struct {
	mu      sync.Mutex
	told    map[resource.Event]*told
	budgets map[types.UID]*rate.Limiter
}

// key is what makes two events the same.
func key(e *resource.Event) resource.Event {
	k := *e
	k.Object.Generation = 0
	if k.Series != "" {
		k.Message = ""
	}
	return k
}

// told is an event in the cluster.
type told struct {
	namespace, name string
	count           int32
	last, written   time.Time
}

// telling is what is to be written about an event: a new one, or the count of an old one.
type telling struct {
	event *resource.Event
	old   *told
	count int32
}

// publishEvents writes events.
func (b *batch) publishEvents(ctx context.Context, events []resource.Event) []error {
	now := time.Now()
	tellings := b.events.due(events, now)
	var errs []error
	if more := len(tellings) - mostEvents; more > 0 {
		tellings = tellings[:mostEvents]
		errs = append(errs, fmt.Errorf("actuator: %d events were not written: there are more than %d", more, mostEvents))
	}
	failures := make([]error, len(tellings))
	b.each(len(tellings), func(i int) {
		if err := b.tell(ctx, &tellings[i], now); err != nil {
			failures[i] = describeEvent(tellings[i].event, err)
		}
	})
	return append(errs, failures...)
}

func describeEvent(e *resource.Event, err error) error {
	advice := ""
	if apierrors.IsForbidden(err) {
		advice = `; the service account needs the verbs create and patch on events in the API group "events.k8s.io"`
	}
	return fmt.Errorf("actuator: %s: event %s: %w%s", &e.Object, e.Reason, err, advice)
}

// due finds which of the events are to be written now.
func (r *recorder) due(events []resource.Event, now time.Time) []telling {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	var due []telling
	for i := range events {
		e := &events[i]
		old := r.told[key(e)]
		if old == nil {
			if r.afford(e.Object.UID, now) {
				due = append(due, telling{event: e})
			}
			continue
		}
		old.count++
		old.last = now
		if old.count == 2 || now.Sub(old.written) >= seriesEvery {
			old.written = now
			due = append(due, telling{event: e, old: old, count: old.count})
		}
	}
	return due
}

// afford takes an event out of the budget of an object.
func (r *recorder) afford(object types.UID, now time.Time) bool {
	if r.budgets == nil {
		r.budgets = make(map[types.UID]*rate.Limiter)
	}
	budget := r.budgets[object]
	if budget == nil {
		budget = rate.NewLimiter(rate.Every(eventEvery), eventBurst)
		r.budgets[object] = budget
	}
	return budget.AllowN(now, 1)
}

// forget drops what has not happened for long, and budgets that are full.
func (r *recorder) forget(now time.Time) {
	for e, t := range r.told {
		if now.Sub(t.last) >= seriesAfter || len(r.told) > mostTold {
			delete(r.told, e)
		}
	}
	for object, budget := range r.budgets {
		if budget.TokensAt(now) >= eventBurst {
			delete(r.budgets, object)
		}
	}
}

// tell writes an event, or the count of one.
func (b *batch) tell(ctx context.Context, t *telling, now time.Time) error {
	if t.old != nil {
		err := b.count(ctx, t, now)
		if !apierrors.IsNotFound(err) {
			return err
		}
		// The cluster forgets events after an hour.
	}
	return b.create(ctx, t.event, now)
}

func (b *batch) count(ctx context.Context, t *telling, now time.Time) error {
	patch, err := json.Marshal(map[string]any{"series": eventsv1.EventSeries{Count: t.count, LastObservedTime: metav1.NewMicroTime(now)}})
	if err != nil {
		return err
	}
	_, err = b.config.Client.Typed.EventsV1().Events(t.old.namespace).
		Patch(ctx, t.old.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: b.config.FieldManager})
	return err
}

func (b *batch) create(ctx context.Context, e *resource.Event, now time.Time) error {
	namespace := e.Object.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{GenerateName: e.Object.Name + "-", Namespace: namespace},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: "poolwright.dev/poolwright",
		ReportingInstance:   b.config.Instance,
		Action:              "Scale",
		Reason:              e.Reason,
		Note:                note(e.Message),
		Type:                kind,
		Regarding: corev1.ObjectReference{
			APIVersion: e.Object.GroupVersion().String(), Kind: e.Object.Kind,
			Namespace: e.Object.Namespace, Name: e.Object.Name, UID: e.Object.UID,
		},
	}
	created, err := b.config.Client.Typed.EventsV1().Events(namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: b.config.FieldManager})
	if err != nil {
		return err
	}
	b.events.remember(e, created, now)
	return nil
}

func (r *recorder) remember(e *resource.Event, created *eventsv1.Event, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		r.told = make(map[resource.Event]*told)
	}
	r.told[key(e)] = &told{namespace: created.Namespace, name: created.Name, count: 1, last: now, written: now}
}

// note shortens a message to what the API takes.
func note(message string) string {
	const ellipsis = "…"
	if len(message) <= noteLimit {
		return message
	}
	end := noteLimit - len(ellipsis)
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + ellipsis
}
