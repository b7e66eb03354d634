package access

import (
	"path"
	"slices"
	"strings"
)

// Question is what somebody asks for.
type Question struct {
	// Method as in "FleetService/GetFleet", or empty for a path beside the API.
	Method string
	// Path of HTTP, and the Verb that is asked with: "get".
	Path, Verb string
	// Namespaced: what is asked for is of namespaces.
	Namespaced bool
}

// isFor tells whether a rule is for a user.
func (r *Rule) isFor(u *User) bool {
	return slices.Contains(r.Users, u.Name) || u.Known() && slices.Contains(r.Users, everything) ||
		slices.ContainsFunc(r.Groups, func(g string) bool { return slices.Contains(u.Groups, g) })
}

// allows tells whether a rule allows what is asked for, in some namespace at least. A path
// allows what lies below it. What is beside the API is of all namespaces, so that a rule for
// some does not allow it.
func (r *Rule) allows(q *Question) bool {
	if q.Method == "" && len(r.Namespaces) > 0 {
		return false
	}
	return slices.ContainsFunc(r.Methods, func(m string) bool {
		if m == everything {
			return true
		}
		if q.Method == "" {
			return strings.HasPrefix(m, "/") && below(path.Clean("/"+q.Path), path.Clean(m))
		}
		service, all := strings.CutSuffix(m, "/"+everything)
		return m == q.Method || all && strings.HasPrefix(q.Method, service+"/")
	})
}

func below(p, parent string) bool {
	return p == parent || strings.HasPrefix(p, strings.TrimSuffix(parent, "/")+"/")
}
