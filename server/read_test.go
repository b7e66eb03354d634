package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

func TestReadAnswersFilesAsMessages(t *testing.T) {
	r := start(t)
	code, answer := r.do(t, http.MethodPost, "/read/fleet", "application/yaml", string(examples.Mix))
	require.Equal(t, http.StatusOK, code, answer)
	want, got := &poolwrightv1.Fleet{}, &poolwrightv1.Fleet{}
	require.NoError(t, document.Unmarshal(examples.Mix, want))
	require.NoError(t, document.UnmarshalJSON([]byte(answer), got))
	assert.Equal(t, want.String(), got.String())

	code, answer = r.do(t, http.MethodPost, "/read/simulation", "", "name: a day\nfleet: {pools: []}")
	require.Equal(t, http.StatusOK, code, answer)
	assert.Contains(t, answer, `"name": "a day"`)
}

func TestReadSaysWhereTextIsWrong(t *testing.T) {
	r := start(t)
	code, answer := r.do(t, http.MethodPost, "/read/fleet", "", "pools:\n- capacity: many\nnope: 1")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, answer, "pools[0].capacity: expected a whole number")
	assert.Contains(t, answer, "nope: unknown field")

	code, _ = r.do(t, http.MethodPost, "/read/fleet", "", strings.Repeat(" ", server.DefaultMaxRequestBytes+1))
	assert.Equal(t, http.StatusRequestEntityTooLarge, code)
	code, _ = r.do(t, http.MethodGet, "/read/fleet", "", "")
	assert.Equal(t, http.StatusNotFound, code)
}

// Little text does not become much by aliases, whatever it is sent for.
func TestAliasesOfRequestsAreLimited(t *testing.T) {
	r := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.NewFleet(newCluster(controller.HistoryConfig{}, "a")),
		Simulation: server.NewSimulation(server.SimulationConfig{Concurrent: 1}),
	}, prometheus.NewRegistry())
	many := func(what, alias string) string {
		return "[" + strings.Repeat(what+",", 1000) + "]\nothers: [" + strings.Repeat(alias+",", 1000) + "]\n"
	}
	for path, text := range map[string]string{
		"/v1/workloads/a:pause": "reason: &a " + many("x", "*a"),
		"/v1/simulate":          "variants: &a " + many("{}", "*a"),
		"/v1/optimize":          "pools: &a " + many("{}", "*a"),
		"/read/fleet":           "pools: &a " + many("{}", "*a"),
		"/read/simulation":      "variants: &a " + many("{}", "*a"),
	} {
		code, answer := r.do(t, http.MethodPost, path, "application/yaml", text)
		assert.Equal(t, http.StatusBadRequest, code, path)
		assert.Contains(t, answer, "aliases expand to more than", path)
	}
}

// A page of another site may send neither forms nor scripts' requests by the browser of
// somebody who can reach the service; its own pages, and what is no browser, may.
func TestOtherSitesAreKeptOut(t *testing.T) {
	r := start(t)
	for header, want := range map[string]int{"cross-site": http.StatusForbidden, "same-origin": http.StatusOK, "": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/optimize", strings.NewReader("{}"))
		require.NoError(t, err)
		if header != "" {
			request.Header.Set("Sec-Fetch-Site", header)
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, want, response.StatusCode, header)
	}
}
