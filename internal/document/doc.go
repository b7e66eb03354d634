// Package document reads and writes messages as JSON and YAML.
//
// One strict decoder serves the command line and the REST gateway. It reads a
// text into a tree, walks the tree along the message's descriptor and reports
// every mistake at once, each with its path and its place in the text, as an
// [*Error]. After an error the message holds what could be read.
//
// What it accepts is protojson's mapping, with these differences:
//
//   - Durations may be written as Go does (50ms, 1m30s) as well as "0.05s".
//   - Numbers are written without quotes, except for 64-bit integers, which may
//     have them. They are finite.
//   - A field that is given twice is a mistake, even if one of the two is null, and
//     so is a field of a oneof beside another one.
//   - An enum value given as a number must be defined.
//   - Of the well-known types that have a mapping of their own only Duration and
//     Timestamp are known; an Any can be written, but not read.
//
// A text whose first character is { or [ is JSON and never meets the YAML parser.
// YAML is a tree too: one document, no tags, no merge keys, decimal numbers.
// Anchors and aliases work within limits ([Options]).
package document
