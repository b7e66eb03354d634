package calibration_test

import (
	"fmt"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/queueing"
)

// A load test of one replica by 1 to 64 clients gives most of a profile.
func ExampleFit() {
	var samples []calibration.Sample
	for _, test := range []struct{ clients, in, out, itl, ttft float64 }{
		{1, 500, 200, 0.00709, 0.0353},
		{8, 500, 200, 0.00830, 0.0432},
		{64, 500, 200, 0.01797, 0.0650},
		{1, 2000, 400, 0.00721, 0.1004},
		{8, 2000, 400, 0.00993, 0.1108},
		{64, 2000, 400, 0.03163, 0.1390},
		{1, 100, 400, 0.00706, 0.0180},
		{64, 100, 400, 0.01100, 0.0302},
	} {
		samples = append(samples, calibration.Sample{
			Group:        fmt.Sprintf("%v/%v", test.in, test.out),
			Concurrency:  calibration.Of(test.clients),
			InputTokens:  calibration.Of(test.in),
			OutputTokens: calibration.Of(test.out),
			ITL:          calibration.Of(test.itl),
			TTFT:         calibration.Of(test.ttft),
		})
	}
	estimate, err := calibration.Fit(samples, calibration.Options{
		// Clients that start together make a burst that TTFT includes.
		Ignore:     []calibration.Use{{Kind: calibration.ClosedLoop, Metric: queueing.TTFT}},
		SquareRoot: calibration.SquareRootNever,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("an iteration takes %.1f ms and more\n", 1e3*estimate.Profile.Alpha)
	for _, c := range estimate.Coefficients {
		if !c.Identified {
			fmt.Printf("%s: %s\n", c.Term, c.Reason)
		}
	}
	// Output:
	// an iteration takes 7.0 ms and more
	// sigma: the model is dense
	// gamma: the samples allow for anything from 0 to 5.2 times the value
	// epsilon: the samples do not tell it apart from alpha, beta, gamma, delta
	// ttftOffset: no sample that counts depends on it
}

// A model that nobody measured gets a first profile from data sheets.
func ExampleFirstPrinciples() {
	guess, err := calibration.FirstPrinciples(
		calibration.Device{MemoryBytes: 80e9, MemoryBandwidth: 3.35e12, FLOPS: 989e12, InterconnectBandwidth: 450e9}, 1,
		calibration.Architecture{Parameters: 8e9, BytesPerParameter: 2, Layers: 32, HiddenSize: 4096, KVHeads: 8, HeadSize: 128})
	if err != nil {
		fmt.Println(err)
		return
	}
	alpha := guess.Coefficients[calibration.Alpha]
	fmt.Printf("alpha is about %.1f ms, between %.1f and %.1f\n", 1e3*alpha.Value, 1e3*alpha.Confidence.Low, 1e3*alpha.Confidence.High)
	fmt.Printf("room for %.0f tokens\n", guess.KVCacheTokens)
	// Output: alpha is about 6.6 ms, between 2.6 and 16.5
	// room for 427246 tokens
}
