package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFixedWork(t *testing.T) { assert.Positive(t, FixedWork()) }
