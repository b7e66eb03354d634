package message

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// The validators check the rules that stand in the schema. Each knows what is
// asked together: building a validator takes longer than using it.
var (
	fleetValidator        = newValidator(&poolwrightv1.Fleet{})
	measurementsValidator = newValidator(&poolwrightv1.Measurements{})
	configValidator       = newValidator(&poolwrightv1.Config{})
	serverValidator       = newValidator(&poolwrightv1.Server{})
	overlayValidator      = newValidator(&poolwrightv1.Overlay{}, &poolwrightv1.ReplicaOverlay{}, &poolwrightv1.WorkloadOverlay{})
	simulationValidator   = newValidator(&poolwrightv1.Simulation{})
	requestValidator      = newValidator(
		&poolwrightv1.GetFleetRequest{}, &poolwrightv1.ListDecisionsRequest{}, &poolwrightv1.WatchDecisionsRequest{},
		&poolwrightv1.PauseWorkloadRequest{}, &poolwrightv1.ResumeWorkloadRequest{},
	)
)

// Request checks a request of the FleetService. The error is of type [Violations].
func Request(m proto.Message) error {
	return validate(requestValidator, m).sorted().err()
}

// Config checks the configuration of the loop over a cluster by the rules of the schema.
// The error is of type [Violations].
func Config(m *poolwrightv1.Config) error {
	return validate(configValidator, m).sorted().err()
}

// Server checks the file that says how serve is reached by the rules of the schema. The
// error is of type [Violations].
func Server(m *poolwrightv1.Server) error {
	return validate(serverValidator, m).sorted().err()
}

// newValidator returns what builds a validator at its first use.
func newValidator(ms ...proto.Message) func() (protovalidate.Validator, error) {
	return sync.OnceValues(func() (protovalidate.Validator, error) {
		return protovalidate.New(protovalidate.WithMessages(ms...), protovalidate.WithDisableLazy())
	})
}

// validate reports every field that breaks a rule of the schema.
func validate(validator func() (protovalidate.Validator, error), m proto.Message, options ...protovalidate.ValidationOption) Violations {
	v, err := validator()
	if err != nil {
		return Violations{{Message: err.Error()}}
	}
	var broken *protovalidate.ValidationError
	switch err := v.Validate(m, options...); {
	case err == nil:
		return nil
	case !errors.As(err, &broken):
		return Violations{{Message: err.Error()}}
	}
	var out Violations
	for _, violation := range broken.Violations {
		out.add(fieldPath(m.ProtoReflect().Descriptor(), violation), "%s", violation.Proto.GetMessage())
	}
	return out
}

// fieldPath writes the path of a violation with the names that files use.
func fieldPath(d protoreflect.MessageDescriptor, violation *protovalidate.Violation) string {
	var b strings.Builder
	for _, e := range violation.Proto.GetField().GetElements() {
		name := e.GetFieldName()
		if d != nil {
			if f := d.Fields().ByNumber(protoreflect.FieldNumber(e.GetFieldNumber())); f != nil {
				name = f.JSONName()
				d = f.Message()
			}
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
		switch {
		case e.HasIndex():
			b.WriteString("[" + strconv.FormatUint(e.GetIndex(), 10) + "]")
		case e.HasStringKey():
			b.WriteString("[" + strconv.Quote(e.GetStringKey()) + "]")
		}
	}
	return b.String()
}

// naturalLess orders paths by field, and indices by number.
func naturalLess(a, b string) bool {
	for a != "" && b != "" {
		x, y := a[0], b[0]
		if digit(x) && digit(y) {
			m, restA := leadingNumber(a)
			n, restB := leadingNumber(b)
			if m != n {
				return m < n
			}
			a, b = restA, restB
			continue
		}
		if x != y {
			return x < y
		}
		a, b = a[1:], b[1:]
	}
	return a == "" && b != ""
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func leadingNumber(s string) (int, string) {
	i := 0
	for i < len(s) && digit(s[i]) {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil {
		return 0, s[i:]
	}
	return n, s[i:]
}
