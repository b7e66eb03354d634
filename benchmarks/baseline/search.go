package baseline

import (
	"errors"
	"math"
)

const (
	// tolerance is the relative distance from a target that counts as met.
	tolerance = 1e-6
	// mostEvaluations bounds a bisection.
	mostEvaluations = 100
)

var errBelow = errors.New("target is below the bounded region")

// search returns where a monotone function meets a target: least or most if it is
// met there, most if it is not reached, an error if it is missed already at least.
// A function that does not rise counts as falling.
func search(least, most, target float32, f func(float32) float32) (float32, error) {
	low, high := f(least), f(most)
	if near(low, target) {
		return least, nil
	}
	if near(high, target) {
		return most, nil
	}
	rising := low < high
	switch {
	case beyond(low, target, rising):
		return 0, errBelow
	case beyond(target, high, rising):
		return most, nil
	}
	return bisect(least, most, target, rising, f), nil
}

// bisect ends where the target is met. Where single precision can't meet it, it
// goes on to the limit of evaluations, like the family.
func bisect(least, most, target float32, rising bool, f func(float32) float32) float32 {
	var middle float32
	for range mostEvaluations {
		middle = 0.5 * (least + most)
		y := f(middle)
		if near(y, target) {
			break
		}
		if beyond(y, target, rising) {
			most = middle
		} else {
			least = middle
		}
	}
	return middle
}

// beyond tells whether x comes after y in the direction of the function.
func beyond(x, y float32, rising bool) bool {
	if rising {
		return x > y
	}
	return x < y
}

func near(y, target float32) bool {
	return y == target || math.Abs(float64((y-target)/target)) <= tolerance
}
