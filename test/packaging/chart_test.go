//go:build e2e || packaging

package packaging

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/internal/handbook"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/sources/cluster"
	"github.com/poolwright/poolwright/sources/kthena"
	"github.com/poolwright/poolwright/sources/llmaz"
	"github.com/poolwright/poolwright/sources/llmd"
	"github.com/poolwright/poolwright/sources/plain"
)

const (
	chart      = "../../deploy/chart/poolwright"
	base       = "../../deploy/kubernetes"
	namespaced = "../../deploy/overlays/namespaced"
)

// run runs a tool that make built, and returns what it prints.
func run(t *testing.T, name string, arguments ...string) (string, error) {
	t.Helper()
	var out, complaints bytes.Buffer
	command := exec.CommandContext(t.Context(), name, arguments...) //nolint:gosec // built by make
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		return "", &failure{err, complaints.String()}
	}
	return out.String(), nil
}

// failure is an error with what the tool says of it.
type failure struct {
	error
	complaints string
}

func (f *failure) Error() string { return f.error.Error() + ": " + f.complaints }

// template renders the chart.
func template(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := run(t, "helm", append([]string{"template", "poolwright", chart, "--namespace", "poolwright"}, arguments...)...)
	require.NoError(t, err)
	return out
}

// kustomize renders a kustomization.
func kustomize(t *testing.T, folder string) string {
	t.Helper()
	out, err := run(t, "kustomize", "build", folder)
	require.NoError(t, err)
	return out
}

// objects are those of manifests, by kind, namespace and name.
func objects(t *testing.T, manifests string) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for document := range strings.SplitSeq("\n"+manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object.Object))
		if len(object.Object) == 0 {
			continue
		}
		key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		require.NotContains(t, all, key, "twice")
		all[key] = object
	}
	return all
}

// normalized takes out of objects what a chart and a kustomization do differently: labels that
// name the tool, the namespace, which Helm is told to make, how configurations are written, and what
// has Helm replace pods.
func normalized(t *testing.T, manifests string) map[string]*unstructured.Unstructured {
	t.Helper()
	all := objects(t, manifests)
	delete(all, "Namespace /poolwright")
	for _, object := range all {
		labels := object.GetLabels()
		delete(labels, "app.kubernetes.io/managed-by")
		delete(labels, "helm.sh/chart")
		object.SetLabels(labels)
		if object.GetKind() == "Deployment" {
			unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "annotations")
		}
		if object.GetKind() != "ConfigMap" {
			continue
		}
		data := map[string]any{}
		for name, text := range configs(t, object) {
			var content any
			require.NoError(t, yaml.Unmarshal([]byte(text), &content))
			data[name] = content
		}
		object.Object["data"] = data
	}
	return all
}

// configs are the files of a ConfigMap.
func configs(t *testing.T, object *unstructured.Unstructured) map[string]string {
	t.Helper()
	files, found, err := unstructured.NestedStringMap(object.Object, "data")
	require.NoError(t, err)
	require.True(t, found)
	return files
}

// The chart and the kustomizations make the same objects.
func TestChartIsKustomization(t *testing.T) {
	for folder, values := range map[string][]string{
		base:       nil,
		namespaced: {"--values", "testdata/values/namespaced.yaml"},
	} {
		made, wanted := normalized(t, template(t, values...)), normalized(t, kustomize(t, folder))
		assert.ElementsMatch(t, slices.Collect(maps.Keys(wanted)), slices.Collect(maps.Keys(made)), folder)
		for key, object := range wanted {
			assert.Equal(t, object, made[key], "%s: %s", folder, key)
		}
	}
}

// What a process reads only when it starts has pods replaced, and nothing else does.
func TestPodsAreReplacedForWhatCountsFromTheStart(t *testing.T) {
	checksum := func(values ...string) string {
		deployment := objects(t, template(t, values...))["Deployment poolwright/poolwright"]
		sum, found, err := unstructured.NestedString(deployment.Object, "spec", "template", "metadata", "annotations", "checksum/start")
		require.NoError(t, err)
		require.True(t, found)
		return sum
	}
	usual := checksum()
	assert.Equal(t, usual, checksum("--set=config.fleet.workloadDefaults.mode=APPLY", "--set=server.limits.rate=100"))
	for _, value := range []string{"config.cluster.namespaces={a}", "server.tracing.endpoint=otel:4317", "server.tls=null"} {
		assert.NotEqual(t, usual, checksum("--set="+value), value)
	}
}

// Alerts lead to their pages wherever these are.
func TestRunbooksHaveABase(t *testing.T) {
	rules := template(t, "--set=prometheusRule.enabled=true", "--set=prometheusRule.runbookBase=https://example.org/poolwright/")
	assert.Contains(t, rules, "runbook_url: https://example.org/poolwright/docs/alerts.md#poolwrightabsent")
	assert.NotContains(t, rules, "runbook_url: docs/")
}

// valueSets are choices of values, each in a file.
func valueSets(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/values/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 4)
	return files
}

// Helm finds nothing wrong with the chart, and the program can read what it is told by it.
func TestChartIsWellFormed(t *testing.T) {
	_, err := run(t, "helm", "lint", "--strict", chart)
	require.NoError(t, err)
	for _, values := range valueSets(t) {
		_, err := run(t, "helm", "lint", "--strict", chart, "--values", values)
		require.NoError(t, err, values)
		isRead(t, template(t, "--values", values))
	}
}

// isRead reads the configurations that the program is given.
func isRead(t *testing.T, manifests string) {
	t.Helper()
	files := configs(t, objects(t, manifests)["ConfigMap poolwright/poolwright"])
	_, err := config.Read([]byte(files["poolwright.yaml"]))
	require.NoError(t, err)
	_, err = config.ReadServer([]byte(files["server.yaml"]))
	require.NoError(t, err, files["server.yaml"])
}

// The values that the page about installation shows are values.
func TestDocumentedValues(t *testing.T) {
	page, err := os.ReadFile("../../docs/install.md")
	require.NoError(t, err)
	shown := 0
	for _, block := range handbook.Blocks(string(page)) {
		if block.Language != "yaml" {
			continue
		}
		shown++
		file := filepath.Join(t.TempDir(), "values.yaml")
		require.NoError(t, os.WriteFile(file, []byte(block.Text), 0o600))
		isRead(t, template(t, "--values", file))
	}
	assert.Equal(t, 2, shown)
}

// Who may review tokens and rights is asked for it by the configuration, or by one that nobody
// knows here.
func TestChartGrantsReviewsWhereTheyAreNeeded(t *testing.T) {
	const role = "ClusterRole /poolwright-access"
	assert.Contains(t, objects(t, template(t)), role)
	insecure := []string{"--values", "testdata/values/insecure.yaml"}
	assert.NotContains(t, objects(t, template(t, insecure...)), role)
	assert.Contains(t, objects(t, template(t, append(insecure, "--set", "existingConfigMap=mine")...)), role)
}

// Values that are none of the chart's are refused, and so is a Certificate without issuer.
func TestChartRefusesMistakes(t *testing.T) {
	for mistake, complaint := range map[string]string{
		"replicsa=3":                      "replicsa",
		"replicas=two":                    "replicas",
		"server.tsl=null":                 "tsl",
		"config.cluster.sources={VLLM}":   "sources",
		"tls.secretName=":                 "secretName",
		"tls.certManager.enabled=true":    "the issuer is needed",
		"image.repository=":               "repository",
		"serviceMonitor.interval=often":   "interval",
		"resources.limits=null":           "limits",
		"networkPolicy.from={everybody}":  "from",
		"config.clusters.namespaces={a}":  "clusters",
		"rbac.scale=yes please":           "scale",
		"extraArgs[0].name=--engine=simd": "extraArgs",
	} {
		_, err := run(t, "helm", "template", "poolwright", chart, "--set", mistake)
		require.ErrorContains(t, err, complaint, mistake)
	}
	_, err := run(t, "helm", "template", "poolwright", chart, "--set", "server.tls.requireClientCertificate=true")
	require.ErrorContains(t, err, "probes have no certificate")
}

// rules are those of all roles of manifests.
func rules(t *testing.T, manifests string) []rbacv1.PolicyRule {
	t.Helper()
	var all []rbacv1.PolicyRule
	for _, object := range objects(t, manifests) {
		if kind := object.GetKind(); kind == "ClusterRole" || kind == "Role" {
			var role rbacv1.ClusterRole
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role))
			all = append(all, role.Rules...)
		}
	}
	return all
}

// readers are those of all sources.
var readers = map[string]resource.Reader{
	"LLMD": llmd.NewReader(llmd.Config{}), "KTHENA": new(kthena.Reader), "LLMAZ": llmaz.Reader{}, "PLAIN": plain.Reader{},
}

// Whatever sources are chosen, what they watch may be watched, and nothing else.
func TestChartGrantsWhatSourcesWatch(t *testing.T) {
	names := slices.Sorted(maps.Keys(readers))
	for choice := 1; choice < 1<<len(names); choice++ {
		var sources []string
		var chosen []resource.Reader
		for i, name := range names {
			if choice>>i&1 == 1 {
				sources, chosen = append(sources, name), append(chosen, readers[name])
			}
		}
		watched := map[string]bool{}
		for _, kind := range cluster.Kinds(chosen) {
			plural, _ := meta.UnsafeGuessKindToResource(kind.WithVersion("v1"))
			watched[plural.GroupResource().String()] = true
		}
		granted := map[string]bool{}
		for _, rule := range rules(t, template(t, "--set", "config.cluster.sources={"+strings.Join(sources, ",")+"}")) {
			if !slices.Contains(rule.Verbs, "watch") {
				continue
			}
			for _, name := range rule.Resources {
				granted[strings.TrimSuffix(name+"."+rule.APIGroups[0], ".")] = true
			}
		}
		assert.Equal(t, watched, granted, sources)
	}
}

// Of several installations each is reached under its own name.
func TestChartOfAnotherName(t *testing.T) {
	out, err := run(t, "helm", "template", "second", chart, "--namespace", "planners")
	require.NoError(t, err)
	c, err := config.Read([]byte(configs(t, objects(t, out)["ConfigMap planners/second-poolwright"])["poolwright.yaml"]))
	require.NoError(t, err)
	assert.Equal(t, []string{"second-poolwright.planners"}, c.Cluster.ScalerHosts)
}

// The rules that the operator of Prometheus reads are those of deploy/prometheus, and the
// dashboard is that of deploy/grafana.
func TestChartHasRulesAndDashboard(t *testing.T) {
	text, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	require.NoError(t, err)
	var rules map[string]any
	require.NoError(t, yaml.Unmarshal(text, &rules))
	require.NotEmpty(t, rules["groups"])
	made := objects(t, template(t, "--set", "prometheusRule.enabled=true,dashboard.enabled=true"))
	assert.Equal(t, rules, made["PrometheusRule poolwright/poolwright"].Object["spec"])

	text, err = os.ReadFile("../../deploy/grafana/poolwright.json")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"poolwright.json": string(text)}, configs(t, made["ConfigMap poolwright/poolwright-dashboard"]))
}
