package main

import (
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/records"
)

// Recorded demand has a mean rate for every slot.
const (
	slot    = 10 * time.Minute
	perDay  = int(24 * time.Hour / slot)
	perWeek = 7 * perDay
)

// series is the recorded demand of one model, in requests/s.
type series struct {
	name  string
	rates []float64
}

// readSeries reads servegen_rates_14d_10min.csv.gz. A series ends where its column is
// empty.
func readSeries(file string) ([]series, error) {
	all := []series{
		{name: "servegen_msmall_rps"},
		{name: "servegen_mmid_rps"},
		{name: "servegen_mlarge_rps"},
		{name: "servegen_deepseekr1_rps"},
	}
	err := records.Each(file, func(r *records.Record) {
		for i := range all {
			s := &all[i]
			if r.Text(s.name) != "" {
				s.rates = append(s.rates, r.Number(s.name))
			}
		}
	})
	return all, err
}
