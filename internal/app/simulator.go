package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/whatif"
	"github.com/poolwright/poolwright/optimizer/lp"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// simulator simulates for commands and for the service.
type simulator struct {
	engine lp.Engine
	// name is that of the engine, in ledgers.
	name string
	// open opens files of requests; nil where none may be opened.
	open message.Opener
	// ledger is a file; empty = none.
	ledger string
	// mostRequests are expected in one simulation; 0 = any number.
	mostRequests float64
	// workers run a simulation; 0 = one for each processor.
	workers int
}

// Simulate implements the Simulator of package server.
func (s *simulator) Simulate(ctx context.Context, m *poolwrightv1.Simulation, progress func(*poolwrightv1.SimulationProgress)) (result *poolwrightv1.SimulationResult, err error) {
	c := s.config()
	c.Progress = progress
	if s.ledger != "" {
		w, err := newLedger(s.ledger, s.name)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		c.Ledger = w
	}
	return whatif.Run(ctx, m, c)
}

// point simulates one point of a sweep.
func (s *simulator) point(ctx context.Context, m *poolwrightv1.Simulation, workers int) (*poolwrightv1.SimulationResult, error) {
	c := s.config()
	c.Workers = workers
	return whatif.Run(ctx, m, c)
}

func (s *simulator) config() whatif.Config {
	return whatif.Config{Engine: s.engine, Open: s.open, MostRequests: s.mostRequests, Workers: s.workers}
}

// newLedger begins a ledger that keeps all of a simulation.
func newLedger(path, engine string) (*ledger.Writer, error) {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("ledger %s: there is one already", path)
	}
	w, _, err := ledger.Open(ledger.Config{
		Path: path, Origin: origin(engine), Sync: ledger.AtCheckpoints,
		SegmentBytes: math.MaxInt64, SegmentAge: math.MaxInt64 * time.Nanosecond,
	})
	return w, err
}

// beside opens files by their names relative to the folder of a file; those that standard
// input names are relative to the folder that the program runs in.
func beside(file string) message.Opener {
	folder := "."
	if file != "-" {
		folder = filepath.Dir(file)
	}
	return func(name string) (io.ReadCloser, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		return os.Open(name) //nolint:gosec // the user's file names it
	}
}
