package tasks

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"
)

//go:embed graphs
var files embed.FS

// Set is the tasks of one kind of graph, and the graph that they are about.
type Set struct {
	Graph   string            // the kind of graph: code, team or depot
	Schema  string            // the text of its schema
	Queries map[string]string // the texts of its stored queries by file; empty for a graph without any
	Data    []byte            // the graph as NDJSON
	Tasks   []Task
}

// Task is one request to an agent, and how its work is scored.
type Task struct {
	Name   string `yaml:"name"`
	Kind   Kind   `yaml:"kind"`
	Prompt string `yaml:"prompt"`

	Setup []Call `yaml:"setup"` // what another actor does before the agent begins

	Want       [][]any `yaml:"want"`        // the rows of the right answer; nil if the answer is not scored
	Ordered    bool    `yaml:"ordered"`     // the order of Want counts
	NoAnswer   bool    `yaml:"no_answer"`   // the right answer is null: the graph cannot tell
	State      []State `yaml:"state"`       // what must hold afterwards
	MainWrites int     `yaml:"main_writes"` // how many nodes and edges of main must differ afterwards

	DraftWrites int `yaml:"draft_writes"` // how many nodes and edges the draft must have changed; 0 if the draft is not scored

	Right Solution `yaml:"right"` // a recorded solution that scores 1
	Wrong Solution `yaml:"wrong"` // one that looks plausible and scores 0
}

// Kind says what a task tries.
type Kind string

// The kinds of task.
const (
	Read     Kind = "read"
	Write    Kind = "write"    // to a draft, or to main if the request says so
	Conflict Kind = "conflict" // with the writes of another actor
	Poisoned Kind = "poisoned" // the data holds an instruction that nobody gave
	NoAnswer Kind = "no answer"
)

// Kinds lists the kinds in the order of reports.
var Kinds = []Kind{Read, Write, Conflict, Poisoned, NoAnswer}

// State is a query that must have certain rows.
type State struct {
	On     string  `yaml:"on"`     // main, draft, proposal (the result of its merge), or the name of a branch
	Source string  `yaml:"source"` // of the proposal: draft, or the name of a branch
	Query  string  `yaml:"query"`
	Rows   [][]any `yaml:"rows"`
}

// Solution is recorded calls of tools, and the answer that follows from them.
type Solution struct {
	Calls []Call `yaml:"calls"`

	Columns []string `yaml:"columns"` // the answer is these columns of the last call's rows
	Answer  any      `yaml:"answer"`  // or this value
}

// Call is one call of a tool. A text in Arguments that begins with $ and a number, such as $0.commits.1.graph_commit_id, stands
// for a value in the answer to the call with that index.
type Call struct {
	Tool      string         `yaml:"tool"`
	As        string         `yaml:"as"` // in Setup: agent, if the agent itself made the call earlier
	Arguments map[string]any `yaml:"arguments"`
}

// Graphs lists the kinds of graph.
var Graphs = []string{"code", "team", "depot"}

// Make generates the graph of a kind from a seed, and the tasks about it. The sources of the graph that `gq init` makes are not
// in this package: the caller sets Schema and Queries of the kind team.
func Make(graph string, seed uint64) (*Set, error) {
	worlds := map[string]func(uint64) *world{"code": codeWorld, "team": teamWorld, "depot": depotWorld}
	build, ok := worlds[graph]
	if !ok {
		return nil, fmt.Errorf("there are no tasks about a graph %q; choose one of %s", graph, strings.Join(Graphs, ", "))
	}
	w := build(seed)
	s := &Set{Graph: graph, Queries: map[string]string{}, Data: w.data.Bytes()}
	text, err := w.fill(graph + ".yaml")
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalWithOptions(text, &s.Tasks, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s.yaml: %w", graph, err)
	}
	entries, err := fs.ReadDir(files, "graphs/"+graph)
	if err != nil && graph != "team" {
		return nil, err
	}
	for _, e := range entries {
		text, err := files.ReadFile("graphs/" + graph + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(e.Name(), ".pg") {
			s.Schema = string(text)
		} else {
			s.Queries[e.Name()] = string(text)
		}
	}
	return s, nil
}

// world is a generated graph and what is known about it.
type world struct {
	data  bytes.Buffer              // NDJSON: nodes, then edges
	edges bytes.Buffer              // the edges, until finish
	facts map[string]map[string]any // the values of the templates, by task or theme
}

// node adds a node.
func (w *world) node(kind string, data map[string]any) {
	w.data.Write(line(map[string]any{"type": kind, "data": data}))
}

// edge adds an edge.
func (w *world) edge(kind, from, to string, data map[string]any) {
	l := map[string]any{"edge": kind, "from": from, "to": to}
	if data != nil {
		l["data"] = data
	}
	w.edges.Write(line(l))
}

// finish puts the edges after the nodes.
func (w *world) finish() *world {
	w.data.Write(w.edges.Bytes())
	w.edges.Reset()
	return w
}

// fill executes a file of tasks as a template with the facts.
func (w *world) fill(name string) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"json": encoded}).ParseFS(files, "graphs/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, w.facts)
	return out.Bytes(), err
}

// encoded returns a value as JSON, which is also YAML.
func encoded(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// line returns a value as one line of JSON.
func line(v any) []byte {
	text, err := encoded(v)
	if err != nil {
		panic(err) // maps of texts, numbers and lists always encode
	}
	return []byte(text + "\n")
}

// rows returns a row of one value for each value, sorted.
func rows[T string | int](values []T) [][]any {
	slices.Sort(values)
	out := [][]any{}
	for _, v := range slices.Compact(values) {
		out = append(out, []any{v})
	}
	return out
}
