package lint

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/syntax"
)

// directive is a comment "gq:ignore CODE[,CODE…] reason". It silences rules for the
// declaration that it stands in, after which it stands on the line, or which it
// precedes.
type directive struct {
	span   diag.Span
	codes  []diag.Code
	used   []bool // by code
	target diag.Span
}

// silence removes the findings that directives ignore, then reports the directives
// that are malformed or silence nothing.
func (r *run) silence() {
	all := r.fileDirectives(r.in.SchemaTree.Comments, declSpans(r.in.SchemaTree))
	for _, f := range r.in.Files {
		spans := make([]diag.Span, len(f.Queries))
		for i, q := range f.Queries {
			spans[i] = q.Span()
		}
		all = append(all, r.fileDirectives(f.Comments, spans)...)
	}
	if len(all) == 0 {
		return
	}
	byTarget := map[string][]*directive{} // by file, in the order of their targets
	for _, d := range all {
		byTarget[d.target.File] = append(byTarget[d.target.File], d)
	}
	for _, list := range byTarget {
		slices.SortStableFunc(list, func(a, b *directive) int { return a.target.Start.Offset - b.target.Start.Offset })
	}
	r.findings = slices.DeleteFunc(r.findings, func(f finding) bool { return silenced(byTarget[f.Span.File], f.Diagnostic) })
	p := &pass{r, ruleOf(IdleDirective)}
	if r.in.Config.level(p.rule) == Off {
		return
	}
	broken := map[string]bool{} // files with errors, of which no rule has seen everything
	for _, f := range r.in.Faults {
		broken[f.Span.File] = broken[f.Span.File] || f.Severity == diag.Error
	}
	for _, d := range all {
		if broken[d.span.File] {
			continue
		}
		if idle := r.idle(d); len(idle) > 0 {
			var edits []diag.Edit
			if len(idle) == len(d.codes) {
				edits = []diag.Edit{{Span: r.wholeLine(d.span)}}
			}
			p.report(d.span, "remove it", edits, "gq:ignore of %s silences nothing", strings.Join(idle, ", "))
		}
	}
}

func declSpans(s *syntax.Schema) []diag.Span {
	var spans []diag.Span
	for _, d := range s.Decls {
		switch d := d.(type) {
		case *syntax.Interface:
			spans = append(spans, d.Span())
		case *syntax.Node:
			spans = append(spans, d.Span())
		case *syntax.Edge:
			spans = append(spans, d.Span())
		}
	}
	return spans
}

// fileDirectives reads the directives among the comments of a file whose declarations
// have the given spans, and reports those that are malformed.
func (r *run) fileDirectives(comments []syntax.Comment, decls []diag.Span) []*directive {
	p := &pass{r, ruleOf(BadDirective)}
	var out []*directive
	for _, c := range comments {
		text, ok := strings.CutPrefix(c.Text, "//")
		if !ok {
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), "gq:ignore")
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		d, fault, help := parseDirective(rest)
		if fault != "" {
			if r.in.Config.level(p.rule) != Off {
				p.report(c.Span, help, nil, "%s", fault)
			}
			continue
		}
		d.span, d.target = c.Span, targetOf(c.Span, decls)
		out = append(out, d)
	}
	return out
}

const directiveForm = "write // gq:ignore L107 and the reason"

func parseDirective(rest string) (d *directive, fault, help string) {
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return nil, "gq:ignore without a code", directiveForm
	}
	d = &directive{}
	for name := range strings.SplitSeq(fields[0], ",") {
		code := diag.Code(name)
		switch rule := ruleOf(code); {
		case rule == nil && len(name) > 1 && strings.IndexByte("PSTGC", name[0]) >= 0 && strings.Trim(name[1:], "0123456789") == "":
			return nil, "gq:ignore of " + name + ", which is no lint rule", "only L codes can be silenced; correct what " + name + " reports"
		case rule == nil:
			return nil, "gq:ignore of an unknown code " + name, cmpHelp(diag.DidYouMean(name, ruleCodes()), directiveForm)
		case rule.query == nil && rule.catalog == nil:
			return nil, "gq:ignore of " + name + ", which cannot be silenced here", "set it in gq.yaml"
		}
		d.codes = append(d.codes, code)
	}
	if len(fields) == 1 {
		return nil, "gq:ignore without a reason", "say why, after the code: // gq:ignore " + fields[0] + " because …"
	}
	d.used = make([]bool, len(d.codes))
	return d, "", ""
}

func cmpHelp(near, form string) string {
	if near != "" {
		return near
	}
	return form
}

// targetOf finds the declaration that a comment speaks of; the zero span when there
// is none.
func targetOf(comment diag.Span, decls []diag.Span) diag.Span {
	next, _ := slices.BinarySearchFunc(decls, comment.Start.Offset, func(s diag.Span, off int) int { return s.Start.Offset - off })
	if next > 0 {
		if before := decls[next-1]; comment.Start.Line <= before.End.Line {
			return before
		}
	}
	if next < len(decls) {
		return decls[next]
	}
	return diag.Span{}
}

// silenced reports whether one of the directives of a file, sorted by their targets,
// speaks of a finding there. All that do remember it.
func silenced(list []*directive, f diag.Diagnostic) bool {
	next, _ := slices.BinarySearchFunc(list, f.Span.Start.Offset+1, func(d *directive, off int) int { return d.target.Start.Offset - off })
	silent := false
	for i := next - 1; i >= 0 && list[i].target == list[next-1].target; i-- {
		d := list[i]
		if at := slices.Index(d.codes, f.Code); at >= 0 && f.Span.Start.Offset < d.target.End.Offset {
			d.used[at], silent = true, true
		}
	}
	return silent
}

// idle returns the codes of a directive that ran and found nothing to silence.
func (r *run) idle(d *directive) []string {
	var out []string
	for i, code := range d.codes {
		if !d.used[i] && r.runs(ruleOf(code)) {
			out = append(out, string(code))
		}
	}
	return out
}

// wholeLine widens the span of a comment to its line and line end when nothing else
// stands there, and to the blanks before it otherwise.
func (r *run) wholeLine(s diag.Span) diag.Span {
	text := r.in.SchemaTree.Text
	for _, f := range r.in.Files {
		if f.Name == s.File {
			text = f.Text
		}
	}
	from := len(strings.TrimRight(text[:s.Start.Offset], " \t"))
	if from == 0 || text[from-1] == '\n' {
		if rest := text[s.End.Offset:]; strings.HasPrefix(rest, "\r\n") {
			s.End.Offset += 2
		} else if strings.HasPrefix(rest, "\n") {
			s.End.Offset++
		}
		if s.End.Offset > 0 && text[s.End.Offset-1] == '\n' {
			s.End.Line, s.End.Column = s.End.Line+1, 1
		}
	}
	s.Start.Column -= s.Start.Offset - from
	s.Start.Offset = from
	return s
}
