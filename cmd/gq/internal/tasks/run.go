package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Budget bounds one try of a task.
type Budget struct {
	Calls  int           // of tools
	Tokens int           // that a model reads and writes, over all its turns
	Time   time.Duration // from the first message to the last
}

// Agent does tasks.
type Agent interface {
	// Do does a task with the tools at an address, and returns the last message of the agent and the tokens that it
	// used; 0 if they are not known. The error says that the agent itself failed, so that its try counts as one that did not pass.
	Do(ctx context.Context, w Work) (words string, tokens int, err error)
}

// Work is what an agent gets to know.
type Work struct {
	Task    *Task
	Graph   string // the kind of graph
	Number  int    // of the task in its set, from 1
	Try     int    // from 1
	Request string // the task, and the form of the answer
	Address string // the MCP server

	server *server
	budget Budget
}

// form says how an agent gives its answer.
const form = `End your last message with one line that begins with ` + answerMark + ` and goes on with JSON: a list of rows, each of which is a list of values, such as ` + answerMark + ` [["a", 1], ["b", 2]]. ` +
	`If the graph does not hold what the question asks for, it is ` + answerMark + ` null. If the task only changes something, it is ` + answerMark + ` "done".`

// request returns the task and the form of the answer, as an agent gets to know them.
func request(t *Task) string { return strings.TrimSpace(t.Prompt) + "\n\n" + form }

// Run lets an agent try a task a number of times, each time with a graph of its own.
func Run(ctx context.Context, c *Compiled, t *Task, a Agent, tries int, b Budget) (*Result, error) {
	r := &Result{Graph: c.Graph, Task: t.Name, Kind: t.Kind}
	for n := range tries {
		try, err := once(ctx, c, t, a, n+1, b)
		if err != nil {
			return nil, err
		}
		r.Tries = append(r.Tries, *try)
	}
	return r, nil
}

// once is one try.
func once(ctx context.Context, c *Compiled, t *Task, a Agent, n int, b Budget) (_ *Try, err error) {
	s, err := serve(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.prepare(ctx, t); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	words, tokens, failed := a.Do(within, Work{Task: t, Graph: c.Graph, Number: 1 + slices.IndexFunc(c.Tasks, func(o Task) bool { return o.Name == t.Name }), Try: n, Request: request(t), Address: s.address, server: s, budget: b})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := s.score(ctx, t, words)
	if err != nil {
		return nil, err
	}
	var stop Stop
	if errors.As(failed, &stop) {
		return nil, stop
	}
	if failed != nil {
		v.passed, v.why = false, failed.Error()
	}
	try := &Try{Passed: v.passed, Why: v.why, Calls: int(s.calls.Load()), Tokens: tokens, WroteMain: v.wroteMain}
	if tokens == 0 {
		try.Tokens = int(s.answers.Load()+3) / 4
	}
	return try, nil
}

// Replay is an agent that makes the recorded calls of a solution.
type Replay struct{ Wrong bool }

// Do implements [Agent].
func (r Replay) Do(ctx context.Context, w Work) (string, int, error) {
	solution := w.Task.Right
	if r.Wrong {
		solution = w.Task.Wrong
	}
	session, err := w.server.connect(ctx)
	if err != nil {
		return "", 0, err
	}
	defer session.Close()
	var answers []any
	for i, c := range solution.Calls {
		args, err := resolve(c.Arguments, answers)
		if err != nil {
			return "", 0, fmt.Errorf("call %d: %w", i, err)
		}
		a, err := call(ctx, session, c.Tool, args)
		if err != nil {
			return "", 0, err
		}
		var value any
		if err := decode([]byte(a.text), &value); err != nil {
			value = a.text
		}
		answers = append(answers, value)
	}
	if len(solution.Columns) == 0 {
		text, err := encoded(solution.Answer)
		return answerMark + " " + text, 0, err
	}
	if len(answers) == 0 {
		return "", 0, errors.New("the solution has columns and no calls")
	}
	rows, err := columns(answers[len(answers)-1], solution.Columns)
	if err != nil {
		return "", 0, err
	}
	text, err := encoded(rows)
	return answerMark + " " + text, 0, err
}

// resolve returns arguments with the values of earlier answers in place of their names; see [Call].
func resolve(v any, answers []any) (any, error) {
	switch v := v.(type) {
	case string:
		name, ok := strings.CutPrefix(v, "$")
		first, _, _ := strings.Cut(name, ".")
		if _, err := strconv.Atoi(first); !ok || err != nil {
			return v, nil
		}
		var at any = answers
		for _, step := range strings.Split(name, ".") {
			next, err := member(at, step)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v, err)
			}
			at = next
		}
		return at, nil
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			var err error
			if out[k], err = resolve(e, answers); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := []any{}
		for _, e := range v {
			r, err := resolve(e, answers)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		return out, nil
	}
	return v, nil
}

// member returns a member of an object, or an element of a list.
func member(v any, name string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if e, ok := v[name]; ok {
			return e, nil
		}
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(v) {
			return v[i], nil
		}
	}
	return nil, fmt.Errorf("there is no %s in %s", name, brief(v))
}

// columns returns the columns of the rows in an answer.
func columns(answer any, names []string) ([][]any, error) {
	object, _ := answer.(map[string]any)
	all, hasColumns := object["columns"].([]any)
	list, hasRows := object["rows"].([]any)
	if !hasColumns || !hasRows {
		return nil, fmt.Errorf("the answer has no rows: %s", brief(answer))
	}
	out := [][]any{}
	for _, r := range list {
		cells, _ := r.([]any)
		row := []any{}
		for _, n := range names {
			for i, c := range all {
				if c == n && i < len(cells) {
					row = append(row, cells[i])
				}
			}
		}
		if len(row) != len(names) {
			return nil, fmt.Errorf("the answer lacks a column of %v: %s", names, brief(answer))
		}
		out = append(out, row)
	}
	return out, nil
}

var _ Agent = Replay{}

// instructions returns what the server tells clients.
func instructions(session *sdk.ClientSession) string {
	if r := session.InitializeResult(); r != nil {
		return r.Instructions
	}
	return ""
}
