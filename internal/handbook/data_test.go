package handbook_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/poolwright/poolwright/internal/handbook"
)

// What pages show as YAML or JSON is that.
func TestDataCanBeRead(t *testing.T) {
	blocks := 0
	for page, text := range pages(t) {
		for _, b := range handbook.Blocks(text) {
			switch b.Language {
			case "yaml":
				blocks++
				require.NoError(t, readYAML(b.Text), "%s:%d", page, b.Line)
			case "json":
				blocks++
				assert.True(t, json.Valid([]byte(b.Text)), "%s:%d", page, b.Line)
			}
		}
	}
	require.Greater(t, blocks, 10)
}

func readYAML(text string) error {
	documents := yaml.NewDecoder(strings.NewReader(text))
	for {
		var value any
		switch err := documents.Decode(&value); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
