package app_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/internal/app"
)

func TestMessagesFitTheirColumns(t *testing.T) {
	short := strings.Repeat("x", 98)
	words := strings.TrimSpace(strings.Repeat("größe ", 40))
	for text, want := range map[string]int{
		"":                        1,
		"two\nlines":              2,
		short:                     1,
		short + " y":              2,
		words:                     3,
		short + "\n" + words:      4,
		"  two  spaces  stay  so": 1,
	} {
		got := app.Message(errors.New(text))
		lines := strings.Split(got, "\n")
		assert.Len(t, lines, want, text)
		for _, line := range lines {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 98)
		}
		assert.Equal(t, strings.Fields(text), strings.Fields(got))
	}
	assert.Equal(t, "a  b", app.Message(errors.New("a  b")))
	long := strings.Repeat("x", 200)
	assert.Equal(t, long, app.Message(errors.New(long)), "a word stays whole")
}
