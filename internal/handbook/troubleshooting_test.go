package handbook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// camel is how conditions and reasons are written.
var camel = regexp.MustCompile(`^[A-Z][a-z]+([A-Z]+[a-z]*)*$|^SLO[A-Z][a-z]+$`)

// otherWords look like conditions and are none: words of Kubernetes, and of llmaz.
var otherWords = []string{"ToBeDeletedByClusterAutoscaler", "Pending", "Succeeded", "True", "False", "Unknown", "Warning", "Free"}

// Every condition and every reason that the code tells is on the page about what to do.
func TestEveryConditionIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	require.NoError(t, err)
	var words []string
	for _, folder := range []string{"actuator", "internal/resource", "planner", "sources"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				words = append(words, told(file)...)
			}
			return err
		}))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	require.Greater(t, len(words), 60)
	for _, word := range words {
		if !slices.Contains(otherWords, word) {
			assert.Contains(t, string(page), "`"+word+"`")
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]\\w+)`").FindAllStringSubmatch(string(page), -1) {
		if _, tables, _ := strings.Cut(string(page), "\n## Conditions\n"); strings.Contains(tables, m[0]) {
			assert.Contains(t, words, m[1], "nothing tells it")
		}
	}
}

// told are the words of a file that may be conditions or reasons: constants and what is
// given as a condition, a type, a reason.
func told(file *ast.File) []string {
	var words []string
	add := func(e ast.Expr) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if word, err := strconv.Unquote(literal.Value); err == nil && camel.MatchString(word) {
				words = append(words, word)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok && n.Tok == token.CONST {
					for _, v := range value.Values {
						add(v)
					}
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Type" || key.Name == "Reason") {
				add(n.Value)
			}
		case *ast.AssignStmt:
			if name, ok := n.Lhs[0].(*ast.Ident); ok && name.Name == "reason" {
				add(n.Rhs[0])
			}
		case *ast.CallExpr:
			if called := callee(n); called == "addCondition" || called == "note" {
				for _, argument := range n.Args {
					add(argument)
				}
			}
		}
		return true
	})
	return words
}

// callee is the name of what is called.
func callee(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// Every alert has a page's worth: what it means, what users feel of it, where to look by
// which commands, and what to do; and the metrics that are looked at are documented.
func TestRunbooks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "alerts.md"))
	require.NoError(t, err)
	metrics, err := os.ReadFile(filepath.Join(root, "docs", "metrics.md"))
	require.NoError(t, err)
	sections := strings.Split(string(page), "\n### ")[1:]
	assert.Greater(t, len(sections), 20)
	order := regexp.MustCompile("(?s)^\\w+\n\n\\*\\*Means\\.\\*\\* .+\n\n\\*\\*Impact\\.\\*\\* .+\n\n\\*\\*Look\\.\\*\\*\n\n```sh\n.+\n```\n\n\\*\\*Do\\.\\*\\* .+")
	for _, section := range sections {
		name, _, _ := strings.Cut(section, "\n")
		assert.Regexp(t, order, section, name)
		for _, metric := range regexp.MustCompile(`\^(poolwright_[a-z_]+)`).FindAllStringSubmatch(section, -1) {
			assert.Contains(t, string(metrics), "| `"+strings.TrimSuffix(metric[1], "_")+"` |", name)
		}
	}
}
