package scenario_test

import (
	"testing"

	"github.com/poolwright/poolwright/internal/scenario"
	"github.com/poolwright/poolwright/internal/short"
)

// policies are those of other autoscalers, tight and loose.
var policies = []string{
	"{hpa: {}}",
	"{hpa: {behavior: {scaleUp: {selectPolicy: Min, policies: [{type: Pods, value: 1, periodSeconds: 60}]}, scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Percent, value: 10, periodSeconds: 30}]}}}}",
	"{hpa: {behavior: {scaleUp: {selectPolicy: Disabled}, scaleDown: {selectPolicy: Disabled}}}}",
	"{kthena: {}}",
	"{kthena: {behavior: {scaleUp: {stablePolicy: {percent: 50, selectPolicy: And, stabilizationWindow: 30s}, panicPolicy: {period: 30s, percent: 100}}, scaleDown: {instances: 1, percent: 0}}}}",
	"{knative: {}}",
	"{knative: {stableWindow: 6s, panicWindowPercent: 100, maxScaleUpRate: 1.5}}",
}

// The same holds under the policy of any other autoscaler.
func TestRulesHoldUnderEveryPolicy(t *testing.T) {
	for k, policy := range policies {
		for seed := range short.Of(*seeds / uint64(len(policies))) {
			s, teller := &told{script: scenario.New()}, newTeller(seed*uint64(len(policies))+uint64(k))
			s.run(t, teller.fleet("policy: "+policy))
			for range eventful {
				s.run(t, teller.mishap()+"\ntick")
			}
		}
	}
}
