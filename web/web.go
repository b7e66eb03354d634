package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
)

//go:embed assets pages third_party/uplot
var files embed.FS

// page is one page and its place in the navigation. Its content is pages/Name.html, its
// script assets/Name.js.
type page struct {
	Path, Name, Label, Title string
}

// document is what the layout of a page is filled with.
type document struct {
	page
	Pages []page
	// What follows is of pages in one file.
	Inline        bool
	Policy        string
	Style         template.HTML
	Theme, Charts template.HTML
	Data, Script  template.HTML
}

// layout writes a page.
func layout(name string, out *bytes.Buffer, d document) error {
	t, err := template.ParseFS(files, "pages/layout.html", "pages/"+name+".html")
	if err == nil {
		err = t.Execute(out, d)
	}
	if err != nil {
		return fmt.Errorf("web: page %s: %w", name, err)
	}
	return nil
}
