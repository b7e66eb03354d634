package llmaz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/policy/hpa"
)

// deployment is a Playground, or a Service that no Playground controls: what is scaled.
type deployment struct {
	object resource.Reference
	claim  claim
	// flavors are those it may run on, by preference. rank is the place of the first among
	// those of the model.
	flavors  []flavor
	rank     int
	replicas int
	bounds   bounds
	// size is the number of pods in a replica, and devices are all of theirs, apart from
	// what flavors say.
	size, devices int
	// product is the type of device that pods ask for, apart from what flavors say.
	product string
	engine  engine
	command words
	// startup is when a start is given up.
	startup time.Duration
	// trigger is the autoscaler that llmaz has made; nil if none.
	trigger    *hpa.Config
	conditions []resource.Condition
}

// bounds are those of the replicas; without a max they are not limited.
type bounds struct {
	min int32
	max *int32
}

// newDeployment has what Playgrounds and Services have in common.
func (r *reading) newDeployment(object *unstructured.Unstructured, c claim, replicas *int32) (deployment, error) {
	d := deployment{object: resource.ReferenceTo(object), claim: c, size: 1, bounds: bounds{min: 1}}
	var err error
	if d.replicas, err = resource.Replicas(replicas); err != nil {
		return d, flaw{resource.InvalidSpec, err}
	}
	d.flavors, d.rank, err = r.flavors(&c)
	if err != nil {
		return d, err
	}
	if len(d.flavors) > 1 {
		d.note(FlavorsInseparable, "OneReplicaCount", "has one number of replicas for the flavors %s, and llmaz chooses among them; for a planned mix, declare one object for each (inferenceFlavors)", d.flavorNames())
	}
	if c.draft != "" {
		d.note(SpeculativeDecoding, "DraftModel", "runs %s to draft for %s: a profile without it does not hold", c.draft, c.model)
	}
	return d, nil
}

func (d *deployment) flavorNames() string {
	var names []string
	for i := range d.flavors {
		names = append(names, d.flavors[i].Name)
	}
	return strings.Join(names, ", ")
}

// note adds a condition. The message goes on after the name of the object.
func (d *deployment) note(kind, reason, format string, args ...any) {
	message := fmt.Sprintf("%s %s %s", d.object.Kind, d.object.Name, fmt.Sprintf(format, args...))
	d.conditions = append(d.conditions, resource.Condition{Type: kind, Status: resource.True, Reason: reason, Message: message})
}

// playground reads a Playground, with the BackendRuntime and the Service that belong to it.
func (r *reading) playground(object *unstructured.Unstructured) (deployment, error) {
	var p playground
	if err := resource.Decode(object, &p); err != nil {
		return deployment{}, err
	}
	c, err := p.claim()
	if err != nil {
		return deployment{}, err
	}
	d, err := r.newDeployment(object, c, p.Spec.Replicas)
	if err != nil {
		return d, err
	}
	if len(d.flavors) > 0 {
		d.size = max(1, d.flavors[0].parameter(pipelineParallel))
	}
	if owned, ok := r.view.Get(serviceKind, object.GetNamespace(), object.GetName()); ok {
		if !metav1.IsControlledBy(owned, object) {
			return d, flawed(ServiceConflict, "Service %s exists, and is not controlled by the Playground", owned.GetName())
		}
		if size, ok, _ := unstructured.NestedInt64(owned.Object, "spec", "workloadTemplate", "size"); ok && size >= 1 {
			d.size = int(size)
		}
	}
	config := r.recommended(&d, &p.Spec.BackendRuntimeConfig)
	own := resource.Devices(p.Spec.BackendRuntimeConfig.Resources.Limits)
	d.devices = d.size * cmp.Or(own, resource.Devices(config.Resources.Limits))
	err = d.scale(p.Spec.ElasticConfig, config.ScaleTrigger)
	return d, err
}

// recommended takes over what the BackendRuntime says, and returns the one of its
// configurations that counts.
func (r *reading) recommended(d *deployment, own *backendConfig) recommendedConfig {
	name, configName := own.BackendName, own.ConfigName
	if name == "" {
		name = "vllm"
	}
	if configName == "" {
		configName = d.claim.recommended()
	}
	backend := find(r.runtimes, name)
	if backend == nil {
		d.note(resource.EngineUnsupported, "BackendRuntimeMissing", "names BackendRuntime %s, which does not exist or cannot be read", name)
		return recommendedConfig{}
	}
	if backend.Spec.StartupProbe != nil {
		d.startup = startup(backend.Spec.StartupProbe)
	}
	var config recommendedConfig
	if i := slices.IndexFunc(backend.Spec.RecommendedConfigs, func(c recommendedConfig) bool { return c.Name == configName }); i >= 0 {
		config = backend.Spec.RecommendedConfigs[i]
	}
	// The object's own arguments come last, and engines take the last of a flag.
	d.run(name, newWords(backend.Spec.Command, config.Args, own.Args))
	return config
}

// run says what runs.
func (d *deployment) run(backend string, command words) {
	d.command, d.engine = command, engineOf(backend, command)
	if d.engine.name == "" {
		d.note(resource.EngineUnsupported, "EngineUnknown", "runs an engine whose metrics are not known")
	}
}

// startup is the longest that a probe lets a container take to start.
func startup(p *corev1.Probe) time.Duration {
	// Kubernetes fills these in where they are not set.
	period, failures := cmp.Or(p.PeriodSeconds, 10), cmp.Or(p.FailureThreshold, 3)
	seconds := int64(p.InitialDelaySeconds) + int64(period)*int64(failures)
	return time.Duration(max(0, min(seconds, longestStartup))) * time.Second
}

// longestStartup is a day, in seconds: a probe that waits for longer is meant to wait forever.
const longestStartup = 86400

// scale reads bounds, and the autoscaler that llmaz makes.
func (d *deployment) scale(e *elasticConfig, recommended *scaleTrigger) error {
	if e == nil {
		// Without it llmaz makes no autoscaler either.
		return nil
	}
	if err := d.bound(e); err != nil {
		return err
	}
	trigger := e.ScaleTrigger
	if trigger == nil {
		trigger = recommended
	}
	if trigger == nil || trigger.HPA == nil {
		return nil
	}
	config, err := trigger.config(d.bounds)
	if err != nil {
		d.note(ScaleTriggerInvalid, resource.InvalidSpec, "has a scale trigger that Kubernetes would not take: %s", resource.Sentence(err, "hpa"))
		return nil
	}
	d.trigger = config
	d.note(ScaleTriggerPresent, "ScaledByHPA", "has a scale trigger, of which llmaz makes a HorizontalPodAutoscaler; its behavior is followed, and replicas are left to it unless they are taken over")
	return nil
}

func (d *deployment) bound(e *elasticConfig) error {
	var errs []error
	least := int32(1)
	if e.MinReplicas != nil {
		least = *e.MinReplicas
	}
	if least < 0 {
		errs = append(errs, fmt.Errorf("spec.elasticConfig.minReplicas: %d < 0", least))
	}
	if least == 0 {
		d.note(MinimumRaised, "NoScaleToZero", "asks for a minimum of 0, which counts as 1; the configuration of Poolwright can set 0")
	}
	d.bounds = bounds{max(1, least), e.MaxReplicas}
	if e.MaxReplicas != nil && *e.MaxReplicas < d.bounds.min {
		errs = append(errs, fmt.Errorf("spec.elasticConfig.maxReplicas: %d is less than the minimum %d", *e.MaxReplicas, d.bounds.min))
	}
	if len(errs) > 0 {
		return flaw{resource.InvalidSpec, errors.Join(errs...)}
	}
	return nil
}

// runner is the container in which llmaz has the engine run.
const runner = "model-runner"

// service reads a Service that no Playground controls.
func (r *reading) service(object *unstructured.Unstructured) (deployment, error) {
	var s service
	if err := resource.Decode(object, &s); err != nil {
		return deployment{}, err
	}
	c, err := s.Spec.ModelClaims.claim("spec.modelClaims")
	if err != nil {
		return deployment{}, err
	}
	d, err := r.newDeployment(object, c, s.Spec.Replicas)
	if err != nil {
		return d, err
	}
	t := &s.Spec.WorkloadTemplate
	if d.size, err = t.Pods(); err != nil {
		return d, flawed(resource.InvalidSpec, "spec.workloadTemplate.%w", err)
	}
	d.devices, _, d.product = t.Devices(d.size)
	pod := &t.Leader().Spec
	i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == runner })
	if i < 0 {
		return d, flawed(resource.InvalidSpec, "spec.workloadTemplate: no container %s", runner)
	}
	container := &pod.Containers[i]
	if container.StartupProbe != nil {
		d.startup = startup(container.StartupProbe)
	}
	d.run(r.runtimeOf(container.Image), newWords(container.Command, container.Args))
	return d, nil
}

// runtimeOf is the name of the BackendRuntime with that image, whatever the version; empty
// if there is none.
func (r *reading) runtimeOf(image string) string {
	for _, b := range r.runtimes {
		if b.object.Spec.Image != "" && strings.HasPrefix(image, b.object.Spec.Image+":") {
			return b.name
		}
	}
	return ""
}
