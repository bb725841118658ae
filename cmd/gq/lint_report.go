package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
)

// toolList is the size of the answer to tools/list.
type toolList struct {
	Graph   string `json:"graph"`   // name of the graph
	Tools   int    `json:"tools"`   // number of tools in the answer
	Queries int    `json:"queries"` // how many of the tools are stored queries; 0 with the meta tools
	Bytes   int    `json:"bytes"`   // size of the answer as JSON
	Tokens  int    `json:"tokens"`  // estimated with lint.BytesPerToken
	Reading int    `json:"reading"` // tokens of the tools of the set read, and of the instructions, for an agent that reads
}

// print writes a report in the requested format.
func (l *linter) print(report *lint.Report, counts diag.Report, lists []toolList, texts map[string]string) error {
	switch l.format {
	case "json":
		enc := json.NewEncoder(l.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(struct {
			diag.Report
			ToolLists []toolList `json:"tool_lists,omitempty"`
		}{counts, lists})
	case "sarif":
		return diag.RenderSARIF(l.stdout, "gq", report.List, entries(), report.Edits)
	case "github":
		return diag.RenderGitHub(l.stdout, report.List)
	}
	if err := diag.Render(l.stdout, report.List, texts, colored(l.stdout)); err != nil {
		return err
	}
	for _, t := range lists {
		of := ""
		if t.Graph != "" {
			of = " of " + t.Graph
		}
		fmt.Fprintf(l.stdout, "tools/list%s: %s, %d of them stored queries, %s, about %s (at %d bytes per token)\n",
			of, plural(t.Tools, "tool"), t.Queries, plural(t.Bytes, "byte"), plural(t.Tokens, "token"), lint.BytesPerToken)
	}
	fixable := ""
	if n := len(report.Edits); n > 0 {
		fixable = fmt.Sprintf("; --fix corrects %d", n)
	}
	_, err := fmt.Fprintf(l.stdout, "%s, %s, %s%s\n", plural(counts.Errors, "error"), plural(counts.Warnings, "warning"), plural(counts.Notes, "note"), fixable)
	return err
}

// plural returns n and the noun, such as "2 tools".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// colored reports whether w is a terminal and the user wants colors.
func colored(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}
