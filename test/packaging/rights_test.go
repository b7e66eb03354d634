//go:build e2e && linux

package packaging

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/poolwright/poolwright/internal/controlplane"
)

// right is to do one thing with one resource.
type right struct{ group, resource, verb string }

func (r right) String() string { return fmt.Sprintf("%s %s.%s", r.verb, r.resource, r.group) }

func compareRights(a, b right) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.verb, b.verb))
}

// rightsOf are those that rules grant, each once.
func rightsOf(rules []rbacv1.PolicyRule) []right {
	var all []right
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, right{group, resource, verb})
				}
			}
		}
	}
	slices.SortFunc(all, compareRights)
	return slices.Compact(all)
}

// without are rules that grant all that others do but one right.
func without(rules []rbacv1.PolicyRule, r right) []rbacv1.PolicyRule {
	var rest []rbacv1.PolicyRule
	for _, rule := range rules {
		for _, one := range rightsOf([]rbacv1.PolicyRule{rule}) {
			if one != r {
				rest = append(rest, rbacv1.PolicyRule{
					APIGroups: []string{one.group}, Resources: []string{one.resource}, Verbs: []string{one.verb}, ResourceNames: rule.ResourceNames,
				})
			}
		}
	}
	return rest
}

// roles are those of the chart, as they are installed.
type roles struct {
	*installation
	cluster []rbacv1.ClusterRole
	local   []rbacv1.Role
}

func (c *installation) roles() *roles {
	c.t.Helper()
	mine := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=poolwright"}
	cluster, err := c.client.RbacV1().ClusterRoles().List(c.t.Context(), mine)
	require.NoError(c.t, err)
	local, err := c.client.RbacV1().Roles("poolwright").List(c.t.Context(), mine)
	require.NoError(c.t, err)
	return &roles{c, cluster.Items, local.Items}
}

func (r *roles) granted() []right {
	var rules []rbacv1.PolicyRule
	for i := range r.cluster {
		rules = append(rules, r.cluster[i].Rules...)
	}
	for i := range r.local {
		rules = append(rules, r.local[i].Rules...)
	}
	return rightsOf(rules)
}

// write writes the roles with their rules changed.
func (r *roles) write(change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) {
	r.t.Helper()
	for i := range r.cluster {
		role := r.cluster[i].DeepCopy()
		role.Rules, role.ResourceVersion = change(role.Rules), ""
		_, err := r.client.RbacV1().ClusterRoles().Update(r.t.Context(), role, metav1.UpdateOptions{})
		require.NoError(r.t, err)
	}
	for i := range r.local {
		role := r.local[i].DeepCopy()
		role.Rules, role.ResourceVersion = change(role.Rules), ""
		_, err := r.client.RbacV1().Roles(role.Namespace).Update(r.t.Context(), role, metav1.UpdateOptions{})
		require.NoError(r.t, err)
	}
}

// used are the rights that the program has made use of, and refused those that it lacked.
func (c *installation) used() (used, refused []right) {
	c.t.Helper()
	requests, err := c.Requests()
	require.NoError(c.t, err)
	for _, r := range requests {
		switch one := (right{r.Group, r.Resource, r.Verb}); {
		case r.User != "system:serviceaccount:poolwright:poolwright" || r.Resource == "":
		case r.Code == 403:
			refused = append(refused, one)
		default:
			used = append(used, one)
		}
	}
	for _, some := range []*[]right{&used, &refused} {
		slices.SortFunc(*some, compareRights)
		*some = slices.Compact(*some)
	}
	return used, refused
}

// object of the fleet that the program changes, and how it was before.
type object struct {
	group, version, resource, name string
	// spec and status are merged into it; empty = left alone.
	spec, status string
}

const (
	// tooFew replicas by one.
	tooFew = `{"spec":{"replicas":1}}`
	// untold: nobody has written a status, begun: its own controller has.
	untold = `{"status":null}`
	begun  = `{"status":{"conditions":[{"type":"Begun","status":"True","reason":"Begun","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
)

// fleet are the objects of testdata/rights that are changed by way of a right.
var fleet = []object{
	{group: "apps", version: "v1", resource: "deployments", name: "chat-deployment", spec: tooFew},
	{group: "apps", version: "v1", resource: "deployments", name: "summarize", spec: tooFew},
	{group: "apps", version: "v1", resource: "statefulsets", name: "chat-set", spec: tooFew},
	{group: "leaderworkerset.x-k8s.io", version: "v1", resource: "leaderworkersets", name: "chat-groups", spec: tooFew},
	{
		group: "gateway.networking.k8s.io", version: "v1", resource: "httproutes", name: "chat",
		spec: `{"spec":{"rules":[{"backendRefs":[{"name":"chat-deployment"},{"name":"chat-set"}]}]}}`,
	},
	{group: "llmd.ai", version: "v1alpha1", resource: "variantautoscalings", name: "summarize", status: untold},
	{group: "inference.llmaz.io", version: "v1alpha1", resource: "playgrounds", name: "code", spec: tooFew, status: begun},
	{group: "inference.llmaz.io", version: "v1alpha1", resource: "services", name: "wide", spec: tooFew, status: begun},
	{group: "inference.llmaz.io", version: "v1alpha1", resource: "backendruntimes", name: "unreadable", status: begun},
	{group: "llmaz.io", version: "v1alpha1", resource: "openmodels", name: "unreadable", status: begun},
	{group: "workload.serving.volcano.sh", version: "v1alpha1", resource: "modelservings", name: "translate-h100", spec: tooFew},
	{group: "workload.serving.volcano.sh", version: "v1alpha1", resource: "modelservings", name: "coder-h100", spec: tooFew},
	{group: "workload.serving.volcano.sh", version: "v1alpha1", resource: "modelboosters", name: "coder", status: untold},
	{group: "workload.serving.volcano.sh", version: "v1alpha1", resource: "autoscalingpolicies", name: "translate", status: untold},
	{
		group: "networking.serving.volcano.sh", version: "v1alpha1", resource: "modelroutes", name: "translate",
		spec: `{"spec":{"rules":[{"name":"default","targetModels":[{"modelServerName":"translate","weight":1}]}]}}`,
	},
}

// reset makes the fleet what it was before anybody led, scaled it or told of it.
func (c *installation) reset() {
	c.t.Helper()
	err := c.client.CoordinationV1().Leases("poolwright").Delete(c.t.Context(), "poolwright", metav1.DeleteOptions{})
	require.True(c.t, err == nil || apierrors.IsNotFound(err), err)
	client := dynamic.NewForConfigOrDie(c.Admin())
	for _, o := range fleet {
		objects := client.Resource(schema.GroupVersionResource{Group: o.group, Version: o.version, Resource: o.resource})
		of := objects.Namespace("fleet")
		if o.resource == "backendruntimes" || o.resource == "openmodels" {
			of = objects.Namespace("")
		}
		if o.spec != "" {
			_, err := of.Patch(c.t.Context(), o.name, types.MergePatchType, []byte(o.spec), metav1.PatchOptions{})
			require.NoError(c.t, err, o)
		}
		if o.status != "" {
			_, err := of.Patch(c.t.Context(), o.name, types.MergePatchType, []byte(o.status), metav1.PatchOptions{}, "status")
			require.NoError(c.t, err, o)
		}
	}
}

// without streams of what there is at first, as with API servers before Kubernetes 1.34, kinds
// are listed before they are watched.
const withoutStreams = "KUBE_FEATURE_WatchListClient=false"

// newKthena are the rights that need a newer Kthena than the others.
var newKthena = []right{
	{"workload.serving.volcano.sh", "autoscalingpolicies/status", "patch"},
	{"workload.serving.volcano.sh", "modelservings/scale", "patch"},
}

// usual are all other rights.
func usual(granted []right) []right {
	return slices.DeleteFunc(slices.Clone(granted), func(r right) bool { return slices.Contains(newKthena, r) })
}

// newFleet is an installation, with some more values, over a fleet with something to do for
// every right.
func newFleet(t *testing.T, values ...string) *installation {
	t.Helper()
	c := newCluster(t)
	require.NoError(t, c.AddNodes(t.Context(), controlplane.GPUNode("h100-0", "NVIDIA-H100-80GB-HBM3", 64)))
	c.kubectl("create", "namespace", "fleet")
	c.install(append(values, "--values=testdata/rights/values.yaml", "--set=config.metrics.url="+c.PrometheusURL)...)
	c.certify()
	c.kubectl("apply", "--server-side", "-f", "testdata/rights/fleet.yaml", "-f", "testdata/rights/kthena-v0.1.yaml")
	return c
}

// upgradeKthena brings the release whose policies have targets and whose ModelServings have a
// scale subresource.
func (c *installation) upgradeKthena() {
	c.t.Helper()
	c.kubectl("delete", "-f", "testdata/rights/kthena-v0.1.yaml")
	c.define("../../deploy/crds/kthena-v1.0")
	c.kubectl("apply", "--server-side", "-f", "testdata/rights/kthena-v1.0.yaml")
}

// Every right that the chart grants is made use of, and none that it doesn't is asked for. And
// where one is taken away, the program says so.
func TestEveryRightIsNeeded(t *testing.T) {
	t.Parallel()
	c := newFleet(t)
	roles := c.roles()
	granted := roles.granted()
	require.Greater(t, len(granted), 80)
	c.makesUseOf(usual(granted))
	roles.areMissed(usual(granted))
	c.upgradeKthena()
	c.makesUseOf(newKthena)
	roles.areMissed(newKthena)

	used, _ := c.used()
	assert.Equal(t, granted, used)
}

// Where only some namespaces are watched, rights in them are enough.
func TestRightsInNamespacesAreEnough(t *testing.T) {
	t.Parallel()
	// What has no namespace has its events in the default one. What others hold is not known.
	c := newFleet(t, "--set=config.cluster.namespaces={fleet,default}", "--set=config.fleet.unknownCapacity=UNLIMITED")
	bindings, err := c.client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=poolwright"})
	require.NoError(t, err)
	require.Len(t, bindings.Items, 2, "the inventory, and reviews of who asks")
	c.makesUseOf(usual(c.roles().granted()))
}

// makesUseOf runs the program with all rights, until it has used some of them.
func (c *installation) makesUseOf(some []right) {
	c.t.Helper()
	_, before := c.used()
	c.reset()
	p := c.start(withoutStreams)
	p.until(c.t, patience, func() error {
		c.ask(p, "/v1/fleet", c.Admin().BearerToken)
		used, _ := c.used()
		return lacking(some, used)
	})
	p.stop(c.t)
	_, after := c.used()
	assert.Equal(c.t, before, after, "nothing else is asked for")
}

// lacking names the rights that are not among others.
func lacking(some, others []right) error {
	var missing []right
	for _, r := range some {
		if !slices.Contains(others, r) {
			missing = append(missing, r)
		}
	}
	if missing != nil {
		return fmt.Errorf("missing: %v", missing)
	}
	return nil
}

// areMissed takes some rights away, one at a time, and waits until the program says that it
// lacks them.
func (r *roles) areMissed(some []right) {
	for _, one := range some {
		r.t.Run("without "+one.String(), func(t *testing.T) {
			r.write(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { return without(rules, one) })
			r.reset()
			p := r.start(withoutStreams)
			p.until(t, patience, func() error {
				_, answer := r.ask(p, "/v1/fleet", r.Admin().BearerToken)
				return lacks(answer+p.says(), one)
			})
			p.stop(t)
		})
	}
	r.write(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { return rules })
}

// lacks is nil where the program says that it lacks a right.
func lacks(says string, r right) error {
	complaint := fmt.Sprintf(`cannot %s resource %q in API group %q`, r.verb, r.resource, r.group)
	if strings.Contains(strings.ReplaceAll(says, `\`, ""), complaint) {
		return nil
	}
	return fmt.Errorf("it does not say: %s", complaint)
}
