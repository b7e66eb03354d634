package handbook

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Block is a fenced block of a page.
type Block struct {
	// Line of its opening fence, from 1.
	Line int
	// Language after the fence, such as "sh".
	Language string
	// Text between the fences, with its indentation taken away.
	Text string
	// Last is the line of its closing fence.
	Last int
}

// Link is one of a page.
type Link struct {
	// Line that it stands in, from 1.
	Line int
	// Target is a path, an anchor or an address.
	Target string
}

var (
	fence    = regexp.MustCompile("^( *)```+(\\w*)")
	heading  = regexp.MustCompile(`^#{1,6} +(.+?)\s*$`)
	linked   = regexp.MustCompile(`\]\(<?([^()\s<>]+)>?(?: "[^"]*")?\)|<(?:img|source|a) [^>]*?(?:src|srcset|href)="([^"]+)"`)
	code     = regexp.MustCompile("`[^`]*`")
	titled   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	anchored = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// Blocks are the fenced blocks of a page, in order.
func Blocks(page string) []Block {
	var all []Block
	var open *Block
	indent := ""
	number := 0
	for line := range strings.Lines(page) {
		number++
		switch mark := fence.FindStringSubmatch(line); {
		case mark == nil && open != nil:
			open.Text += strings.TrimPrefix(line, indent)
		case mark != nil && open == nil:
			indent, open = mark[1], &Block{Line: number, Language: mark[2]}
		case mark != nil:
			open.Last = number
			all, open = append(all, *open), nil
		}
	}
	return all
}

// prose is a page without its fenced blocks, line by line.
func prose(page string) []string {
	lines := strings.Split(page, "\n")
	for _, b := range Blocks(page) {
		for i := b.Line - 1; i < b.Last; i++ {
			lines[i] = ""
		}
	}
	return lines
}

// Links are those of a page to other pages, to parts of pages and to pictures.
func Links(page string) []Link {
	var all []Link
	for i, line := range prose(page) {
		for _, m := range linked.FindAllStringSubmatch(code.ReplaceAllString(line, "`"), -1) {
			all = append(all, Link{i + 1, m[1] + m[2]})
		}
	}
	return all
}

// Anchors are what links may name of a page: its headings, as GitHub turns them into
// anchors, and those that are set by hand.
func Anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(page) {
		for _, m := range anchored.FindAllStringSubmatch(line, -1) {
			all[m[1]] = true
		}
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		anchor := anchorOf(m[1])
		for again := 1; all[anchor]; again++ {
			anchor = fmt.Sprintf("%s-%d", anchorOf(m[1]), again)
		}
		all[anchor] = true
	}
	return all
}

func anchorOf(title string) string {
	title = titled.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
