package llmaz

import (
	"errors"
	"fmt"

	"github.com/poolwright/poolwright/internal/resource"
)

// Roles of models that are served together. Without one, a model is the main one.
const (
	mainRole  = "main"
	draftRole = "draft"
)

// claim is what an object claims: the model that requests name, one that drafts for it in
// speculative decoding, and the flavors it may run on.
type claim struct {
	model, draft string
	// flavors are names, by preference; none = those of the model.
	flavors []string
}

func (p *playground) claim() (claim, error) {
	single, several := p.Spec.ModelClaim, p.Spec.ModelClaims
	switch {
	case single != nil && several != nil:
		return claim{}, flawed(resource.InvalidSpec, "spec: modelClaim and modelClaims, of which one counts")
	case single != nil:
		return (&modelClaims{Models: []modelRef{{Name: single.ModelName}}, InferenceFlavors: single.InferenceFlavors}).claim("spec.modelClaim")
	case several != nil:
		return several.claim("spec.modelClaims")
	}
	return claim{}, flawed(resource.InvalidSpec, "spec: neither modelClaim nor modelClaims")
}

func (c *modelClaims) claim(path string) (claim, error) {
	result := claim{flavors: c.InferenceFlavors}
	var errs []error
	for i, m := range c.Models {
		taken := &result.model
		switch m.Role {
		case "", mainRole:
		case draftRole:
			taken = &result.draft
		default:
			errs = append(errs, fmt.Errorf("%s.models[%d].role: %q is neither main nor draft", path, i, m.Role))
			continue
		}
		switch {
		case m.Name == "":
			errs = append(errs, fmt.Errorf("%s.models[%d].name: is empty", path, i))
		case *taken != "":
			errs = append(errs, fmt.Errorf("%s.models[%d].role: %s is that of %s already", path, i, roleOf(m), *taken))
		default:
			*taken = m.Name
		}
	}
	if result.model == "" && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: no main model", path))
	}
	if len(errs) > 0 {
		return claim{}, flaw{resource.InvalidSpec, errors.Join(errs...)}
	}
	return result, nil
}

func roleOf(m modelRef) string {
	if m.Role == "" {
		return mainRole
	}
	return m.Role
}

// recommended is the name of the configuration that fits the claim.
func (c *claim) recommended() string {
	if c.draft != "" {
		return "speculative-decoding"
	}
	return "default"
}
