package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxSeries is the most lines of a series of rates, which are kept in memory.
const maxSeries = 1_000_000

// Series reads rates over time, in requests/s, from a column of a CSV file, compressed by
// gzip or not. The file has a header and a column t with seconds in ascending order. Each
// rate holds until the time of the next line; the last one holds as long as the one before
// it, or an hour where there is one line only, and then the curve ends. Empty cells at the end of the column
// are beyond its end. Time 0 of the curve is the first line's.
//
// The error lists 20 mistakes at most, each as `file:line: what`.
func Series(f File, name string) (Curve, error) {
	opened, err := f.Open()
	if err != nil {
		return Curve{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	s := series{file: f.Name, column: name}
	s.lines, err = newLines(opened)
	if err == nil {
		err = s.read()
	}
	if err != nil {
		s.fail(err)
	}
	if err := errors.Join(append(s.errs, opened.Close())...); err != nil {
		return Curve{}, err
	}
	return s.curve()
}

type series struct {
	file, column string
	lines        *lines
	// time and rate are the indices of their columns among so many.
	time, rate, columns int
	points              []Point
	// ended says that an empty cell was met.
	ended bool
	errs  []error
}

func (s *series) fail(err error) {
	number := 0
	if s.lines != nil {
		number = s.lines.number
	}
	switch n := len(s.errs); {
	case n < maxMistakes:
		s.errs = append(s.errs, fmt.Errorf("%s:%d: %w", s.file, number, err))
	case n == maxMistakes:
		s.errs = append(s.errs, fmt.Errorf("%s: and more mistakes", s.file))
	}
}

// read reads all lines. The error ends the reading; other mistakes are noted.
func (s *series) read() error {
	if err := s.header(); err != nil {
		return err
	}
	for {
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF) && len(s.points) == 0:
			return errors.New("the column has no rates")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(s.points) == maxSeries:
			return fmt.Errorf("there are more than %d rates", maxSeries)
		}
		if err := s.line(string(line)); err != nil {
			s.fail(err)
		}
	}
}

func (s *series) header() error {
	line, err := s.lines.next()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	if err != nil {
		return err
	}
	names := cells(string(line))
	s.columns = len(names)
	s.time, s.rate = slices.Index(names, "t"), slices.Index(names, s.column)
	if s.time < 0 {
		return errors.New(`there is no column "t"`)
	}
	if s.rate < 0 || s.rate == s.time {
		return fmt.Errorf("there is no column %q of rates", s.column)
	}
	return nil
}

func cells(line string) []string {
	all := strings.Split(line, ",")
	for i := range all {
		all[i] = strings.Trim(all[i], ` "`)
	}
	return all
}

func (s *series) line(line string) error {
	all := cells(line)
	if len(all) != s.columns {
		return fmt.Errorf("expected %d columns", s.columns)
	}
	if all[s.rate] == "" {
		s.ended = true
		return nil
	}
	if s.ended {
		return errors.New("a rate follows an empty cell")
	}
	at, err := strconv.ParseFloat(all[s.time], 64)
	if err != nil || math.IsNaN(at) || math.Abs(at) > math.MaxFloat32 {
		return fmt.Errorf("time %q is no number", all[s.time])
	}
	rate, err := strconv.ParseFloat(all[s.rate], 64)
	if err != nil || !(rate >= 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("rate %q is no number ≥ 0", all[s.rate])
	}
	if n := len(s.points); n > 0 && at <= s.points[n-1].At {
		return fmt.Errorf("time %g s is not later than that of the line before", at)
	}
	s.points = append(s.points, Point{at, rate})
	return nil
}

func (s *series) curve() (Curve, error) {
	n := len(s.points)
	length := hour
	if n > 1 {
		length = s.points[n-1].At - s.points[n-2].At
	}
	start := s.points[0].At
	for i := range s.points {
		s.points[i].At -= start
	}
	c, err := Steps(s.points)
	if err != nil {
		return Curve{}, fmt.Errorf("%s: %w", s.file, err)
	}
	return c.Until(s.points[n-1].At + length), nil
}
