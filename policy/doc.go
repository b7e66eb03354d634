// Package policy decides how fast a plan may be followed.
//
// Policies are pure functions of their history: values in, values out, with the
// time as an argument. A history is plain data, so that it can be written down,
// read back and compared.
package policy
