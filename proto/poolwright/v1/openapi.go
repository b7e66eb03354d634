package poolwrightv1

import _ "embed"

// OpenAPI is the OpenAPI 2.0 document of the REST interface, as JSON.
//
//go:embed openapi.swagger.json
var OpenAPI []byte
