package server

import (
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// readers are where pages have the files read that people open: the text of a message, YAML or
// JSON, as the command line takes it, is answered as JSON. Only mistakes in the text are errors: those
// in its meaning are shown when it is asked about.
func readers(gateway *runtime.ServeMux) map[string]http.Handler {
	return map[string]http.Handler{
		"POST /read/fleet":      reader(gateway, func() proto.Message { return &poolwrightv1.Fleet{} }),
		"POST /read/simulation": reader(gateway, func() proto.Message { return &poolwrightv1.Simulation{} }),
	}
}

func reader(gateway *runtime.ServeMux, empty func() proto.Message) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := empty()
		text, err := document.ReadAll(r.Body)
		if err == nil {
			err = unmarshal(text, m)
		}
		var answer []byte
		if err == nil {
			answer, err = document.MarshalJSON(m)
		}
		if err != nil {
			runtime.DefaultHTTPErrorHandler(r.Context(), gateway, jsonMarshaler, w, r, unreadable(err))
			return
		}
		fixed(jsonMarshaler.contentType, answer).ServeHTTP(w, r)
	})
}
