// Package config loads the configuration of `poolwright serve --config`, strictly: it is
// composed of the Config types of the packages that it configures, and every mistake is
// named with its path.
//
// The schema is in proto/poolwright/v1/config.proto. Nothing below internal/app imports
// this package.
package config
