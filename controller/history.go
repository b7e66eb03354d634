package controller

import (
	"context"
	"sort"
	"sync"
)

// HistoryConfig bounds a [History]. Fields that are 0 have their defaults.
type HistoryConfig struct {
	// Entries is the most that are remembered; default 1,000.
	Entries int
	// Bytes is the most memory that they take, estimated; default 64 MiB. The newest
	// entry is remembered whatever it takes.
	Bytes int
}

const (
	defaultHistoryEntries = 1000
	defaultHistoryBytes   = 64 << 20
)

// History remembers the last entries of the loop for any number of readers. Adding never
// waits for them: a reader that falls behind finds that entries are gone. Where all do
// not fit, old entries are cut down to [Entry.Brief] before the oldest are forgotten.
type History struct {
	config HistoryConfig

	mu      sync.Mutex
	records []record // by ascending sequence
	bytes   int      // of all records
	brief   int      // so many of the oldest are cut down
	added   chan struct{}
}

// record is an entry with what it takes of memory.
type record struct {
	entry Entry
	bytes int
}

// NewHistory returns a history that remembers nothing yet.
func NewHistory(c HistoryConfig) *History {
	if c.Entries == 0 {
		c.Entries = defaultHistoryEntries
	}
	if c.Bytes == 0 {
		c.Bytes = defaultHistoryBytes
	}
	return &History{config: c, added: make(chan struct{})}
}

// Add remembers an entry, whose sequence number follows the last one's. Nothing that it
// refers to may be changed afterwards.
func (h *History) Add(e Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := record{e, e.bytes()}
	h.records = append(h.records, r)
	h.bytes += r.bytes
	for len(h.records) > h.config.Entries {
		h.forget()
	}
	for h.bytes > h.config.Bytes && len(h.records) > 1 {
		if h.brief < len(h.records)-1 {
			h.cut()
		} else {
			h.forget()
		}
	}
	close(h.added)
	h.added = make(chan struct{})
}

// forget drops the oldest record.
func (h *History) forget() {
	h.bytes -= h.records[0].bytes
	h.records[0] = record{} // the array behind the slice lives on
	h.records = h.records[1:]
	h.brief = max(0, h.brief-1)
}

// cut cuts the oldest whole record down.
func (h *History) cut() {
	r := &h.records[h.brief]
	h.bytes -= r.bytes
	r.entry = r.entry.Brief()
	r.bytes = r.entry.bytes()
	h.bytes += r.bytes
	h.brief++
}

// Remembered is an entry of a history.
type Remembered struct {
	Entry
	// Whole is false where the entry was cut down by [Entry.Brief].
	Whole bool
}

// Newest returns the last entry that was added; false if there is none.
func (h *History) Newest() (Remembered, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(len(h.records) - 1)
}

// Oldest returns the first entry that is remembered; false if there is none.
func (h *History) Oldest() (Remembered, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(0)
}

// After returns the first entry remembered beyond a sequence number; false if there
// is none.
func (h *History) After(sequence uint64) (Remembered, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(sort.Search(len(h.records), func(i int) bool { return h.records[i].entry.Sequence > sequence }))
}

// Before returns the last entry remembered below a sequence number; false if there is
// none.
func (h *History) Before(sequence uint64) (Remembered, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(sort.Search(len(h.records), func(i int) bool { return h.records[i].entry.Sequence >= sequence }) - 1)
}

func (h *History) at(i int) (Remembered, bool) {
	if i < 0 || i >= len(h.records) {
		return Remembered{}, false
	}
	return Remembered{h.records[i].entry, i >= h.brief}, true
}

// Wait returns when there is an entry beyond a sequence number, or with the error of ctx
// when that ends first.
func (h *History) Wait(ctx context.Context, sequence uint64) error {
	for {
		h.mu.Lock()
		newest, ok := h.at(len(h.records) - 1)
		added := h.added
		h.mu.Unlock()
		if ok && newest.Sequence > sequence {
			return nil
		}
		select {
		case <-added:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
