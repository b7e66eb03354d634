package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
)

// reportModules are the modules of a report, each after those that it imports.
func reportModules() []string {
	return []string{"dom.js", "format.js", "chart.js", "result.js", "report.js"}
}

// Report writes a page that shows the result of a simulation and needs no other file: it
// opens from disk, without a network. The result is a SimulationResult as JSON of the API.
func Report(w io.Writer, title string, result []byte) error {
	style, err := joined("\n", "third_party/uplot/uPlot.min.css", "assets/style.css")
	if err != nil {
		return err
	}
	theme, err := joined("", "assets/theme.js")
	if err != nil {
		return err
	}
	licence, err := joined("", "third_party/uplot/LICENSE")
	if err != nil {
		return err
	}
	charts, err := joined("", "third_party/uplot/uPlot.iife.min.js")
	if err != nil {
		return err
	}
	charts = "/*\n" + licence + "*/\n" + charts
	script, err := bundle(reportModules()...)
	if err != nil {
		return err
	}
	d := document{
		page:   page{Name: "report", Title: title},
		Inline: true,
		Policy: fmt.Sprintf("default-src 'none'; script-src %s %s %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
			digest(theme), digest(charts), digest(script), digest(style)),
		Style:  element("<style>", style, "</style>"),
		Theme:  element("<script>", theme, "</script>"),
		Charts: element("<script>", charts, "</script>"),
		Script: element(`<script type="module">`, script, "</script>"),
		// No text of the data ends the element.
		Data: element(`<script type="application/json" id="result">`, strings.ReplaceAll(string(result), "<", `\u003c`), "</script>"),
	}
	var out bytes.Buffer
	if err := layout("report", &out, d); err != nil {
		return err
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("web: report: %w", err)
	}
	return nil
}

// element is an element with text that is ours, or made harmless.
func element(start, text, end string) template.HTML {
	return template.HTML(start + text + end) //nolint:gosec // files of this package, and JSON without <
}

// digest is how a policy names a script or style that stands in the page.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func joined(separator string, names ...string) (string, error) {
	var all []string
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("web: %w", err)
		}
		all = append(all, string(data))
	}
	return strings.Join(all, separator), nil
}

// Imports and exports stand on lines of their own in all modules, and names at the top of a
// module are unique over all of them, so that they can be one.
var (
	importLine = regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./([^']+)';\n`)
	exportWord = regexp.MustCompile(`(?m)^export `)
)

// bundle makes one module of several, each after those that it imports.
func bundle(names ...string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		text, err := joined("", "assets/"+name)
		if err != nil {
			return "", err
		}
		out.WriteString(exportWord.ReplaceAllString(importLine.ReplaceAllString(text, ""), ""))
	}
	return out.String(), nil
}
