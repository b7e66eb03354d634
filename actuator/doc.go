// Package actuator changes the world, and it alone: it writes scale subresources, the
// status of objects, events and weights of routes.
package actuator
