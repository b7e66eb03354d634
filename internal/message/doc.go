// Package message translates between the messages of the API and the planner's
// types, and checks what a schema can't say.
package message
