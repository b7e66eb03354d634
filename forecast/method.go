package forecast

import "fmt"

// Method is a way to predict.
type Method int

// Methods. All but the first are compared with each other from the third day on.
const (
	// None: nothing was observed.
	None Method = iota
	// LocalTrend: demand stays as it is or goes on as it has moved in the last minutes, see
	// [Line].
	LocalTrend
	// SeasonalChange: demand changes as it did about this time on the days before.
	SeasonalChange
	// SeasonalLevel: demand is what it was at that time on the days before.
	SeasonalLevel
	// HoltWinters: level, damped trend, and profiles of the day and of the week.
	HoltWinters

	methods = iota
)

func (m Method) String() string {
	switch m {
	case None:
		return "none"
	case LocalTrend:
		return "local trend"
	case SeasonalChange:
		return "seasonal change"
	case SeasonalLevel:
		return "seasonal level"
	case HoltWinters:
		return "Holt-Winters"
	}
	return fmt.Sprintf("Method(%d)", int(m))
}

// gain is the share by which a method other than the local trend follows what the open
// slot shows.
func (m Method) gain() float64 {
	switch m {
	case SeasonalLevel:
		return 0
	case HoltWinters:
		return levelGain
	}
	return 1
}

// from returns what a method expects some slots after the last closed one.
func (m Method) from(s *State, k *Models, ahead int) float64 {
	switch m {
	case SeasonalChange:
		return max(0, k.Rate+s.change(k.Slot, ahead))
	case SeasonalLevel:
		return s.level(k.Slot+int64(ahead), k.Rate)
	case HoltWinters:
		return max(0, k.Smoothing.predict(k.Slot, ahead))
	}
	return k.Late.at((float64(ahead) - 0.5) * s.Slot.Seconds())
}
