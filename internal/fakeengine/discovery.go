package fakeengine

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Targets is the URL of the list of all targets, as Prometheus reads it (http_sd).
func (f *Fleet) Targets() string { return f.url + "/targets" }

// Gateway puts a gateway before the models of a namespace, which counts their requests
// from now on.
func (f *Fleet) Gateway(namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gateways[namespace] = true
}

func (f *Fleet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /targets", f.targets)
	mux.HandleFunc("GET /gateway/{namespace}", f.gateway)
	return mux
}

// target is an element of a target list.
type target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// targets lists pods as Prometheus's discovery of Kubernetes does: from when they have an
// address, ready or not, until they are gone.
func (f *Fleet) targets(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	all := []target{}
	for _, p := range f.pods {
		if !p.gone {
			all = append(all, target{[]string{p.address}, map[string]string{
				"namespace": p.namespace, "pod": p.name,
			}})
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(f.gateways)) {
		all = append(all, target{[]string{strings.TrimPrefix(f.url, "http://")}, map[string]string{
			"namespace": namespace, "pod": "gateway", "__metrics_path__": "/gateway/" + namespace,
		}})
	}
	f.mu.Unlock()
	text, err := json.Marshal(all)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // Prometheus asks again
}

// gateway reports what a namespace's gateway has counted: a request is one that was
// handed on, an error one that no pod could take.
func (f *Fleet) gateway(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for name, m := range f.models {
		if name.Namespace != r.PathValue("namespace") {
			continue
		}
		_, _ = fmt.Fprintf(w, "inference_objective_request_total{model_name=%q} %d\n", name.Model, m.arrived)
		_, _ = fmt.Fprintf(w, "inference_objective_request_error_total{model_name=%q,error_code=\"ServiceUnavailable\"} %d\n", name.Model, m.lost)
	}
}
