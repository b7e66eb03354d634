// Package overlay completes what the resources of a cluster declare of a fleet by what the
// configuration says of it and what annotations on objects say.
//
// An annotation takes precedence over the configuration, that over the resource's own
// fields, and those over the configuration's defaults. What is still unknown then is said
// in a condition, and never guessed: replicas whose type of device or performance is not
// known are not scaled.
package overlay
