package poolwrightv1

import _ "embed"

// OpenAPI is the OpenAPI document of the REST interface.
//
//go:embed openapi.json
var OpenAPI []byte
