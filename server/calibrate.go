package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Calibrate estimates a profile from measurements, from facts about device and
// model, or from both. The fit ends with ctx.
func (o *Optimizer) Calibrate(ctx context.Context, m *poolwrightv1.Measurements) (*poolwrightv1.Calibration, error) {
	measured, err := message.Measurements(m)
	if err != nil {
		return nil, invalid(err)
	}
	measured.Options.Stop = Stop(ctx)
	if measured.Facts == nil {
		return fit(ctx, measured)
	}
	guess, err := calibration.FirstPrinciples(measured.Facts.Device, measured.Facts.Devices, measured.Facts.Model)
	if err != nil {
		return nil, invalid(message.OfCalibration(err))
	}
	guess.Notes = append(measured.Facts.Notes, guess.Notes...)
	estimated := message.Guess(&guess)
	if len(measured.Samples) == 0 {
		return estimated, nil
	}
	measured.Options.Prior = guess.Profile
	answer, err := fit(ctx, measured)
	if err != nil {
		return nil, err
	}
	answer.KvCacheTokens = estimated.KvCacheTokens
	return answer, nil
}

// fit estimates a profile from samples. What they don't allow is the caller's bad
// input.
func fit(ctx context.Context, measured message.Measured) (*poolwrightv1.Calibration, error) {
	estimate, err := calibration.Fit(measured.Samples, measured.Options)
	switch {
	case errors.Is(err, calibration.ErrStopped):
		return nil, status.FromContextError(ctx.Err()).Err()
	case err != nil:
		return nil, invalid(message.OfCalibration(err))
	}
	return message.Estimate(&estimate, measured.Options.HeldOut), nil
}
