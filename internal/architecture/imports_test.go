package architecture

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestImportsPointOneWay(t *testing.T) {
	offences, files, err := check(root)
	require.NoError(t, err)
	assert.Greater(t, files, len(layers), "the check must have read the repository")
	assert.Empty(t, offences, "see internal/architecture/layers_test.go for what may import what")
}

// check reads every Go file of the main module, for any platform and build tag, but
// not tests, and returns the offences and the number of files.
func check(tree fs.FS) (offences []string, files int, err error) {
	err = walk(tree, func(name string) error {
		folder := path.Dir(name)
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || nested(tree, folder) {
			return nil
		}
		files++
		l, known := layerOf(folder)
		if !known {
			offences = append(offences, name+": its package has no place in the architecture")
			return nil
		}
		found, err := checkFile(tree, name, l)
		offences = append(offences, found...)
		return err
	})
	return offences, files, err
}

func checkFile(tree fs.FS, name string, l layer) ([]string, error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var offences []string
	offend := func(at ast.Node, format string, arguments ...any) {
		offences = append(offences, fmt.Sprintf("%s: %s", set.Position(at.Pos()), fmt.Sprintf(format, arguments...)))
	}
	for _, spec := range file.Imports {
		if err := allowed(l, spec); err != nil {
			offend(spec, "%v", err)
		}
	}
	if l.core {
		checkCalls(file, offend)
	}
	return offences, nil
}

func allowed(l layer, spec *ast.ImportSpec) error {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return err
	}
	own, isOwn := strings.CutPrefix(imported, module)
	switch {
	case isOwn && !slices.Contains(l.may, own):
		return fmt.Errorf("%s may not import %s", l.folder, own)
	case isOwn || !l.core:
		return nil
	case spec.Name != nil && spec.Name.Name == ".":
		return errors.New("a dot import hides what the core calls")
	case l.folder == binding && (imported == "C" || imported == "unsafe"):
		return nil
	case strings.HasPrefix(imported, "gonum.org/v1/gonum/"), slices.Contains(coreImports, imported):
		return nil
	default:
		return fmt.Errorf("%s is of the core and may not import %s", l.folder, imported)
	}
}

// checkCalls finds uses of clocks, unseeded random numbers and printing.
func checkCalls(file *ast.File, offend func(at ast.Node, format string, arguments ...any)) {
	forbidden := map[string][]string{}
	names := map[string]string{}
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := strings.TrimSuffix(imported, "/v2")
		name = path.Base(name)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		forbidden[name], names[name] = coreCalls[imported], imported
	}
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(forbidden[x.Name], selector.Sel.Name) {
			offend(selector, "the core may not use %s.%s", names[x.Name], selector.Sel.Name)
		}
		return true
	})
}

func TestCheckFindsOffences(t *testing.T) {
	for name, test := range map[string]struct{ file, source, offence string }{
		"core imports outward":   {"planner/a.go", `import "github.com/poolwright/poolwright/controller"`, "planner may not import controller"},
		"core imports upward":    {"queueing/a.go", `import "github.com/poolwright/poolwright/planner"`, "queueing may not import planner"},
		"core reads files":       {"optimizer/a.go", `import "os"`, "optimizer is of the core and may not import os"},
		"core logs":              {"policy/a.go", `import "log/slog"`, "policy is of the core and may not import log/slog"},
		"core imports a library": {"forecast/a.go", `import "google.golang.org/protobuf/proto"`, "forecast is of the core and may not import google.golang.org/protobuf/proto"},
		"core calls C":           {"queueing/a.go", `import "C"`, "queueing is of the core and may not import C"},
		"core hides names":       {"queueing/a.go", `import . "time"`, "a dot import hides what the core calls"},
		"core reads the clock":   {"planner/a.go", "import \"time\"\nvar x = time.Now()", "the core may not use time.Now"},
		"core waits":             {"planner/a.go", "import clock \"time\"\nfunc f() { clock.Sleep(1) }", "the core may not use time.Sleep"},
		"core takes a function":  {"planner/a.go", "import \"time\"\nvar now = time.Now", "the core may not use time.Now"},
		"core draws unseeded":    {"calibration/a.go", "import \"math/rand/v2\"\nvar x = rand.Float64()", "the core may not use math/rand/v2.Float64"},
		"core prints":            {"optimizer/a.go", "import \"fmt\"\nfunc f() { fmt.Println() }", "the core may not use fmt.Println"},
		"edges are independent":  {"metrics/a.go", `import "github.com/poolwright/poolwright/actuator"`, "metrics may not import actuator"},
		"controller looks up":    {"controller/a.go", `import "github.com/poolwright/poolwright/server"`, "controller may not import server"},
		"config from below":      {"server/a.go", `import "github.com/poolwright/poolwright/config"`, "server may not import config"},
		"unknown package":        {"utils/a.go", "", "its package has no place in the architecture"},
		"under a build tag":      {"queueing/a_windows.go", `import "net"`, "queueing is of the core and may not import net"},
	} {
		t.Run(name, func(t *testing.T) {
			offences, files, err := check(fstest.MapFS{test.file: {Data: []byte("package p\n" + test.source)}})
			require.NoError(t, err)
			assert.Equal(t, 1, files)
			require.Len(t, offences, 1)
			assert.Contains(t, offences[0], test.file)
			assert.Contains(t, offences[0], test.offence)
		})
	}
}

func TestCheckAllows(t *testing.T) {
	for name, test := range map[string]struct{ file, source string }{
		"arrows of the diagram": {"planner/a.go", `import "github.com/poolwright/poolwright/optimizer"`},
		"durations":             {"planner/a.go", "import \"time\"\nconst x = time.Second"},
		"seeded numbers":        {"planner/a.go", "import \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 2)).Float64()"},
		"a method named so":     {"planner/a.go", "func f(s interface{ Now() int }) int { return s.Now() }"},
		"the binding to Clp":    {"optimizer/lp/a.go", `import "C"`},
		"clocks outside":        {"controller/a.go", "import \"time\"\nvar x = time.Now()"},
		"anything in tests":     {"planner/a_test.go", `import "os"`},
		"test data":             {"planner/testdata/a.go", `import "os"`},
	} {
		t.Run(name, func(t *testing.T) {
			offences, _, err := check(fstest.MapFS{test.file: {Data: []byte("package p\n" + test.source)}})
			require.NoError(t, err)
			assert.Empty(t, offences)
		})
	}
}

func TestCheckLeavesNestedModulesAlone(t *testing.T) {
	offences, files, err := check(fstest.MapFS{
		"go.mod":            {},
		"benchmarks/go.mod": {},
		"benchmarks/a/a.go": {Data: []byte("package p")},
	})
	require.NoError(t, err)
	assert.Empty(t, offences)
	assert.Zero(t, files)
}

func TestLayersHaveNoCycle(t *testing.T) {
	var visit func(folder string, trail []string)
	visit = func(folder string, trail []string) {
		require.NotContains(t, trail, folder)
		l, known := layerOf(folder)
		require.True(t, known, "%s is named by %v but has no layer", folder, trail)
		for _, next := range l.may {
			visit(next, append(slices.Clone(trail), folder))
		}
	}
	for _, l := range layers {
		visit(l.folder, nil)
	}
}
