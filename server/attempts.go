package server

import (
	"time"

	"github.com/poolwright/poolwright/internal/access"
)

// mostFailures is how often an address may show a token that nobody knows, and a user ask for what
// they name and have no right to, before no more of it is found out: so nobody guesses tokens, or
// has the API server asked as often as they like. What has counted lately counts all the same:
// others may call from the same address, or by the same user.
func mostFailures() Limits { return Limits{Rate: 10, Burst: 50} }

// attempts are of those who fail.
type attempts struct {
	failed  rates
	metrics *limitMetrics
}

// limit returns what holds somebody to the limit who tries again.
func (a *attempts) limit(who, what string) func() error {
	return func() error {
		wait := a.failed.due(who, mostFailures(), time.Now())
		if wait == 0 {
			return nil
		}
		a.metrics.shed(shedRate)
		return exhausted(wait, "more than %g %s per second", mostFailures().Rate, what)
	}
}

// ofUser is for questions of a user.
func (a *attempts) ofUser(u access.User) func() error {
	return a.limit(asUser(u), "questions for what there is no right to")
}

// fail counts an attempt of somebody.
func (a *attempts) fail(who string) { a.failed.wait(who, mostFailures(), time.Now()) }

// asUser is what a user is counted as, beside addresses.
func asUser(u access.User) string { return "user " + u.Name }
