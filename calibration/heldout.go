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
	v, err := leaveOneGroupOut(observe(samples, options), options)
	if err != nil {
		return Validation{}, fmt.Errorf("calibration: %w", err)
	}
	return v, nil
}

func leaveOneGroupOut(observations []observation, options Options) (Validation, error) {
	var v Validation
	names := groups(observations)
	if len(names) < 2 {
		return v, errors.New("leaving one group out needs at least two groups")
	}
	for _, group := range names {
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
			return Validation{}, fmt.Errorf("without group %q: %w", group, err)
		}
		predicted := residuals(held, &fitted.solution.values)
		v.Groups = append(v.Groups, GroupErrors{group, Summarize(predicted)})
		v.Residuals = append(v.Residuals, predicted...)
	}
	slices.SortStableFunc(v.Residuals, func(a, b Residual) int { return a.Sample - b.Sample })
	v.Errors = Summarize(v.Residuals)
	return v, nil
}

// groups returns the names of the groups, sorted.
func groups(observations []observation) []string {
	var names []string
	for _, o := range observations {
		names = append(names, o.group)
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}
