package main

import (
	"os"
	"path/filepath"
	"strings"
)

// The document and its figures, in the folder of the documentation.
const (
	documentFile  = "accuracy.md"
	figuresFolder = "accuracy"
)

const documentHead = `# How accurate the model is

Written by ` + "`make accuracy`" + `, which fails when a target is missed. The model is
` + "`ContinuousBatching`" + `, the default of package ` + "`queueing`" + `. Errors are relative, predicted over observed − 1, in
per cent. Median, p90 and largest are of their absolute values, the bias is the median with its sign.

Third-party measurements are not part of this repository. Of them this page shows our own errors only.

`

// writeDocument writes the document and the figures of the studies into a folder.
func writeDocument(folder string, studies []*study) error {
	if err := os.MkdirAll(filepath.Join(folder, figuresFolder), 0o750); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(documentHead)
	for _, s := range studies {
		b.WriteString(s.markdown(figuresFolder))
		for i := range s.figures {
			f := &s.figures[i]
			file := filepath.Join(folder, figuresFolder, f.name+".svg")
			if err := os.WriteFile(file, []byte(f.SVG()), 0o600); err != nil {
				return err
			}
		}
	}
	text := strings.TrimRight(b.String(), "\n") + "\n"
	return os.WriteFile(filepath.Join(folder, documentFile), []byte(text), 0o600)
}
