// Package config loads the configurations of `poolwright serve --config` and
// `--server-config`, strictly: they are composed of the Config types of the packages that
// they configure, and every mistake is named with its path.
//
// The schemas are in proto/poolwright/v1/config.proto and server.proto. Nothing below internal/app imports
// this package.
package config
