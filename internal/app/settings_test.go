package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSettingsAreFollowed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "poolwright.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	const valid = "metrics: {url: http://prometheus:9090}\n"

	_, err := newSettings(file)
	require.ErrorContains(t, err, "no such file")
	write("metrics: {}")
	_, err = newSettings(file)
	var input *InputError
	require.ErrorAs(t, err, &input)
	require.EqualError(t, err, file+": metrics.url: there is none, and no scraping that does without")

	write(valid)
	s, err := newSettings(file)
	require.NoError(t, err)
	follow := func() bool {
		t.Helper()
		changed, err := s.follow()
		require.NoError(t, err)
		return changed
	}
	require.False(t, follow())
	require.True(t, s.valid())

	write(valid + "fleet: {control: {cycle: 7s}}")
	require.True(t, follow())
	require.True(t, s.valid())
	require.Equal(t, 7*time.Second, s.config.Cycle)

	// A mistake is told once, and the last valid configuration counts.
	write(valid + "fleet: {control: {cycle: -7s}}")
	changed, err := s.follow()
	require.ErrorContains(t, err, "fleet.control.cycle")
	require.False(t, changed)
	require.False(t, follow())
	require.Equal(t, 7*time.Second, s.config.Cycle)
	require.False(t, s.valid())
	write(valid + "fleet: {control: {cycle: 7s}}")
	require.True(t, follow())
	require.True(t, s.valid())

	// So is a file that is gone, until it is back.
	require.NoError(t, os.Remove(file))
	changed, err = s.follow()
	require.ErrorContains(t, err, "no such file")
	require.False(t, changed)
	require.False(t, follow())
	require.False(t, s.valid())

	// What belongs to the start of the process stays.
	write(valid + "fleet: {control: {cycle: 9s}}\ncluster: {namespaces: [a]}")
	changed, err = s.follow()
	require.ErrorIs(t, err, errRestart)
	require.True(t, changed)
	require.Equal(t, 9*time.Second, s.config.Cycle)
	require.True(t, s.valid())
	require.Empty(t, s.config.Cluster.Namespaces)
	require.False(t, follow())
}
