package resource

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ConditionDomain begins the types of conditions that Poolwright adds to those which the
// API of an object defines: other controllers of the object leave them alone, and
// Poolwright knows them by it.
const ConditionDomain = "poolwright.dev/"

// Accepted is the type of the condition that tells whether an object could be read.
const Accepted = ConditionDomain + "Accepted"

// EngineUnsupported is the type of the condition that nobody knows what the engine of a
// workload calls its metrics, until the configuration names it.
const EngineUnsupported = "EngineUnsupported"

// AcceleratorAssumed is the type of the condition that nothing tells which accelerator a
// variant is on, and that one is assumed.
const AcceleratorAssumed = "AcceleratorAssumed"

// longestMessage is what Kubernetes takes of a condition's message, in bytes.
const longestMessage = 32768

// Qualified is the condition under Poolwright's domain, if its type is not qualified yet.
func (c Condition) Qualified() Condition {
	if !strings.Contains(c.Type, "/") {
		c.Type = ConditionDomain + c.Type
	}
	return c
}

// Qualified are conditions under Poolwright's domain.
func Qualified(conditions []Condition) []Condition {
	qualified := make([]Condition, len(conditions))
	for i, c := range conditions {
		qualified[i] = c.Qualified()
	}
	return qualified
}

// AddCondition returns a list with one more condition. Of a type and status there is one,
// with all its messages and the first reason; nothing of the given list is changed.
func AddCondition(to []Condition, c Condition) []Condition {
	i := slices.IndexFunc(to, func(other Condition) bool { return other.Type == c.Type && other.Status == c.Status })
	if i < 0 {
		return append(slices.Clip(to), c)
	}
	to = slices.Clone(to)
	to[i].Message += "; " + c.Message
	return to
}

// MergeConditions returns the list status.conditions of an object with the given
// conditions in it: each in the place of the one of its type, new ones at the end. Of two
// of one type the first counts. Those in Poolwright's domain that are not given are
// dropped, those of others stay. A condition changes its time of transition with its
// status only.
func MergeConditions(object *unstructured.Unstructured, conditions []Condition, now time.Time) []any {
	old, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	given := make(map[string]Condition, len(conditions))
	for _, c := range conditions {
		if _, twice := given[c.Type]; !twice {
			given[c.Type] = c
		}
	}
	merged := []any{}
	for _, entry := range old {
		before, _ := entry.(map[string]any)
		kind, _ := before["type"].(string)
		c, ok := given[kind]
		switch {
		case ok:
			merged = append(merged, c.entry(before, object.GetGeneration(), now))
			delete(given, kind)
		case kind != "" && !strings.HasPrefix(kind, ConditionDomain):
			merged = append(merged, entry)
		}
	}
	for _, c := range conditions {
		if first, ok := given[c.Type]; ok {
			merged = append(merged, first.entry(nil, object.GetGeneration(), now))
			delete(given, c.Type)
		}
	}
	return merged
}

// entry is the condition as the list has it, where before is the one of its type.
func (c *Condition) entry(before map[string]any, generation int64, now time.Time) map[string]any {
	since := now.UTC().Format(time.RFC3339)
	if last, ok := before["lastTransitionTime"].(string); ok && before["status"] == string(c.Status) {
		since = last
	}
	reason := c.Reason
	if reason == "" {
		reason = c.Type[strings.LastIndex(c.Type, "/")+1:]
	}
	entry := map[string]any{
		"type": c.Type, "status": string(c.Status), "reason": reason,
		"message":            strings.ToValidUTF8(c.Message[:min(len(c.Message), longestMessage)], ""),
		"lastTransitionTime": since,
	}
	if generation > 0 {
		entry["observedGeneration"] = generation
	}
	return entry
}

// ConditionsPatch returns what writes conditions into the status of an object as
// [MergeConditions] does; false where they are written already, with [SameMessage].
func ConditionsPatch(object *unstructured.Unstructured, conditions []Condition, now time.Time) (Patch, bool) {
	merged := MergeConditions(object, conditions, now)
	old, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	if SameConditions(old, merged) {
		return Patch{}, false
	}
	return Patch{
		Object: ReferenceTo(object), ResourceVersion: object.GetResourceVersion(), Subresource: "status",
		Merge: map[string]any{"status": map[string]any{"conditions": merged}},
	}, true
}

// SameConditions tells whether two lists of conditions differ in nothing, or in the numbers of
// their messages only.
func SameConditions(a, b []any) bool { return slices.EqualFunc(a, b, sameCondition) }

// sameCondition tells whether two entries of a list of conditions differ in nothing, or in
// the numbers of their messages only.
func sameCondition(a, b any) bool {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if len(x) != len(y) {
		return false
	}
	for name, value := range x {
		if name == "message" && SameMessage(fmt.Sprint(value), fmt.Sprint(y[name])) {
			continue
		}
		if !reflect.DeepEqual(value, y[name]) {
			return false
		}
	}
	return true
}

// SameMessage tells whether two messages say the same of different numbers. Where a message
// counts something, that alone is no reason to write to the API server in every cycle.
func SameMessage(a, b string) bool { return wording(a) == wording(b) }

// wording is a text without its numbers.
func wording(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, text)
}
