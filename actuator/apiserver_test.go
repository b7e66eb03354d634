package actuator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/poolwright/poolwright/internal/kube"
)

// apiServer is as much of an API server as the actuator talks to, with faults.
type apiServer struct {
	t testing.TB

	mu sync.Mutex
	// resources are what discovery shows, by group and version.
	resources map[string][]metav1.APIResource
	objects   map[string]*stored // by path
	requests  []string
	// fault answers a request in place of the server where it returns an error; it is asked
	// with the lock held, and may change objects.
	fault func(r *http.Request) *apierrors.StatusError
	// mutate is a webhook that changes what is written.
	mutate func(replicas int64) int64

	inFlight, mostInFlight atomic.Int64
}

// stored is an object; 0 replicas are left out of it.
type stored struct {
	uid      string
	version  int
	replicas int64
	merged   []map[string]any
}

func newAPIServer(t testing.TB) (*apiServer, *kube.Client) {
	s := &apiServer{t: t, objects: make(map[string]*stored), resources: map[string][]metav1.APIResource{
		"apps/v1": {
			{Name: "deployments", Kind: "Deployment", Namespaced: true},
			{Name: "deployments/scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Namespaced: true},
		},
		"workload.serving.volcano.sh/v1alpha1": {{Name: "modelservings", Kind: "ModelServing", Namespaced: true}},
	}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	client, err := kube.New(&rest.Config{Host: web.URL, QPS: -1})
	require.NoError(t, err)
	return s, client
}

func (s *apiServer) add(path string, replicas int64) *stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &stored{uid: "uid-of-" + path[strings.LastIndexByte(path, '/')+1:], version: 1, replicas: replicas}
	s.objects[path] = o
	return o
}

// asked are the requests for objects since the last call, without discovery.
func (s *apiServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.requests
	s.requests = nil
	return asked
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mostInFlight.Store(max(s.mostInFlight.Load(), s.inFlight.Add(1)))
	defer s.inFlight.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discovery(w, r) {
		return
	}
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	if s.fault != nil {
		if failure := s.fault(r); failure != nil {
			s.fail(w, failure)
			return
		}
	}
	path, isScale := strings.CutSuffix(r.URL.Path, "/scale")
	path, _ = strings.CutSuffix(path, "/status")
	o := s.objects[path]
	if o == nil {
		name := path[strings.LastIndexByte(path, '/')+1:]
		s.fail(w, apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, name))
		return
	}
	var body any
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			s.t.Error(err)
		}
	}
	answer := *o
	if failure := answer.change(body, s.mutate); failure != nil {
		s.fail(w, failure)
		return
	}
	if r.Method != http.MethodGet && r.URL.Query().Get("dryRun") != "All" {
		answer.version++
		*o = answer
	}
	s.answer(w, http.StatusOK, answer.object(path, isScale))
}

// change carries a write out.
func (o *stored) change(body any, mutate func(int64) int64) *apierrors.StatusError {
	switch b := body.(type) {
	case map[string]any:
		if version, _ := b["metadata"].(map[string]any)["resourceVersion"].(string); version != strconv.Itoa(o.version) {
			return conflict
		}
		o.merged = append(o.merged, b)
	case []any: // a JSON patch
		for _, one := range b {
			if !o.operate(one.(map[string]any)) {
				return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "", 0, false)
			}
		}
		if mutate != nil {
			o.replicas = mutate(o.replicas)
		}
	}
	return nil
}

var conflict = apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "it", fmt.Errorf("the object has been modified"))

// operate carries out one operation of a JSON patch. It is false where a test fails.
func (o *stored) operate(operation map[string]any) bool {
	value := operation["value"]
	switch operation["op"].(string) + " " + operation["path"].(string) {
	case "test /metadata/uid":
		return value == o.uid
	case "test /spec/replicas":
		return value == o.spec()["replicas"]
	case "add /spec/replicas":
		o.replicas = int64(value.(float64))
		return true
	}
	return false
}

func (o *stored) spec() map[string]any {
	if o.replicas == 0 {
		return map[string]any{}
	}
	return map[string]any{"replicas": float64(o.replicas)}
}

func (o *stored) object(path string, isScale bool) map[string]any {
	apiVersion, kind := "workload.serving.volcano.sh/v1alpha1", "ModelServing"
	if isScale {
		apiVersion, kind = "autoscaling/v1", "Scale"
	}
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{
			"name": path[strings.LastIndexByte(path, '/')+1:], "uid": o.uid, "resourceVersion": strconv.Itoa(o.version),
		},
		"spec": o.spec(),
	}
}

// discovery answers questions about kinds.
func (s *apiServer) discovery(w http.ResponseWriter, r *http.Request) bool {
	switch path := strings.Trim(r.URL.Path, "/"); path {
	case "api":
		s.answer(w, http.StatusOK, metav1.APIVersions{})
	case "apis":
		var groups metav1.APIGroupList
		for gv := range maps.Keys(s.resources) {
			group, version, _ := strings.Cut(gv, "/")
			v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
			groups.Groups = append(groups.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
		}
		s.answer(w, http.StatusOK, groups)
	default:
		resources, ok := s.resources[strings.TrimPrefix(path, "apis/")]
		if !ok {
			return false
		}
		s.answer(w, http.StatusOK, metav1.APIResourceList{GroupVersion: strings.TrimPrefix(path, "apis/"), APIResources: resources})
	}
	return true
}

func (s *apiServer) fail(w http.ResponseWriter, failure *apierrors.StatusError) {
	status := failure.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	s.answer(w, int(status.Code), status)
}

func (s *apiServer) answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}
