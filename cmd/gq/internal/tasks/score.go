package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// verdict is the score of a try.
type verdict struct {
	passed    bool
	why       string // why it did not pass
	wroteMain bool   // main differs otherwise than the task asks for
}

// score compares the final words of an agent and the state of the graph with what a task wants.
func (s *server) score(ctx context.Context, t *Task, words string) (verdict, error) {
	var v verdict
	fail := func(format string, args ...any) {
		if v.why == "" {
			v.why = fmt.Sprintf(format, args...)
		}
	}
	writes, commits, err := s.mainWrites(ctx)
	if err != nil {
		return v, err
	}
	if writes != t.MainWrites || t.MainWrites == 0 && commits {
		v.wroteMain = writes > t.MainWrites || t.MainWrites == 0
		fail("%d nodes and edges of main changed, expected %d", writes, t.MainWrites)
	}
	if t.DraftWrites > 0 {
		n, err := s.draftWrites(ctx)
		if err != nil {
			return v, err
		}
		if n != t.DraftWrites {
			fail("%d nodes and edges of the draft changed, expected %d", n, t.DraftWrites)
		}
	}
	if t.Want != nil || t.NoAnswer {
		got, found := finalAnswer(words)
		switch {
		case !found:
			fail("the last message has no line that begins with %s and holds JSON", answerMark)
		case !sameRows(answerRows(got, t.Want), t.Want, t.Ordered):
			fail("the answer is %s, expected %s", brief(got), brief(t.Want))
		}
	}
	for _, st := range t.State {
		got, err := s.rowsOn(ctx, st)
		if err != nil {
			return v, fmt.Errorf("task %s: %w", t.Name, err)
		}
		if !sameRows(got, st.Rows, false) {
			v.wroteMain = v.wroteMain || st.On == engine.MainBranch && writes > 0
			fail("%s has %s, expected %s, for %s", st.On, brief(got), brief(st.Rows), st.Query)
		}
	}
	v.passed = v.why == ""
	return v, nil
}

// mainWrites returns how many nodes and edges of main differ from the time when the agent began, and whether main has other commits.
func (s *server) mainWrites(ctx context.Context) (writes int, commits bool, err error) {
	c, err := s.graph.Compare(ctx, engine.Target{}, engine.Target{Commit: s.base}, engine.CompareOptions{})
	if err != nil {
		return 0, false, err
	}
	return changes(c), c.Source.ID != s.base, nil
}

// draftWrites returns how many nodes and edges the agent's draft has changed; 0 without a draft.
func (s *server) draftWrites(ctx context.Context) (int, error) {
	draft, err := s.draft(ctx)
	if err != nil || draft == "" {
		return 0, err
	}
	c, err := s.graph.Compare(ctx, engine.Target{Branch: draft}, engine.Target{}, engine.CompareOptions{})
	if err != nil {
		return 0, err
	}
	return changes(c), nil
}

// changes returns how many nodes and edges a comparison counts.
func changes(c *engine.Comparison) int {
	return int(c.Nodes.Inserted + c.Nodes.Updated + c.Nodes.Deleted + c.Edges.Inserted + c.Edges.Updated + c.Edges.Deleted)
}

// draft returns the branch of the agent's draft, or "".
func (s *server) draft(ctx context.Context) (string, error) {
	drafts, err := s.graph.Drafts(ctx, engine.DraftRange{Owner: agent, State: engine.DraftOpen})
	if err != nil || len(drafts) == 0 {
		return "", err
	}
	return drafts[0].Branch(), nil
}

// rowsOn runs the query of a state. It returns nil if there is no such state, for instance because the agent has no draft.
func (s *server) rowsOn(ctx context.Context, st State) (_ [][]any, err error) {
	queries, faults := gq.CompileQueries(s.schema, gq.Source{Name: "state.gq", Text: st.Query})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	q := queries[0].Plan
	at := engine.Target{Branch: st.On}
	switch st.On {
	case "draft":
		if at.Branch, err = s.draft(ctx); err != nil || at.Branch == "" {
			return nil, err
		}
	case "proposal":
		return s.proposed(ctx, q, st.Source)
	}
	r, err := s.graph.Query(ctx, q, nil, at)
	if err != nil {
		return nil, err
	}
	return allRows(ctx, r)
}

// proposed runs a query on the state that the merge of the only open proposal would make. It returns nil if there is not one
// open proposal from the source to main, or if it has a conflict that is not settled.
func (s *server) proposed(ctx context.Context, q *plan.Query, source string) ([][]any, error) {
	if source == "draft" {
		var err error
		if source, err = s.draft(ctx); err != nil {
			return nil, err
		}
	}
	list, err := s.graph.Proposals(ctx, engine.ProposalRange{State: engine.ProposalOpen})
	if err != nil || len(list) != 1 || list[0].Source != source || list[0].Target != engine.MainBranch {
		return nil, err
	}
	p := list[0]
	from, to := engine.Target{Branch: p.Source}, engine.Target{Branch: p.Target}
	c, err := s.graph.Compare(ctx, from, to, engine.CompareOptions{Resolutions: p.Resolutions})
	if err != nil || c.ConflictCount > 0 {
		return nil, err
	}
	state, err := s.graph.Preview(ctx, from, to, p.Resolutions)
	if err != nil {
		return nil, err
	}
	r, err := state.Query(ctx, q, nil, time.Time{})
	if err != nil {
		return nil, err
	}
	return allRows(ctx, r)
}

// allRows returns the rows of a result, and closes it.
func allRows(ctx context.Context, r engine.Result) ([][]any, error) {
	defer r.Close()
	columns := r.Columns()
	lines, _, err := encoding.FirstRows(ctx, r, math.MaxInt, math.MaxInt)
	if err != nil {
		return nil, err
	}
	out := [][]any{}
	for _, l := range lines {
		var object map[string]any
		if err := decode(l, &object); err != nil {
			return nil, err
		}
		row := []any{}
		for _, c := range columns {
			row = append(row, object[c.Name])
		}
		out = append(out, row)
	}
	return out, nil
}

// answerMark begins the line with the answer in the last message of an agent.
const answerMark = "ANSWER:"

// finalAnswer returns the value in the last line that begins with the mark.
func finalAnswer(words string) (value any, found bool) {
	for _, l := range slices.Backward(strings.Split(words, "\n")) {
		if text, ok := strings.CutPrefix(strings.Trim(strings.TrimSpace(l), "*`"), answerMark); ok {
			err := decode([]byte(strings.Trim(text, " *`")), &value)
			return value, err == nil
		}
	}
	return nil, false
}

// answerRows returns an answer as rows: a single value is one row, a list of values is one row for each, or one row if the wanted
// rows are as wide as the list. Null is nil.
func answerRows(v any, want [][]any) [][]any {
	list, ok := v.([]any)
	switch {
	case v == nil:
		return nil
	case !ok:
		return [][]any{{v}}
	case len(want) > 0 && len(want[0]) > 1 && len(list) == len(want[0]) && !slices.ContainsFunc(list, isList):
		return [][]any{list}
	}
	out := [][]any{}
	for _, e := range list {
		if row, ok := e.([]any); ok {
			out = append(out, row)
		} else {
			out = append(out, []any{e})
		}
	}
	return out
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// sameRows reports whether two lists have the same rows, in any order unless `ordered`. A nil list equals only a nil list.
// A number equals the text of it, because models quote numbers.
func sameRows(got, want [][]any, ordered bool) bool {
	if (got == nil) != (want == nil) {
		return false
	}
	texts := func(rows [][]any) []string {
		var out []string
		for _, r := range rows {
			text := ""
			for _, v := range r {
				text += fmt.Sprintf("%v\x00", v)
			}
			out = append(out, text)
		}
		if !ordered {
			slices.Sort(out)
		}
		return out
	}
	return slices.Equal(texts(got), texts(want))
}

// decode decodes JSON and keeps the digits of numbers.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// brief returns a value as JSON of a bounded length.
func brief(v any) string {
	text, err := encoded(v)
	if err != nil {
		return err.Error()
	}
	if len(text) > 300 {
		return strings.ToValidUTF8(text[:300], "") + " …"
	}
	return text
}
