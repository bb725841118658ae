// Package diag holds the diagnostics of the language tools: positions, spans and coded
// diagnostics, and functions to render them.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Pos is a position in a source text. Lines and columns count from 1, and columns count Unicode
// code points. Offsets count bytes from 0.
type Pos struct {
	Offset int `json:"offset"`
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Span is the text from Start up to but not including End in the file named File.
type Span struct {
	File  string `json:"file"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// String returns file:line:column of the start.
func (s Span) String() string { return fmt.Sprintf("%s:%d:%d", s.File, s.Start.Line, s.Start.Column) }

// Severity says how serious a diagnostic is.
type Severity uint8

// The severities. An Error makes a run fail. Warnings make it fail if there are more than
// --max-warnings.
const (
	Error Severity = iota
	Warning
	Note
)

// String returns error, warning or note.
func (s Severity) String() string { return [...]string{"error", "warning", "note"}[s] }

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the severity's name.
func (s *Severity) UnmarshalText(text []byte) error {
	for v := Error; v <= Note; v++ {
		if v.String() == string(text) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("the severity %q is unknown; use error, warning or note", text)
}

// Code is the stable code of a kind of diagnostic: a letter (P parse, S schema, T types, L lint,
// G generation, C configuration) and a number.
type Code string

// Diagnostic is one error, warning or note.
type Diagnostic struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Span     Span     `json:"span"`           // where the fault is
	Message  string   `json:"message"`        // what is wrong
	Help     string   `json:"help,omitempty"` // advice on how to fix it
}

// List is a list of diagnostics. It is an error value if it contains an Error; see [List.Err].
type List []Diagnostic

// HasErrors reports whether any diagnostic is an Error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the list by file, position and code.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Code, b.Code))
	})
}

// Error formats the list with one diagnostic a line, without source lines.
func (l List) Error() string {
	var b []byte
	for i, d := range l {
		if i > 0 {
			b = append(b, '\n')
		}
		b = fmt.Appendf(b, "%s: %s %s: %s", d.Span, d.Severity, d.Code, d.Message)
		if d.Help != "" {
			b = fmt.Appendf(b, " (help: %s)", d.Help)
		}
	}
	return string(b)
}

// Err returns the list as an error if it contains an Error, and nil otherwise.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}
