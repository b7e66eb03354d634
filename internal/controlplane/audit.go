//go:build linux

package controlplane

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"
)

// audit is what the API server writes down: whatever was asked of scale subresources.
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
	file, err := os.Open(c.path("audit.log"))
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	var all []Scaling
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && err == nil {
		var e auditEvent
		if err = json.Unmarshal(lines.Bytes(), &e); err == nil && e.carriedOut() {
			all = append(all, e.scaling())
		}
	}
	if err = errors.Join(err, lines.Err(), file.Close()); err != nil {
		return nil, fmt.Errorf("controlplane: audit: %w", err)
	}
	slices.SortStableFunc(all, func(a, b Scaling) int { return a.At.Compare(b.At) })
	return all, nil
}

// auditEvent is a line of the API server's record.
type auditEvent struct {
	RequestURI     string    `json:"requestURI"`
	StageTimestamp time.Time `json:"stageTimestamp"`
	User           struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
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
	return err == nil && e.ResponseStatus.Code == 200 && !asked.Query().Has("dryRun")
}

func (e *auditEvent) scaling() Scaling {
	return Scaling{
		At: e.StageTimestamp, User: e.User.Username, Replicas: e.ResponseObject.Spec.Replicas,
		Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
	}
}
