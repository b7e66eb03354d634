// Package poolwrightv1 is version 1 of Poolwright's API: the messages and services
// generated from the .proto files beside it, their REST gateway and the OpenAPI
// document.
package poolwrightv1
