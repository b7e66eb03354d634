package server

import (
	"sync"
	"time"
)

// streamRetry is when to ask again where as many streams are open as may: nobody knows how long they last.
const streamRetry = 10 * time.Second

// streaming bounds the streams that are open, which may never end, of which one caller has half at most. A
// connection has a place for each of them, so that who finds none is refused and does not wait.
type streaming struct {
	most    int
	metrics *limitMetrics

	mu      sync.Mutex
	open    int
	callers map[string]int // the streams of each
}

func newStreaming(most int, metrics *limitMetrics) *streaming {
	return &streaming{most: most, metrics: metrics, callers: map[string]int{}}
}

// begin opens a stream of a caller until end is called; RESOURCE_EXHAUSTED where there are too many.
func (s *streaming) begin(caller string) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch own := s.callers[caller]; {
	case own >= s.most/2:
		s.metrics.shed(shedStreams)
		return nil, exhausted(streamRetry, "%d streams of yours are open, which is all that may", own)
	case s.open >= s.most:
		s.metrics.shed(shedStreams)
		return nil, exhausted(streamRetry, "%d streams are open, which is all that may", s.open)
	}
	s.open++
	s.callers[caller]++
	return func() { s.end(caller) }, nil
}

func (s *streaming) end(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.callers[caller]--; s.callers[caller] == 0 {
		delete(s.callers, caller)
	}
}
