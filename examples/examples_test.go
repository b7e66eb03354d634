package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/trace"
)

// TestFilesDecode reads every fleet file as strictly as the command line does.
func TestFilesDecode(t *testing.T) {
	files := fleetFiles(t)
	require.GreaterOrEqual(t, len(files), 8)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			require.NotEmpty(t, read(t, file).GetWorkloads())
		})
	}
}

// TestFilesAreListed keeps the README complete.
func TestFilesAreListed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, file := range fleetFiles(t) {
		require.Contains(t, string(readme), "`"+file+"`")
	}
}

// TestProfilesHaveASource compares the profile of every variant with the row of the
// README that its comment names.
func TestProfilesHaveASource(t *testing.T) {
	listed := listedProfiles(t)
	for _, file := range fleetFiles(t) {
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		ids := make(map[string]string)
		for _, m := range variantSource.FindAllStringSubmatch(string(text), -1) {
			ids[m[1]] = m[2]
		}
		for _, w := range read(t, file).GetWorkloads() {
			for _, v := range w.GetVariants() {
				require.Contains(t, listed, ids[v.GetName()], "%s: %s", file, v.GetName())
				want := listed[ids[v.GetName()]]
				require.True(t, proto.Equal(want, v.GetProfile()), "%s: %s: %v, README: %v", file, v.GetName(), v.GetProfile(), want)
			}
		}
	}
}

// variantSource matches the line of a variant's name and the id in its comment.
var variantSource = regexp.MustCompile(`- name: (\S+) +#.*\[([EF]\d+)\]`)

// listedProfiles returns the profiles of the README's tables by id.
func listedProfiles(t *testing.T) map[string]*poolwrightv1.Profile {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	profiles := make(map[string]*poolwrightv1.Profile)
	var header []string
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch id := cells[1]; {
		case id == "id":
			header = cells
		case profileID.MatchString(id):
			profiles[id] = listedProfile(t, header, cells)
		}
	}
	return profiles
}

var profileID = regexp.MustCompile(`^[EF]\d+$`)

// listedProfile reads one row of a table; an empty cell is 0.
func listedProfile(t *testing.T, header, cells []string) *poolwrightv1.Profile {
	t.Helper()
	p := &poolwrightv1.Profile{}
	fields := map[string]*float64{
		"α": &p.AlphaMs, "β": &p.BetaMs, "σ": &p.SigmaMs, "κ": &p.KappaMs,
		"γ": &p.GammaMs, "δ": &p.DeltaMs, "ε": &p.EpsilonMs, "offset": &p.TtftOffsetMs,
	}
	for i, column := range header {
		if field, ok := fields[column]; ok && cells[i] != "" {
			value, err := strconv.ParseFloat(cells[i], 64)
			require.NoError(t, err, "%s of %s", column, cells[1])
			*field = value
		}
	}
	return p
}

func TestMixIsTheSameInYAMLAndJSON(t *testing.T) {
	fromYAML, fromJSON := read(t, "mix.yaml"), read(t, "mix.json")
	require.True(t, proto.Equal(fromYAML, fromJSON), "mix.yaml:\n%v\nmix.json:\n%v", fromYAML, fromJSON)
}

// TestMixIsPlainProtoJSON keeps mix.json fit for clients that know no duration but
// protojson's.
func TestMixIsPlainProtoJSON(t *testing.T) {
	data, err := os.ReadFile("mix.json")
	require.NoError(t, err)
	require.NoError(t, protojson.Unmarshal(data, &poolwrightv1.Fleet{}))
}

func TestMixIsEmbedded(t *testing.T) {
	data, err := os.ReadFile("mix.yaml")
	require.NoError(t, err)
	require.Equal(t, data, Mix)
}

// simulations are the files of simulations, each with a fleet.
var simulations = []string{"day.yaml", "what-if.yaml"}

func TestDayIsEmbedded(t *testing.T) {
	data, err := os.ReadFile("day.yaml")
	require.NoError(t, err)
	require.Equal(t, data, Day)
}

// TestDayHasTheRequestsItPromises counts them, whose lengths are those that the loads
// declare.
func TestDayHasTheRequestsItPromises(t *testing.T) {
	day := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal(Day, day))
	fleet, err := message.Fleet(day.GetFleet())
	require.NoError(t, err)
	workloads, duration, err := message.Traffic(day, fleet.Workloads, message.NoFiles)
	require.NoError(t, err)
	require.Equal(t, 24*time.Hour, duration)
	total := 0
	for i, w := range fleet.Workloads {
		requests, input, output := 0, 0, 0
		all, failed := trace.Requests(workloads[i:i+1], 1)
		for r := range all {
			if r.At >= duration.Seconds() {
				break
			}
			requests++
			input += r.Input
			output += r.Output
		}
		require.NoError(t, failed())
		total += requests
		require.InEpsilon(t, float64(w.Shape.InputTokens), float64(input)/float64(requests), 0.01, w.Name)
		require.InEpsilon(t, float64(w.Shape.OutputTokens), float64(output)/float64(requests), 0.01, w.Name)
		require.InEpsilon(t, float64(w.ArrivalRate), float64(requests)/duration.Seconds(), 0.15, w.Name)
	}
	require.InDelta(t, 1.53e6, total, 0.05e6)
}

// fleetFiles returns the names of the files with fleets in this folder.
func fleetFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	var files []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".yaml" || ext == ".json" {
			files = append(files, e.Name())
		}
	}
	return files
}

// read decodes a fleet file, or a simulation's fleet.
func read(t *testing.T, file string) *poolwrightv1.Fleet {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	if slices.Contains(simulations, file) {
		simulation := &poolwrightv1.Simulation{}
		require.NoError(t, document.Unmarshal(data, simulation))
		return simulation.GetFleet()
	}
	fleet := &poolwrightv1.Fleet{}
	require.NoError(t, document.Unmarshal(data, fleet))
	return fleet
}
