package omnigraph

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	linkInside = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestLinks checks that each relative link in the Markdown files leads to a file of the repository, and its
// anchor to a heading there.
func TestLinks(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "*.md").Output()
	if err != nil {
		t.Skipf("git cannot list the files: %v", err)
	}
	checked := 0
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if strings.Contains(name, "/testdata/") {
			continue
		}
		text := codeSpan.ReplaceAllString(fence.ReplaceAllString(read(t, name), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if fault := brokenLink(t, name, m[1]); fault != "" {
				t.Errorf("%s: the link %s is broken: %s", name, m[1], fault)
			}
			checked++
		}
	}
	if checked < 500 {
		t.Errorf("only %d links were found", checked)
	}
}

// TestBrokenLinks checks that brokenLink finds faults.
func TestBrokenLinks(t *testing.T) {
	for _, tt := range []struct {
		href   string
		broken bool
	}{
		{"docs/install.md", false}, {"docs/install.md#an-archive", false}, {"#test-a-change", false}, {"docs/reference", false},
		{"https://example.com/nowhere", false}, {"docs/instal.md", true}, {"docs/install.md#archive", true}, {"#nowhere", true},
	} {
		if got := brokenLink(t, "README.md", tt.href); (got != "") != tt.broken {
			t.Errorf("%s: %q", tt.href, got)
		}
	}
}

// brokenLink says what is wrong with a link in a file. It returns "" for a link that works, and for links to
// other sites.
func brokenLink(t *testing.T, name, href string) string {
	t.Helper()
	if strings.Contains(href, "://") || strings.HasPrefix(href, "mailto:") {
		return ""
	}
	file, hash, anchored := strings.Cut(href, "#")
	target := name
	if file != "" {
		target = path.Join(path.Dir(name), file)
	}
	if _, err := os.Stat(target); err != nil {
		return "there is no " + target
	}
	if anchored && strings.HasSuffix(target, ".md") && !anchors(read(t, target))[hash] {
		return fmt.Sprintf("%s has no heading with the anchor %s", target, hash)
	}
	return ""
}

// anchors returns the anchors of the headings of a text: that of a repeated heading ends in its number. The
// site computes them in the same way, in site/.vitepress/markdown.mjs.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := strings.ToLower(strings.NewReplacer("`", "", "*", "").Replace(linkInside.ReplaceAllString(m[1], "$1")))
		base := strings.ReplaceAll(strings.Map(func(r rune) rune {
			if r == ' ' || r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
				return r
			}
			return -1
		}, title), " ", "-")
		anchor := base
		for i := 1; found[anchor]; i++ {
			anchor = fmt.Sprintf("%s-%d", base, i)
		}
		found[anchor] = true
	}
	return found
}
