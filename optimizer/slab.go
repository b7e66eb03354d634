package optimizer

// slab hands out parts of larger and larger slices, for many small ones that live equally long.
type slab[T any] struct {
	free []T
	size int
}

// take returns n zero elements.
func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.size = min(max(16, 2*s.size), 4096)
		s.free = make([]T, max(n, s.size))
	}
	part := s.free[:n:n]
	s.free = s.free[n:]
	return part
}
