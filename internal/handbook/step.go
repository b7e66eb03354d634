package handbook

import (
	"regexp"
	"strings"
)

// Step is what a reader types at once.
type Step struct {
	// Line of the block of commands, from 1.
	Line int
	// Commands of the shell, as they stand in the page.
	Commands string
	// Output is the block that shows what they print; nil = the page shows none.
	Output *Block
	// Exits are the statuses, other than 0, that commands are said to exit with, in order.
	Exits string
}

var exits = regexp.MustCompile(`#.* exits with (\d+)`)

// Steps are the commands of a page, in order.
func Steps(page string) []Step {
	blocks := Blocks(page)
	lines := strings.Split(page, "\n")
	var all []Step
	for i, b := range blocks {
		if b.Language != "sh" {
			continue
		}
		s := Step{Line: b.Line, Commands: b.Text}
		for _, m := range exits.FindAllStringSubmatch(b.Text, -1) {
			s.Exits += " " + m[1]
		}
		if i+1 < len(blocks) && blocks[i+1].Language == "text" && strings.TrimSpace(strings.Join(lines[b.Last:blocks[i+1].Line-1], "")) == "" {
			s.Output = &blocks[i+1]
		}
		all = append(all, s)
	}
	return all
}

// Shows tells whether a block shows an output. Space at the ends of lines doesn't count.
func (b *Block) Shows(output string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.Lines(b.Text) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimRight(line, " \n"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, ".*") + ` *\n`)
	}
	pattern.WriteString(`\z`)
	return regexp.MustCompile(pattern.String()).MatchString(strings.TrimRight(output, "\n") + "\n")
}
