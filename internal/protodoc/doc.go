// Package protodoc turns the comments of .proto files into tables for people, so that a
// page of documentation can be compared with the schema that it describes.
package protodoc
