package optimizer

// slab hands out parts of larger and larger slices, for many small ones that live equally long.
type slab[T any] struct {
	free []T
	size int
	last []T // the last of the slices, whole
}

// take returns n zero elements.
func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.size = min(max(16, 2*s.size), 4096)
		s.free = make([]T, max(n, s.size))
		s.last = s.free
	}
	part := s.free[:n:n]
	s.free = s.free[n:]
	return part
}

// reset takes all parts back, and keeps the last slice for others.
func (s *slab[T]) reset() {
	clear(s.last[:len(s.last)-len(s.free)])
	s.free = s.last
}
