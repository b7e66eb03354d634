package llmaz

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

const inferenceGroup = "inference.llmaz.io"

var (
	modelKind      = schema.GroupKind{Group: "llmaz.io", Kind: "OpenModel"}
	playgroundKind = schema.GroupKind{Group: inferenceGroup, Kind: "Playground"}
	serviceKind    = schema.GroupKind{Group: inferenceGroup, Kind: "Service"}
	runtimeKind    = schema.GroupKind{Group: inferenceGroup, Kind: "BackendRuntime"}
	nodeKind       = schema.GroupKind{Kind: "Node"}
)

// The types below hold just what is read. Fields that they lack are not looked at.

type openModel struct {
	Spec struct {
		InferenceConfig struct {
			Flavors []flavor `json:"flavors"`
		} `json:"inferenceConfig"`
	} `json:"spec"`
}

type flavor struct {
	Name         string              `json:"name"`
	Limits       corev1.ResourceList `json:"limits"`
	NodeSelector map[string]string   `json:"nodeSelector"`
	Params       map[string]string   `json:"params"`
}

type modelClaim struct {
	ModelName        string   `json:"modelName"`
	InferenceFlavors []string `json:"inferenceFlavors"`
}

type modelClaims struct {
	Models           []modelRef `json:"models"`
	InferenceFlavors []string   `json:"inferenceFlavors"`
}

type modelRef struct {
	Name string `json:"name"`
	// Role is main where it is empty.
	Role string `json:"role"`
}

type playground struct {
	Spec struct {
		Replicas             *int32         `json:"replicas"`
		ModelClaim           *modelClaim    `json:"modelClaim"`
		ModelClaims          *modelClaims   `json:"modelClaims"`
		BackendRuntimeConfig backendConfig  `json:"backendRuntimeConfig"`
		ElasticConfig        *elasticConfig `json:"elasticConfig"`
	} `json:"spec"`
}

type backendConfig struct {
	BackendName string    `json:"backendName"`
	ConfigName  string    `json:"configName"`
	Args        []string  `json:"args"`
	Resources   resources `json:"resources"`
}

type resources struct {
	Limits corev1.ResourceList `json:"limits"`
}

type elasticConfig struct {
	MinReplicas  *int32        `json:"minReplicas"`
	MaxReplicas  *int32        `json:"maxReplicas"`
	ScaleTrigger *scaleTrigger `json:"scaleTrigger"`
}

type service struct {
	Spec struct {
		Replicas         *int32                        `json:"replicas"`
		ModelClaims      modelClaims                   `json:"modelClaims"`
		WorkloadTemplate resource.LeaderWorkerTemplate `json:"workloadTemplate"`
	} `json:"spec"`
}

type backendRuntime struct {
	Spec struct {
		Command            []string            `json:"command"`
		Image              string              `json:"image"`
		StartupProbe       *corev1.Probe       `json:"startupProbe"`
		RecommendedConfigs []recommendedConfig `json:"recommendedConfigs"`
	} `json:"spec"`
}

type recommendedConfig struct {
	Name         string        `json:"name"`
	Args         []string      `json:"args"`
	Resources    resources     `json:"resources"`
	ScaleTrigger *scaleTrigger `json:"scaleTrigger"`
}
