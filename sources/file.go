package sources

import (
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// ReadFleet reads a fleet from JSON or YAML, in Poolwright's own format or in that
// of an inferno system, told apart by content. The error names every mistake in the
// text with its path, line and column, and for a fleet of our own that has some also
// those in its meaning. A fleet that comes without error is not yet checked for
// meaning.
func ReadFleet(data []byte) (*poolwrightv1.Fleet, error) {
	tree, err := document.Parse(data)
	if err != nil {
		return nil, err
	}
	if isSystem(tree) {
		return importSystem(tree)
	}
	fleet := &poolwrightv1.Fleet{}
	if err := document.Decode(tree, fleet); err != nil {
		return nil, message.Complete(fleet, err)
	}
	return fleet, nil
}

// ReadSimulation reads a simulation from JSON or YAML. The errors are those of [ReadFleet];
// files of requests are opened only to find further mistakes where there are some in the
// text.
func ReadSimulation(data []byte, open message.Opener) (*poolwrightv1.Simulation, error) {
	m := &poolwrightv1.Simulation{}
	if err := document.Unmarshal(data, m); err != nil {
		return nil, message.CompleteSimulation(m, open, err)
	}
	return m, nil
}
