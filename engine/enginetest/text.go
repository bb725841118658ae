package enginetest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// textFiles has the cases that are texts: NAME.txt has cases, NAME.pg a schema, NAME.ndjson data. README.md describes them.
//
//go:embed texts
var textFiles embed.FS

// statement is one statement of a case, with what it must answer.
type statement struct {
	at   string   // file and line
	verb string   // the first word
	text string   // the rest
	args string   // the arguments of a query, or ""
	want []string // the expected answer
}

// casesOfTexts returns the cases of all texts.
func casesOfTexts() []testCase {
	files, err := fs.Glob(textFiles, "texts/*.txt")
	must(err)
	var all []testCase
	for _, name := range files {
		all = append(all, parseCases(path.Base(name), textFile(path.Base(name)))...)
	}
	return all
}

// textFile returns the contents of a file of texts. The file chain.ndjson is made by [chain].
func textFile(name string) string {
	if name == "chain.ndjson" {
		return chain()
	}
	data, err := textFiles.ReadFile("texts/" + name)
	must(err)
	return string(data)
}

// caseParser reads a text with cases line by line.
type caseParser struct {
	file                string
	lines               []string
	next                int // index of the next line
	group, schema, data string
	template            string            // a statement with the word ROW
	first               []statement       // the statements with which each case begins, after the data is loaded
	twice               string            // what the branch `one` does, if each case runs for both ways round; else ""
	named               map[string]string // queries by name
	cases               []testCase
}

// parseCases reads the cases of a text. It panics if the text is malformed.
func parseCases(file, text string) []testCase {
	p := &caseParser{file: file, lines: strings.Split(text, "\n"), named: map[string]string{}}
	for p.next < len(p.lines) {
		line := p.lines[p.next]
		word, rest, _ := strings.Cut(line, " ")
		p.next++
		switch {
		case line == "" || word == "#":
		case word == "group":
			p.group, p.template, p.first, p.twice = rest, "", nil, ""
		case word == "schema":
			p.schema = rest
		case word == "data":
			p.data = rest
		case word == "first":
			p.first = p.statements()
		case word == "twice":
			p.twice = rest
		case word == "let":
			name, query, _ := strings.Cut(rest, " ")
			p.named[name] = query
		case word == "template":
			for p.template = rest; p.next < len(p.lines) && !strings.HasPrefix(p.lines[p.next], "case "); {
				p.template += "\n" + p.line("")
			}
		case word == "case" && strings.Contains(rest, " | "):
			p.addRow(strings.SplitN(rest, " | ", 3))
		case word == "case":
			p.finish(rest, p.statements())
		default:
			p.fail("this line begins no case: " + line)
		}
	}
	return p.cases
}

// fail panics with the place of the last line that was read.
func (p *caseParser) fail(message string) { panic("enginetest: " + p.place() + ": " + message) }

// place returns the file and the number of the last line that was read.
func (p *caseParser) place() string { return fmt.Sprintf("%s:%d", p.file, p.next) }

// addRow adds a case of one statement that stands in one line: its name, its query or what takes the place of ROW in
// the template, and its answer.
func (p *caseParser) addRow(cells []string) {
	if len(cells) < 3 {
		p.fail("a case in one line has a name, a query and an answer, with | between them")
	}
	text := "query " + cells[1]
	if !strings.HasPrefix(cells[1], "{ ") && !strings.HasPrefix(cells[1], "($") {
		text = strings.Replace(p.template, "ROW", cells[1], 1)
	}
	st := statement{at: p.place(), want: []string{cells[2]}}
	st.verb, st.text, _ = strings.Cut(text, " ")
	if query, args, ok := strings.Cut(st.text, "} with "); ok {
		st.text, st.args = query+"}", args
	}
	p.finish(cells[0], []statement{st})
}

// statements reads statements up to the next case or the like.
func (p *caseParser) statements() (statements []statement) {
	for p.next < len(p.lines) {
		line := p.lines[p.next]
		word, rest, _ := strings.Cut(line, " ")
		if slices.Contains([]string{"case", "group", "schema", "data", "template", "let", "first", "twice"}, word) {
			break
		}
		p.next++
		if line == "" || word == "#" {
			continue
		}
		statements = append(statements, p.statement(word, rest))
	}
	return statements
}

// finish adds a case, or one for each way round.
func (p *caseParser) finish(name string, statements []statement) {
	statements = slices.Concat(p.first, statements)
	if p.twice == "" {
		p.addCase(name, statements)
		return
	}
	for _, way := range []struct{ does, one, other string }{{"the source", "side", "main"}, {"the target", "main", "side"}} {
		branches := strings.NewReplacer("one", way.one, "other", way.other)
		run := slices.Clone(statements)
		for i := range run {
			if st := &run[i]; st.verb == "on" || st.verb == "merge" {
				st.text = branches.Replace(st.text)
			}
		}
		p.addCase(name+", "+way.does+" "+p.twice, run)
	}
}

// addCase adds a case.
func (p *caseParser) addCase(name string, statements []statement) {
	schema, data := p.schema, p.data
	source := func() string { return textFile(schema + ".pg") }
	p.cases = append(p.cases, testCase{name: p.group + "/" + name, source: source, large: data == "chain", schema: func() *catalog.Schema { return compileSchema(schema) }, run: func(s *session) {
		if data != "" {
			s.load(engine.Merge, textFile(data+".ndjson"))
		}
		for _, st := range statements {
			s.do(st)
		}
	}})
}

// beginning is the beginning of a line after a diff of a schema, or after lines to move.
var beginning = regexp.MustCompile(`^(#|case|group|schema|data|template|let|first|twice|on|at|mark|written|branch|sources|counts|changes|images|merge|load|move|apply|edit|query)( |$)|^$`)

// statement reads the rest of a statement, whose first line has been read.
func (p *caseParser) statement(verb, text string) statement {
	st := statement{at: p.place(), verb: verb, text: text}
	switch verb {
	case "on", "at", "mark", "written", "branch", "sources", "counts", "changes", "images":
	case "merge":
		for p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], "take ") {
			st.text += "\n" + p.line("")
		}
	case "query":
		if query, ok := p.named[text]; ok {
			st.text = query
		}
		for depth(st.text) > 0 {
			st.text += "\n" + p.line("the braces of the query are not closed")
		}
		if p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], "with ") {
			st.args = strings.TrimPrefix(p.line(""), "with ")
		}
	case "edit", "move":
		for p.next < len(p.lines) && !strings.HasPrefix(p.lines[p.next], "\t") && !beginning.MatchString(p.lines[p.next]) {
			st.text += "\n" + p.line("")
		}
	case "load", "apply":
		for p.next < len(p.lines) && !strings.HasPrefix(p.lines[p.next], "\t") {
			st.text += "\n" + p.line("")
		}
	default:
		p.fail(verb + " is no statement")
	}
	for p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], "\t") {
		st.want = append(st.want, p.lines[p.next][1:])
		p.next++
	}
	return st
}

// line reads a line.
func (p *caseParser) line(missing string) string {
	if p.next == len(p.lines) {
		p.fail(missing)
	}
	p.next++
	return p.lines[p.next-1]
}

// depth returns how many braces of a query are open at its end.
func depth(query string) (open int) {
	quoted := false
	for i := 0; i < len(query); i++ {
		switch c := query[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			open++
		case c == '}':
			open--
		}
	}
	return open
}

// compileSchema returns the schema in a file of texts.
func compileSchema(name string) *catalog.Schema {
	schema, err := parseSchema(name+".pg", textFile(name+".pg"))
	must(err)
	return schema
}

// parseSchema compiles a schema.
func parseSchema(name, text string) (*catalog.Schema, error) {
	tree, faults := syntax.ParseSchema(name, text)
	schema, more := resolve.Schema(tree)
	return schema, append(faults, more...).Err()
}

// compileQuery compiles a query that is written without its name, and perhaps without parameters.
func compileQuery(schema *catalog.Schema, text string) (*plan.Query, error) {
	if strings.HasPrefix(text, "{") {
		text = "() " + text
	}
	file, faults := syntax.ParseQueries("query", "query q"+text)
	if faults.HasErrors() {
		return nil, faults.Err()
	}
	q, _, faults := check.QueryWithin(nil, schema, claims, file.Queries[0])
	return q, faults.Err()
}

// claims are the claims that the queries of the texts may use. The arguments of actor() follow those of the declared parameters.
var claims = plan.Claims{"age": value.Of(value.I32).Optional(), "moods": {Kind: value.String, List: true, Nullable: true}}

// do runs a statement and checks its answer. It compares conflicts exactly: how many there are, and what each says.
func (s *session) do(st statement) {
	s.Helper()
	var got []string
	exact := false
	switch st.verb {
	case "on":
		s.branch, s.past, s.written = strings.TrimPrefix(st.text, engine.MainBranch), engine.Commit{}, engine.Commit{}
		return
	case "mark":
		s.marks[st.text] = s.head()
		return
	case "at":
		s.past = s.marks[st.text]
		return
	case "written":
		s.written = s.marks[st.text]
		return
	case "branch":
		name, from, _ := strings.Cut(st.text, " from ")
		_, err := s.graph.CreateBranch(s.ctx, name, engine.Target{Branch: from})
		got = failure(err)
	case "merge":
		got, exact = s.mergeText(st)
	case "load":
		got = s.loadText(st)
	case "move":
		got = s.moveText(st)
	case "apply":
		got = s.applyText(st, st.text, false)
	case "edit":
		got = s.editText(st)
	case "sources":
		got = s.sourcesText()
	case "counts":
		got = s.countsText()
	case "changes", "images":
		got = s.changesText(st)
	case "query":
		got = s.queryText(st)
	}
	want := slices.DeleteFunc(slices.Clone(st.want), func(line string) bool {
		part, ok := strings.CutPrefix(line, "! ~ ")
		if ok && (s.err == nil || !strings.Contains(s.err.Error(), part)) {
			s.Errorf("%s: the error is %v, expected %q", st.at, s.err, part)
		}
		return ok
	})
	if got, want := rowLines(got), rowLines(want); got != want && (exact || !sameFailure(got, want)) {
		s.Errorf("%s: %s %s\ngot:\n%s\nwant:\n%s", st.at, st.verb, st.text, got, want)
	}
}

// queryText runs a query and returns its rows, or what it changed, or its failure.
func (s *session) queryText(st statement) []string {
	s.Helper()
	schema := s.schemaOfQueries(st)
	q, err := compileQuery(schema, st.text)
	if err != nil {
		s.Fatalf("%s: %v", st.at, err)
	}
	args, err := parseArguments(q.Params, st.args)
	if err != nil {
		s.Fatalf("%s: %v", st.at, err)
	}
	if q.Mutation != nil {
		return s.changed(func() (commit *engine.Commit, answer []string, err error) {
			change, err := s.graph.Mutate(s.ctx, q, args, engine.WriteOptions{Branch: s.branch})
			answer = []string{fmt.Sprintf("nodes %d, edges %d", change.Nodes, change.Edges)}
			if change.Row != nil {
				cells := make([]string, len(change.Row))
				for i, v := range change.Row {
					cells[i] = valueText(v)
				}
				answer = append(answer, strings.Join(cells, " | "))
			}
			return change.Commit, answer, err
		})
	}
	if len(st.want) > 0 && strings.HasPrefix(st.want[0], "! ") {
		_, s.err = queryAt(s.ctx, s.graph, q, args, s.target())
		var misfit, unbound *engine.SchemaMismatch
		if errors.As(s.graph.Bind(s.ctx, q, s.target()), &unbound) != errors.As(s.err, &misfit) {
			s.Errorf("%s: the query fails with %v; Bind says %v", st.at, s.err, unbound)
		}
		return failure(s.err)
	}
	rows := s.rowsOf(q, args)
	if len(rows) == 0 {
		return []string{"no rows"}
	}
	return rows
}

// schemaOfQueries returns the schema with which a query is compiled. It checks that the state of a marked commit has that of the commit.
func (s *session) schemaOfQueries(st statement) *catalog.Schema {
	s.Helper()
	at := s.target()
	if s.written.ID != "" {
		at = engine.Target{Commit: s.written.ID}
	}
	schema, err := s.graph.Schema(s.ctx, at)
	if err != nil {
		s.Fatalf("%s: %v", st.at, err)
	}
	if s.past.ID != "" && at.Commit == s.past.ID && schema.Digest != s.past.Schema {
		s.Errorf("%s: the schema is %s, that of the commit %s", st.at, schema.Digest, s.past.Schema)
	}
	return schema.Catalog
}

// loadText loads lines and returns the numbers of entities, or the failure.
func (s *session) loadText(st statement) []string {
	s.Helper()
	words, lines, _ := strings.Cut(st.text, "\n")
	opts := engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: s.branch}}
	for _, word := range strings.Fields(words) {
		if data, ok := strings.CutPrefix(word, "data="); ok {
			lines = textFile(data + ".ndjson")
		} else if text, ok := strings.CutPrefix(word, "without="); ok {
			lines = strings.Join(slices.DeleteFunc(strings.SplitAfter(lines, "\n"), func(l string) bool { return strings.Contains(l, text) }), "")
		} else if !loadOption(&opts, word) {
			s.Fatalf("%s: load has no option %s", st.at, word)
		}
	}
	return s.changed(func() (commit *engine.Commit, answer []string, err error) {
		res, err := s.graph.Load(s.ctx, strings.NewReader(lines), opts)
		if err != nil {
			return nil, nil, err
		}
		return res.Commit, append([]string{typeCounts(res.Nodes, res.Edges)}, syncText(res)...), nil
	})
}

// applyText applies a schema, and returns the steps or the failure.
func (s *session) applyText(st statement, text string, lossy bool) []string {
	s.Helper()
	to, err := parseSchema(st.at, text)
	if err != nil {
		s.Fatalf("%s: %v", st.at, err)
	}
	return s.changed(func() (commit *engine.Commit, answer []string, err error) {
		out, err := s.graph.ApplySchema(s.ctx, text, to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: s.branch}, AllowDataLoss: lossy})
		if err != nil {
			return nil, nil, err
		}
		if out.To != catalog.Digest(to) || out.Commit != nil && out.Commit.Schema != out.To {
			s.Errorf("%s: the schema is %s, the change %+v", st.at, catalog.Digest(to), out)
		}
		for _, step := range out.Steps {
			answer = append(answer, step.String())
		}
		if answer == nil {
			answer = []string{"no step"}
		}
		return out.Commit, answer, nil
	})
}

// exportText returns the export of the session's branch.
func (s *session) exportText() string {
	s.Helper()
	var b strings.Builder
	if _, err := s.graph.Export(s.ctx, &b, s.target(), engine.ExportOptions{}); err != nil {
		s.Fatalf("export: %v", err)
	}
	return b.String()
}

// changed runs a write and returns its answer, or its failure. It checks that the head of the branch moves to the
// commit of the write, and that without a commit the branch stays as it is.
func (s *session) changed(write func() (commit *engine.Commit, answer []string, err error)) []string {
	s.Helper()
	before, was := s.head(), s.exportText()
	commit, answer, err := write()
	s.err = err
	after := s.head()
	repeated := err == nil && commit != nil && slices.Contains(s.made, commit.ID)
	switch {
	case err != nil || commit == nil || repeated:
		if now := s.exportText(); after.ID != before.ID || now != was {
			s.Errorf("a write without a commit moved the head from %+v to %+v, and changed\n%s\nto\n%s", before, after, was, now)
		}
	case after.ID != commit.ID || commit.Seq != before.Seq+1 || len(commit.Parents) != 1 || commit.Parents[0] != before.ID:
		s.Errorf("commit %+v after %+v, the head is %+v", commit, before, after)
	default:
		s.made = append(s.made, commit.ID)
	}
	if err != nil {
		return failure(err)
	}
	if commit == nil {
		answer[0] += ", no commit"
	}
	if repeated {
		answer[0] += ", repeated"
	}
	return answer
}

// mergeText merges a branch into another one and returns the outcome, or the failure and whether that lists conflicts. It checks
// that the head of the target moves to the commit of the merge, that it stays without one, and that the result tells it.
func (s *session) mergeText(st statement) (answer []string, conflicting bool) {
	s.Helper()
	branches, takes, _ := strings.Cut(st.text, "\n")
	source, target, _ := strings.Cut(branches, " into ")
	head := ""
	if before, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: target}); err == nil {
		head = before.Commit.ID
	}
	res, err := s.graph.Merge(s.ctx, source, target, engine.MergeOptions{Resolutions: takeText(takes, source)})
	if err == nil && res.Commit != nil {
		head = res.Commit.ID
	}
	if head != "" && s.headOf(target).ID != head {
		s.Errorf("%s: after the merge, the head of %s is %s and not %s", st.at, target, s.headOf(target).ID, head)
	}
	var conflicts *engine.MergeConflicts
	if errors.As(err, &conflicts) && slices.ContainsFunc(conflicts.Conflicts, func(c engine.MergeConflict) bool { return c.Message == "" }) {
		s.Errorf("%s: a conflict has no message: %+v", st.at, conflicts.Conflicts)
	}
	if err != nil {
		return failure(err), conflicts != nil
	}
	if res.Head.ID != head {
		s.Errorf("%s: the result tells the head %s, expected %s", st.at, res.Head.ID, head)
	}
	if (res.Outcome == engine.AlreadyUpToDate) != (res.Commit == nil) {
		s.Errorf("%s: the outcome %s comes with the commit %+v", st.at, res.Outcome, res.Commit)
	}
	switch {
	case st.want == nil:
		return nil, false
	case !strings.Contains(rowLines(st.want), "\n"):
		return []string{res.Outcome.String()}, false
	}
	return []string{res.Outcome.String(), fmt.Sprintf("nodes %d, edges %d", res.Nodes, res.Edges)}, false
}

// fieldOfLine is the beginning of the failure of a line, with the field.
var fieldOfLine = regexp.MustCompile(`^(! line \d+) [\w.]+:`)

// sameFailure reports whether all lines of a text are failures, each begins with a line of the text `want`, and each line
// of that text begins one. So a case leaves out what an engine may choose: the end, and the field of a bad line.
func sameFailure(got, want string) bool {
	begins := func(long, short string) bool {
		for _, l := range []string{long, fieldOfLine.ReplaceAllString(long, "$1:")} {
			if rest, ok := strings.CutPrefix(l, short); ok && (rest == "" || strings.ContainsAny(rest[:1], " :,.")) {
				return true
			}
		}
		return false
	}
	lines, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, w := range wanted {
		if !slices.ContainsFunc(lines, func(l string) bool { return begins(l, w) }) {
			return false
		}
	}
	return !slices.ContainsFunc(lines, func(l string) bool {
		return !strings.HasPrefix(l, "! ") || !slices.ContainsFunc(wanted, func(w string) bool { return begins(l, w) })
	})
}

// rowLines joins lines, and puts rows that share a line, with a semicolon between them, into lines of their own.
func rowLines(lines []string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "; ", "\n")
}
