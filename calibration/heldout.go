package calibration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// GroupErrors are the errors on one group.
type GroupErrors struct {
	Group  string
	Errors Summary
}

// Validation is how well fits predict groups that they have not seen.
type Validation struct {
	// Groups are sorted by name.
	Groups []GroupErrors
	// Errors are over the samples of all groups.
	Errors Summary
	// Residuals are in the order of samples.
	Residuals []Residual
}

// LeaveOneGroupOut predicts each group of samples by a fit to all others.
//
// The error lists every mistake in samples and options, and is set if there are
// fewer than two groups or one of them has all metrics that count.
func LeaveOneGroupOut(samples []Sample, options Options) (Validation, error) {
	if err := validate(samples, options); err != nil {
		return Validation{}, err
	}
	if n := len(groups(samples)); n < 2 {
		return Validation{}, errors.New("calibration: leaving one group out needs at least two groups")
	}
	return leaveOneGroupOut(observe(samples, options), options)
}

func leaveOneGroupOut(observations []observation, options Options) (Validation, error) {
	var v Validation
	for _, group := range groupsOf(observations) {
		var rest, held []observation
		for _, o := range observations {
			if o.group == group {
				held = append(held, o)
			} else {
				rest = append(rest, o)
			}
		}
		fitted, _, err := fit(rest, options)
		if err != nil {
			return Validation{}, fmt.Errorf("calibration: without group %q: %w", group, err)
		}
		errors := residuals(held, &fitted.solution.values)
		v.Groups = append(v.Groups, GroupErrors{group, Summarize(errors)})
		v.Residuals = append(v.Residuals, errors...)
	}
	slices.SortStableFunc(v.Residuals, func(a, b Residual) int { return a.Sample - b.Sample })
	v.Errors = Summarize(v.Residuals)
	return v, nil
}

// groups returns the names of the groups, sorted.
func groups(samples []Sample) []string {
	var names []string
	for _, s := range samples {
		names = append(names, s.Group)
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}

func groupsOf(observations []observation) []string {
	var names []string
	for _, o := range observations {
		names = append(names, o.group)
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}
