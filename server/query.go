package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// The paths at which REST answers with streams: of decisions, and of the progress of a
// simulation with its result.
const (
	watchPath    = "/v1/decisions:watch"
	simulatePath = "/v1/simulate"
)

var streamPaths = []string{watchPath, simulatePath}

// streams tells whether a path is answered with a stream.
func streams(path string) bool { return slices.Contains(streamPaths, path) }

// parameters are the requests that stand in the query of a URL.
var parameters = map[string]proto.Message{
	"/v1/fleet":     (*poolwrightv1.GetFleetRequest)(nil),
	"/v1/decisions": (*poolwrightv1.ListDecisionsRequest)(nil),
	watchPath:       (*poolwrightv1.WatchDecisionsRequest)(nil),
}

// knownParameters refuses parameters that mean nothing, which the gateway would ignore.
func knownParameters(gateway http.Handler, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := unknownParameters(r); err != nil {
			refuse(w, r, invalid(err))
			return
		}
		gateway.ServeHTTP(w, r)
	})
}

// unknownParameters is nil where a request has none.
func unknownParameters(r *http.Request) error {
	request, ok := parameters[r.URL.Path]
	if !ok {
		return nil
	}
	fields := request.ProtoReflect().Descriptor().Fields()
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = fields.Get(i).JSONName()
	}
	var unknown message.Violations
	for name := range r.URL.Query() {
		if fields.ByJSONName(name) == nil && fields.ByTextName(name) == nil {
			text := "unknown parameter"
			if near := document.Closest(name, names); near != "" {
				text = fmt.Sprintf("unknown parameter; did you mean %s?", near)
			}
			unknown = append(unknown, message.Violation{Path: name, Message: text})
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.SortFunc(unknown, func(a, b message.Violation) int { return strings.Compare(a.Path, b.Path) })
	return unknown
}
