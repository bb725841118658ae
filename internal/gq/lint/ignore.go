package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// directive is a comment "gq:ignore CODE[,CODE…] reason". It silences rules for one declaration:
// the declaration that contains the comment, that ends on the comment's line, or that follows
// it.
type directive struct {
	span   diag.Span   // of the comment
	codes  []diag.Code // the rules to silence
	used   []bool      // for each element of `codes`: whether it has silenced a finding
	target diag.Span   // of the declaration; zero if there is none
}

// silence removes the findings that directives ignore. It then reports the directives that are
// malformed or silence nothing.
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
	targets := r.targets(all)
	r.findings = slices.DeleteFunc(r.findings, func(f finding) bool {
		r.in.Meter.Step(1)
		return silenced(targets[f.Span.File], f.Diagnostic)
	})
	p := &pass{r, ruleOf(IdleDirective)}
	if r.in.Config.level(p.rule) == Off {
		return
	}
	broken := map[string]bool{} // files with errors; the rules have not seen all of their queries
	for _, f := range r.in.Faults {
		broken[f.Span.File] = broken[f.Span.File] || f.Severity == diag.Error
	}
	for _, d := range all {
		if broken[d.span.File] {
			continue
		}
		if idle := r.unusedCodes(d); len(idle) > 0 {
			var edits []diag.Edit
			if len(idle) == len(d.codes) {
				edits = []diag.Edit{{Span: r.wholeLine(d.span)}}
			}
			p.report(d.span, "remove it", edits, "gq:ignore %s has no effect, because the rule reports nothing here", strings.Join(idle, ", "))
		}
	}
}

// declSpans returns the spans of the declarations, in source order.
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

// fileDirectives parses the directives among the comments of a file and reports the malformed
// ones. decls are the spans of the declarations of the file.
func (r *run) fileDirectives(comments []syntax.Comment, decls []diag.Span) []*directive {
	p := &pass{r, ruleOf(BadDirective)}
	var out []*directive
	for _, c := range comments {
		r.in.Meter.Step(1)
		text, ok := strings.CutPrefix(c.Text, "//")
		if !ok {
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), "gq:ignore")
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		d, fault, help := parseDirective(r.in.Meter, rest)
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

const directiveForm = "write a code and a reason: // gq:ignore L107 because …"

// parseDirective parses the text after gq:ignore. If the text is malformed, `d` is nil, and `fault`
// gives the reason.
func parseDirective(m *work.Meter, rest string) (d *directive, fault, help string) {
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return nil, "gq:ignore has no code", directiveForm
	}
	d = &directive{}
	for name := range strings.SplitSeq(fields[0], ",") {
		m.Step(1)
		code := diag.Code(name)
		switch rule := ruleOf(code); {
		case rule == nil && len(name) > 1 && strings.IndexByte("PSTGC", name[0]) >= 0 && strings.Trim(name[1:], "0123456789") == "":
			return nil, "gq:ignore cannot silence " + name + ", which is not a lint rule", "only L codes can be silenced; fix the cause of " + name
		case rule == nil:
			return nil, "gq:ignore has the unknown code " + name, helpOr(diag.DidYouMean(name, ruleCodes()), directiveForm)
		case rule.query == nil && rule.catalog == nil:
			return nil, "gq:ignore cannot silence " + name, "set the level of the rule in gq.yaml"
		}
		d.codes = append(d.codes, code)
	}
	if len(fields) == 1 {
		return nil, "gq:ignore has no reason", "write the reason after the code: // gq:ignore " + fields[0] + " because …"
	}
	d.used = make([]bool, len(d.codes))
	return d, "", ""
}

// helpOr returns the text `near`, or the text `form` if `near` is empty.
func helpOr(near, form string) string {
	if near != "" {
		return near
	}
	return form
}

// targetOf returns the span of the declaration that a comment applies to, or the zero span if
// there is none.
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

// target is a declaration and the rules that directives silence in it.
type target struct {
	span  diag.Span                     // of the declaration
	codes map[diag.Code][]directiveCode // the entry is nil once all of its directives are marked as used
}

// directiveCode is the first place where a code occurs in a directive.
type directiveCode struct {
	*directive
	at int // index in codes
}

// targets returns the targets of the directives by file. Each list is in source order.
func (r *run) targets(all []*directive) map[string][]*target {
	byFile := map[string][]*target{}
	bySpan := map[diag.Span]*target{}
	for _, d := range all {
		t := bySpan[d.target]
		if t == nil {
			t = &target{span: d.target, codes: map[diag.Code][]directiveCode{}}
			bySpan[d.target] = t
			byFile[d.target.File] = append(byFile[d.target.File], t)
		}
		for i, code := range d.codes {
			r.in.Meter.Step(1)
			// All codes of one directive are processed together. A repeated code therefore follows
			// its first occurrence directly, and it is enough to compare with the last element of
			// the list.
			if list := t.codes[code]; len(list) == 0 || list[len(list)-1].directive != d {
				t.codes[code] = append(list, directiveCode{d, i})
			}
		}
	}
	for _, list := range byFile {
		slices.SortFunc(list, func(a, b *target) int { return cmp.Compare(a.span.Start.Offset, b.span.Start.Offset) })
	}
	return byFile
}

// silenced reports whether a directive for one of the file's targets silences the finding. It marks
// each directive that silences the finding as used.
func silenced(list []*target, f diag.Diagnostic) bool {
	next, _ := slices.BinarySearchFunc(list, f.Span.Start.Offset+1, func(t *target, off int) int { return t.span.Start.Offset - off })
	if next == 0 || f.Span.Start.Offset >= list[next-1].span.End.Offset {
		return false
	}
	codes := list[next-1].codes
	namings, named := codes[f.Code]
	for _, n := range namings {
		n.used[n.at] = true
	}
	if named {
		codes[f.Code] = nil
	}
	return named
}

// unusedCodes returns the unused codes of a directive: the rule of such a code ran but had no
// finding to silence.
func (r *run) unusedCodes(d *directive) []string {
	var out []string
	for i, code := range d.codes {
		r.in.Meter.Step(1)
		if !d.used[i] && r.applies(ruleOf(code)) {
			out = append(out, string(code))
		}
	}
	return out
}

// wholeLine widens the span of a comment for its removal. If the comment is alone on its line,
// the span becomes the line with its line end. Otherwise it also covers the blanks before the
// comment.
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
