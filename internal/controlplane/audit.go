//go:build linux

package controlplane

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// Scaling is a write to a scale subresource that the API server has carried out, or may have.
type Scaling struct {
	At                        time.Time
	User                      string
	Resource, Namespace, Name string
	Replicas                  int
	// Version is that of the object after it; empty where there was nobody left to answer, as
	// the client had gone: then it may have been carried out, or not.
	Version string
}

// Scalings are all writes to scale subresources that were not refused, also those that changed
// nothing, by the API server's own record, in the order in which they ended.
func (c *ControlPlane) Scalings() ([]Scaling, error) {
	var all []Scaling
	err := c.audited(func(e *auditEvent) {
		if e.scales() {
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
	// RequestObject is a scale, a part of one or a JSON patch.
	RequestObject  json.RawMessage `json:"requestObject"`
	ResponseObject scaleObject     `json:"responseObject"`
}

// scaleObject is what is read of a scale.
type scaleObject struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		Replicas int `json:"replicas"`
	} `json:"spec"`
}

// asked is the number of replicas that a write asks for; 0 where the client was gone before that was
// read.
func (e *auditEvent) asked() (replicas int) {
	if !bytes.HasPrefix(e.RequestObject, []byte("[")) {
		var scale scaleObject
		_ = json.Unmarshal(e.RequestObject, &scale) // see above
		return scale.Spec.Replicas
	}
	var patch []struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	_ = json.Unmarshal(e.RequestObject, &patch) // the API server has refused what is no patch
	for _, o := range patch {
		if o.Op != "test" && o.Path == "/spec/replicas" {
			_ = json.Unmarshal(o.Value, &replicas) // nor has it taken what is no number
		}
	}
	return replicas
}

// answered tells whether the write was carried out for sure.
func (e *auditEvent) answered() bool { return e.ResponseStatus.Code == http.StatusOK }

func (e *auditEvent) scales() bool {
	asked, err := url.Parse(e.RequestURI)
	write := e.Verb == "update" || e.Verb == "patch"
	refused := e.ResponseStatus.Code >= http.StatusBadRequest && e.ResponseStatus.Code < http.StatusInternalServerError
	return err == nil && write && e.ObjectRef.Subresource == "scale" && !refused && !asked.Query().Has("dryRun")
}

func (e *auditEvent) scaling() Scaling {
	s := Scaling{
		At: e.StageTimestamp, User: e.User.Username, Replicas: e.asked(),
		Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
	}
	if e.answered() {
		s.Replicas, s.Version = e.ResponseObject.Spec.Replicas, e.ResponseObject.Metadata.ResourceVersion
	}
	return s
}

func (e *auditEvent) request() Request {
	o := &e.ObjectRef
	r := Request{User: e.User.Username, Verb: e.Verb, Group: o.Group, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name, Code: e.ResponseStatus.Code}
	if o.Subresource != "" {
		r.Resource += "/" + o.Subresource
	}
	return r
}
