package app

import (
	"fmt"
	"math"
	"strings"

	"github.com/poolwright/poolwright/internal/plot"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Room for a plot in a table.
const (
	plotColumns = 96
	plotLines   = 20
)

func (t *table) calibration(m *poolwrightv1.Calibration) {
	t.text(calibrationSummary(m), "  ")
	t.section()
	t.coefficients(m)
	measured := m.GetErrors().GetOverall().GetCount() > 0
	if measured || m.GetHeldOut() != nil {
		t.section()
		t.calibrationErrors(m)
	}
	if plot := residualPlot(m).Text(plotColumns, plotLines); plot != "" && measured {
		t.section()
		t.line("Relative error of the predictions")
		for line := range strings.Lines(plot) {
			t.line(strings.TrimSuffix(line, "\n"))
		}
	}
	t.section()
	t.line("Profile for a variant of a fleet file")
	for _, line := range profileLines(m) {
		t.line("  " + line)
	}
	t.section()
	for _, note := range m.GetNotes() {
		t.wrapped("Note: ", note)
	}
}

func calibrationSummary(m *poolwrightv1.Calibration) string {
	if m.GetEstimated() {
		return "ESTIMATE from facts about device and model; nothing was measured"
	}
	e := m.GetErrors().GetOverall()
	if e.GetCount() == 0 {
		return fmt.Sprintf("FIT to %d observations by as many coefficients, so nothing is known about its error", observations(m))
	}
	return fmt.Sprintf("FIT to %d observations: error %s in the median, %s at the 90th percentile, %s at most",
		e.GetCount(), share(e.GetMedian()), share(e.GetP90()), share(e.GetMax()))
}

// observations is the number of those that a fit used.
func observations(m *poolwrightv1.Calibration) int {
	n := 0
	for _, r := range m.GetResiduals() {
		if r.GetCounts() {
			n++
		}
	}
	return n
}

// share writes a relative error with two digits, or as a whole number.
func share(v float64) string {
	switch {
	case math.Abs(v) >= 0.995:
		return fmt.Sprintf("%.0f %%", 100*v)
	case math.Abs(v) < 1e-6:
		return "0 %"
	}
	return fmt.Sprintf("%.2g %%", 100*v)
}

// signed writes a relative error with its sign.
func signed(v float64) string {
	if v >= 0 {
		return "+" + share(v)
	}
	return share(v)
}

// coefficientUnit is the unit of a profile's coefficient.
func coefficientUnit(name string) string {
	switch name {
	case "betaMs":
		return "ms per running request"
	case "gammaMs":
		return "ms per prompt"
	case "deltaMs":
		return "ms per prompt token"
	case "kappaMs":
		return "ms per context token"
	case "sigmaMs":
		return "ms per √running request"
	case "epsilonMs":
		return "ms per prompt token²"
	default:
		return "ms"
	}
}

func (t *table) coefficients(m *poolwrightv1.Calibration) {
	if m.GetEstimated() {
		t.line("COEFFICIENT", "VALUE", "FROM", "TO", "UNIT")
		for _, c := range m.GetCoefficients() {
			t.line(c.GetName(), number(c.GetValueMs()), number(c.GetLowMs()), number(c.GetHighMs()), coefficientUnit(c.GetName()))
		}
		return
	}
	t.line("COEFFICIENT", "VALUE", "± STANDARD ERROR", "95 % FROM", "TO", "IDENTIFIED", "UNIT")
	for _, c := range m.GetCoefficients() {
		deviation, high, identified := "–", "∞", "no"
		if c.StandardErrorMs != nil {
			deviation = number(c.GetStandardErrorMs())
		}
		if c.HighMs != nil {
			high = number(c.GetHighMs())
		}
		if c.GetIdentified() {
			identified = "yes"
		}
		t.line(c.GetName(), number(c.GetValueMs()), deviation, number(c.GetLowMs()), high, identified, coefficientUnit(c.GetName()))
	}
	t.flushColumns()
	for _, c := range m.GetCoefficients() {
		if c.GetReason() != "" {
			t.wrapped("  ", c.GetName()+": "+c.GetReason())
		}
	}
}

func (t *table) calibrationErrors(m *poolwrightv1.Calibration) {
	t.line("ERROR OF", "OBSERVATIONS", "MEDIAN", "P90", "MAX", "MEAN")
	t.errorLines("", m.GetErrors())
	h := m.GetHeldOut()
	if h == nil {
		return
	}
	t.errorLines("held out: ", h.GetErrors())
	for _, g := range h.GetGroups() {
		t.errorLine("  "+g.GetGroup(), g.GetErrors().GetOverall())
	}
}

func (t *table) errorLines(prefix string, e *poolwrightv1.CalibrationErrors) {
	t.errorLine(prefix+"ITL", e.GetItl())
	t.errorLine(prefix+"TTFT", e.GetTtft())
	if e.GetItl().GetCount() > 0 && e.GetTtft().GetCount() > 0 {
		t.errorLine(prefix+"both", e.GetOverall())
	}
}

func (t *table) errorLine(name string, e *poolwrightv1.ErrorSummary) {
	if e.GetCount() > 0 {
		t.line(name, fmt.Sprint(e.GetCount()), share(e.GetMedian()), share(e.GetP90()), share(e.GetMax()),
			signed(e.GetMean()))
	}
}

// profileLines is the part of a fleet file that a calibration is for.
func profileLines(m *poolwrightv1.Calibration) []string {
	p := m.GetProfile()
	lines := []string{"profile:"}
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"alphaMs", p.GetAlphaMs()},
		{"betaMs", p.GetBetaMs()},
		{"gammaMs", p.GetGammaMs()},
		{"deltaMs", p.GetDeltaMs()},
		{"kappaMs", p.GetKappaMs()},
		{"sigmaMs", p.GetSigmaMs()},
		{"epsilonMs", p.GetEpsilonMs()},
		{"ttftOffsetMs", p.GetTtftOffsetMs()},
	} {
		if x.value != 0 {
			lines = append(lines, "  "+x.name+": "+number(x.value))
		}
	}
	if len(lines) == 1 {
		lines[0] = "profile: {}"
	}
	if m.KvCacheTokens != nil {
		lines = append(lines, fmt.Sprintf("kvCacheTokens: %.0f", m.GetKvCacheTokens()))
	}
	return lines
}

// flushColumns ends the alignment of the columns so far, without an empty line.
func (t *table) flushColumns() {
	if t.err == nil {
		t.err = t.Writer.Flush()
	}
}

// residualPlot shows the residuals of a calibration.
func residualPlot(m *poolwrightv1.Calibration) plot.Residuals {
	r := plot.Residuals{
		Title: "Predicted and observed latency", Unit: "ms",
		Series: []string{poolwrightv1.Sample_ITL: "ITL", poolwrightv1.Sample_TTFT: "TTFT"},
	}
	var parts []string
	for _, x := range []struct {
		name   string
		errors *poolwrightv1.ErrorSummary
	}{{"ITL", m.GetErrors().GetItl()}, {"TTFT", m.GetErrors().GetTtft()}} {
		if x.errors.GetCount() > 0 {
			parts = append(parts, fmt.Sprintf("%s error: median %s, 90th percentile %s",
				x.name, share(x.errors.GetMedian()), share(x.errors.GetP90())))
		}
	}
	r.Subtitle = strings.Join(parts, "; ")
	for _, x := range m.GetResiduals() {
		label := fmt.Sprintf("%s of sample %d", x.GetMetric(), x.GetSample())
		if x.GetGroup() != "" {
			label += " (" + x.GetGroup() + ")"
		}
		r.Points = append(r.Points, plot.Point{
			Series: int(x.GetMetric()), Observed: x.GetObservedMs(), Predicted: x.GetPredictedMs(),
			Faint: !x.GetCounts(), Label: label,
		})
	}
	return r
}
