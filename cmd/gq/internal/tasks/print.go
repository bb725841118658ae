package tasks

import (
	"maps"
	"slices"
	"strings"
)

// Printed is a set of tasks for another program that lets agents do them with other tools.
type Printed struct {
	Graph string        `json:"graph"`
	Nodes []PrintedType `json:"nodes"`
	Edges []PrintedType `json:"edges"`
	Data  string        `json:"data"` // NDJSON: nodes, then edges
	Tasks []PrintedTask `json:"tasks"`
}

// PrintedType is a type of nodes or of edges.
type PrintedType struct {
	Name       string            `json:"name"`
	Key        string            `json:"key,omitempty"`  // the property that is the key of a node
	From       string            `json:"from,omitempty"` // the type of an edge's source
	To         string            `json:"to,omitempty"`   // the type of its target
	Properties map[string]string `json:"properties"`     // the types, as a schema spells them
}

// PrintedTask is a task with its right answer.
type PrintedTask struct {
	Name    string         `json:"name"`
	Kind    Kind           `json:"kind"`
	Request string         `json:"request"` // what an agent gets to know
	Want    [][]any        `json:"want"`    // the rows of the right answer; null if it has none or is not scored
	Ordered bool           `json:"ordered"` // whether their order counts
	Params  map[string]any `json:"params"`  // the values of the parameters of the right solution
}

// Print returns the set for another program.
func (c *Compiled) Print() Printed {
	p := Printed{Graph: c.Graph, Nodes: []PrintedType{}, Edges: []PrintedType{}, Data: string(c.Data), Tasks: []PrintedTask{}}
	for _, n := range c.Catalog.Nodes {
		t := PrintedType{Name: n.Name, Key: strings.Join(n.Key, ","), Properties: map[string]string{}}
		for _, q := range n.Properties {
			t.Properties[q.Name] = q.Type.String()
		}
		p.Nodes = append(p.Nodes, t)
	}
	for _, e := range c.Catalog.Edges {
		t := PrintedType{Name: e.Name, From: e.From, To: e.To, Properties: map[string]string{}}
		for _, q := range e.Properties {
			t.Properties[q.Name] = q.Type.String()
		}
		p.Edges = append(p.Edges, t)
	}
	for _, t := range c.Tasks {
		params := map[string]any{}
		for _, call := range slices.Backward(t.Right.Calls) {
			given, _ := call.Arguments["params"].(map[string]any)
			maps.Copy(params, given)
		}
		maps.DeleteFunc(params, func(_ string, v any) bool {
			text, ok := v.(string)
			return ok && strings.HasPrefix(text, "$")
		})
		p.Tasks = append(p.Tasks, PrintedTask{Name: t.Name, Kind: t.Kind, Request: request(&t), Want: t.Want, Ordered: t.Ordered, Params: params})
	}
	return p
}
