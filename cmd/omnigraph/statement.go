package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// statement is the query to run: a query in a GQ text, or a stored query.
type statement struct {
	file   string          // the file of the text; "" for a stored query
	text   string          // the GQ text; empty for a stored query
	name   string          // name of the query; may be "" if the text has only one
	params json.RawMessage // a JSON object, or nil
	at     engine.Target
	rows   int // most rows to return; 0 means all
}

// candidate is one query of a text.
type candidate struct {
	name     string
	mutation bool // the query writes
}

// choose returns the index of the query to run.
func (s *statement) choose(queries []candidate, write bool) (int, error) {
	var names []string
	chosen := -1
	for i, q := range queries {
		names = append(names, q.name)
		if s.name == "" && len(queries) == 1 || q.name == s.name {
			chosen = i
		}
	}
	switch {
	case len(queries) == 0:
		return 0, usage.Errorf("%s contains no query; write one such as query name() { … }", s.file)
	case chosen < 0 && s.name == "":
		return 0, usage.Errorf("%s contains several queries; name one of %s", s.file, strings.Join(names, ", "))
	case chosen < 0:
		help := diag.DidYouMean(s.name, names)
		if help == "" {
			help = "it holds " + strings.Join(names, ", ")
		}
		return 0, usage.Errorf("%s contains no query %s; %s", s.file, s.name, help)
	case queries[chosen].mutation && !write:
		return 0, usage.Errorf("%s is a mutation; run it with: omnigraph mutate", queries[chosen].name)
	case !queries[chosen].mutation && write:
		return 0, usage.Errorf("%s is a read; run it with: omnigraph query", queries[chosen].name)
	}
	return chosen, nil
}

// encodable reports bytes that are not UTF-8, because the JSON of a request cannot contain them.
func (s *statement) encodable() error {
	if utf8.ValidString(s.text) {
		return nil
	}
	_, found := syntax.ParseQueries(s.file, s.text)
	return &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{s.file: s.text}}
}

// check selects the query, so that the message about a wrong selection names the command's flags and verbs. If the
// text has faults, check leaves them to the graph.
func (s *statement) check(write bool) error {
	parsed, found := syntax.ParseQueries(s.file, s.text)
	if found.HasErrors() {
		return nil
	}
	list := make([]candidate, len(parsed.Queries))
	for i, q := range parsed.Queries {
		_, reads := q.Body.(*syntax.Read)
		list[i] = candidate{q.Name.Value, !reads}
	}
	_, err := s.choose(list, write)
	return err
}

// propose sets the name and the text of a proposed query. Blanks replace the other queries and the annotations of this one, so
// that the places of faults are those in the file. A description and questions that are not set become those of the annotations.
func (s *statement) propose(b *client.QueryProposalBody) error {
	parsed, found := syntax.ParseQueries(s.file, s.text)
	if found.HasErrors() {
		return &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{s.file: s.text}}
	}
	chosen, err := s.choose(mapped(parsed.Queries, func(q *syntax.Query) candidate { return candidate{name: q.Name.Value} }), false)
	if err != nil {
		return err
	}
	q := parsed.Queries[chosen]
	var questions []string
	at := q.Span().Start.Offset
	text := blanks(s.text[:at])
	for _, a := range q.Annotations {
		switch a.Name.Value {
		case "description":
			b.Description = cmp.Or(b.Description, syntax.Text(a.Text))
		case "question":
			questions = append(questions, syntax.Text(a.Text))
		default: // the server says that it cannot be proposed
			continue
		}
		from, to := a.Span().Start.Offset, a.Span().End.Offset
		text += s.text[at:from] + blanks(s.text[from:to])
		at = to
	}
	b.Name, b.Query = q.Name.Value, text+s.text[at:q.Span().End.Offset]
	if b.Questions == nil {
		b.Questions = questions
	}
	if b.Description == "" {
		return usage.Errorf("the query %s has no @description; write one, or give --description", b.Name)
	}
	return nil
}

// blanks returns as many lines as a text has, each with as many blanks.
func blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// runError converts err, the error of running the statement. If the wrong query of a text was selected on a store, the
// message names the command's flags and verbs. The faults that a server found in the text get the name of its file.
func (s *statement) runError(write bool, err error) error {
	var a *tool.ArgumentError
	if errors.As(err, &a) && (a.Path == "query" || a.Path == "name") {
		return cmp.Or(s.check(write), err)
	}
	return withFileName(err, s.file, s.text)
}

// parameters returns the parameters as a member of a request body, or nil if there are none.
func (s *statement) parameters() any {
	if s.params == nil {
		return nil
	}
	return s.params
}
