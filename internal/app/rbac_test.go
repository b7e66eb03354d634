package app

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/config"
	"github.com/poolwright/poolwright/sources/cluster"
)

// role reads one of the ClusterRoles of deploy/kubernetes/rbac.yaml.
func role(t *testing.T, name string) rbacv1.ClusterRole {
	t.Helper()
	text, err := os.ReadFile("../../deploy/kubernetes/rbac.yaml")
	require.NoError(t, err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text))
	for {
		var r rbacv1.ClusterRole
		err := decoder.Decode(&r)
		require.NotErrorIs(t, err, io.EOF, "there is no ClusterRole %s", name)
		require.NoError(t, err)
		if r.Kind == "ClusterRole" && r.Name == name {
			return r
		}
	}
}

// The roles to watch grant what all sources watch, no less and no more.
func TestRoleToWatch(t *testing.T) {
	c, err := config.Read([]byte("metrics: {url: http://prometheus:9090}"))
	require.NoError(t, err)
	var watched, granted []string
	for _, kind := range cluster.Kinds(readers(&c.Cluster)) {
		plural, _ := meta.UnsafeGuessKindToResource(kind.WithVersion("v1"))
		watched = append(watched, plural.GroupResource().String())
	}
	for _, rule := range slices.Concat(role(t, "poolwright-inventory").Rules, role(t, "poolwright-watch").Rules) {
		if slices.Equal(rule.Verbs, []string{"patch"}) {
			continue // a status
		}
		require.Equal(t, []string{"list", "watch"}, rule.Verbs)
		for _, resource := range rule.Resources {
			granted = append(granted, strings.TrimSuffix(resource+"."+rule.APIGroups[0], "."))
		}
	}
	slices.Sort(watched)
	slices.Sort(granted)
	require.Equal(t, watched, granted)
}

// Nothing is granted by wildcard, and nothing is deleted.
func TestRolesAreNarrow(t *testing.T) {
	for _, name := range []string{"poolwright-inventory", "poolwright-watch", "poolwright-scale", "poolwright-report", "poolwright-access"} {
		for _, rule := range role(t, name).Rules {
			for _, words := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				require.NotContains(t, words, "*")
			}
			require.NotContains(t, rule.Verbs, "delete")
			require.Len(t, rule.APIGroups, 1)
		}
	}
}
