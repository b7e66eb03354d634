//go:build linux

package controlplane

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// audit is what the API server writes down: whatever was asked of scale subresources, and by
// service accounts.
//
//go:embed audit.yaml
var audit []byte

// Scaling is a write to a scale subresource that the API server has carried out.
type Scaling struct {
	At                        time.Time
	User                      string
	Resource, Namespace, Name string
	Replicas                  int
}

// Scalings are all writes to scale subresources that were carried out, also those that changed
// nothing, by the API server's own record, in order.
func (c *ControlPlane) Scalings() ([]Scaling, error) {
	var all []Scaling
	err := c.audited(func(e *auditEvent) {
		if e.carriedOut() {
			all = append(all, e.scaling())
		}
	})
	slices.SortStableFunc(all, func(a, b Scaling) int { return a.At.Compare(b.At) })
	return all, err
}

// Request is what a service account has asked of the API server.
type Request struct {
	// User is "system:serviceaccount:NAMESPACE:NAME".
	User string
	// Verb is as rules have it. Resource is empty where a path is asked for that is none, and ends
	// in "/" and the subresource where there is one.
	Verb, Group, Resource, Namespace, Name string
	// Code is the HTTP status of the answer.
	Code int
}

// Requests are those of all service accounts so far, by the API server's own record.
func (c *ControlPlane) Requests() ([]Request, error) {
	var all []Request
	err := c.audited(func(e *auditEvent) {
		if strings.HasPrefix(e.User.Username, "system:serviceaccount:") {
			all = append(all, e.request())
		}
	})
	return all, err
}

// audited calls see with everything that is on record. What has no end yet is being written.
func (c *ControlPlane) audited(see func(*auditEvent)) error {
	file, err := os.Open(c.path("audit.log"))
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("controlplane: audit: %w", err)
		}
		var e auditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("controlplane: audit: %w", err)
		}
		see(&e)
	}
}

// auditEvent is a line of the API server's record.
type auditEvent struct {
	Verb           string    `json:"verb"`
	RequestURI     string    `json:"requestURI"`
	StageTimestamp time.Time `json:"stageTimestamp"`
	User           struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	ResponseObject struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	} `json:"responseObject"`
}

func (e *auditEvent) carriedOut() bool {
	asked, err := url.Parse(e.RequestURI)
	write := e.Verb == "update" || e.Verb == "patch"
	return err == nil && write && e.ObjectRef.Subresource == "scale" && e.ResponseStatus.Code == 200 && !asked.Query().Has("dryRun")
}

func (e *auditEvent) scaling() Scaling {
	return Scaling{
		At: e.StageTimestamp, User: e.User.Username, Replicas: e.ResponseObject.Spec.Replicas,
		Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
	}
}

func (e *auditEvent) request() Request {
	o := &e.ObjectRef
	r := Request{User: e.User.Username, Verb: e.Verb, Group: o.Group, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name, Code: e.ResponseStatus.Code}
	if o.Subresource != "" {
		r.Resource += "/" + o.Subresource
	}
	return r
}
