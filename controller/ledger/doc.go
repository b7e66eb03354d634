// Package ledger keeps what was decided and from what, and decides it again.
//
// A ledger is a file of JSON, one object on each line, and the older files that it was
// moved to when it was full. There are four kinds of lines:
//
//	{"crc32c":"…","header":{…}}      which program wrote what follows
//	{"crc32c":"…","checkpoint":{…}}  what the loop remembers at this point
//	{"crc32c":"…","intent":{…}}      what a cycle is about to change
//	{"crc32c":"…","entry":{…}}       one cycle: snapshot, decision and what became of it
//
// A run of a program begins with a header and a checkpoint. A snapshot says of the fleet
// what changed since the entry before; the first entry after a checkpoint has all of it. Of
// a decision the entry has a summary to be read, and the SHA-256 of all of it in the
// canonical form of package exact. Where a search was ended by the clock, which no replay
// can repeat, the entry has the solver's answers too.
//
// Equal snapshot and memory give an equal decision, bit for bit, so that a ledger replays to
// equal digests: by the same version of the program, with the same engine of linear
// programs, on the same processor architecture.
//
// The checksum (CRC-32C, in hexadecimal) is that of the bytes of its line after its comma,
// without the line's end. A line that does not match it is reported with its place, and
// nothing of it is used. Since every entry moves the memory on, replay goes on at the next
// checkpoint then.
//
// Lines are only ever appended, each by one write. A write that a crash cuts short leaves a
// line without an end, which the next writer cuts off. Ledgers hold no secrets, as fleets
// and measurements have none.
//
// Processes may share a ledger, of which one at a time is to write. Whoever begins to puts a
// copy of the file in its place: what a predecessor that does not know of it still writes is
// in no file of the ledger, and [Writer.Append] tells it so. [Writer.Recall] gives the next
// process the memory of the last one, and what that had begun.
package ledger
