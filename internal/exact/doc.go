// Package exact writes plain values as JSON and reads them back bit for bit.
//
// It differs from encoding/json where that would refuse or lose something: NaN and
// infinities are the strings "NaN", "Inf" and "-Inf", an empty slice or map is not an absent
// one, and text that is not UTF-8 is an error. It is canonical: equal values have equal
// texts. Fields are in the order of their declaration, under their names in lower camel
// case. Those with the zero value are left out, and so are fields that are not exported.
//
// Plain values are booleans, numbers, strings, times, and slices, arrays, pointers, structs
// and maps by string of plain values. Times are instants: they are read back in UTC. Pointers to one
// target become pointers to two. One NaN is like another.
package exact
