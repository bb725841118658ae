package builtin

import (
	"context"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The limits of change_list.
const (
	defaultChanges, maxChanges = 100, 1000 // default and maximum of limit

	// maxChangeBytes is the maximum size of the changes of one page as JSON. A page has at
	// least one change, even if that change is larger.
	maxChangeBytes = 1 << 20
)

// changeListArgs are the arguments of change_list.
type changeListArgs struct {
	Commit    string  `json:"commit"`
	Branch    *string `json:"branch,omitempty" jsonschema_description:"Where the commit is; default main."`
	Limit     *int32  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000" jsonschema_default:"100"`
	PageToken *string `json:"page_token,omitempty"`
}

// ChangeListResult is the answer of change_list.
type ChangeListResult struct {
	GraphCommitID string         `json:"graph_commit_id"` // id of the commit
	Nodes         CountsAnswer   `json:"nodes" jsonschema_description:"Counts all of the commit's changes, on all pages."`
	Edges         CountsAnswer   `json:"edges" jsonschema_description:"Counts all of the commit's changes, on all pages."`
	Changes       []ChangeAnswer `json:"changes" jsonschema_description:"Nodes, then edges, each by the name of the type and by id."`
	NextPageToken string         `json:"next_page_token,omitempty" jsonschema_description:"There are more; send it to see them."`
}

// ChangeAnswer is the change that a commit made to one entity.
type ChangeAnswer struct {
	Kind       string           `json:"kind" jsonschema:"enum=node,enum=edge"`
	Op         string           `json:"op" jsonschema:"enum=insert,enum=update,enum=delete"`
	Type       string           `json:"type"` // name of the type
	ID         string           `json:"id"`
	From       *EdgeEnd         `json:"from,omitempty" jsonschema_description:"Of an edge: the id of its source, or {type, id} at an interface."`
	To         *EdgeEnd         `json:"to,omitempty" jsonschema_description:"The same of its target."`
	Properties []PropertyChange `json:"properties" jsonschema_description:"Those with another value than before; of an inserted or deleted entity those that are not null."`
}

// EdgeEnd is the node at an end of an edge.
type EdgeEnd struct{ client.EdgeEnd }

// JSONTypes implements [jsonschema.Typed].
func (EdgeEnd) JSONTypes() []string { return []string{"string", "object"} }

// endsOf returns the ends of a changed edge, and nil for a node.
func endsOf(c *engine.EntityChange) (from, to *EdgeEnd) {
	if c.Entity != client.KindEdge {
		return nil, nil
	}
	return &EdgeEnd{client.EdgeEnd{Type: c.FromType, ID: c.From}}, &EdgeEnd{client.EdgeEnd{Type: c.ToType, ID: c.To}}
}

// PropertyChange is a property with a changed value.
type PropertyChange struct {
	Name string          `json:"name"`
	Old  json.RawMessage `json:"old" jsonschema_description:"Null where there was none."`
	New  json.RawMessage `json:"new" jsonschema_description:"Null where there is none."`
}

// changeList returns the tool change_list.
func changeList() tool.Tool {
	return &builtin{
		desc: reader[changeListArgs, ChangeListResult](tool.Descriptor{
			Name:        "change_list",
			Title:       "List changes",
			Description: "Lists what exactly a commit altered: the nodes and edges that it added, modified or removed, with the old and the new values. commit_list has the ids of commits.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			commit, branch := o.String("commit"), named(o, "branch").OrMain()
			limit := within(o, "limit", defaultChanges, maxChanges)
			token := orEmpty(o.OptString("page_token"))
			if err := o.Done(); err != nil {
				return nil, err
			}
			return &operations.Look{Branch: branch, Commit: commit, Whole: true, Less: "set a smaller limit; if a single change is larger than an answer, read its entity with graph_query", Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
				after, err := operations.OpenChanges(env, token, c.ID)
				if err != nil {
					return nil, err
				}
				changes, err := env.Graph.Changes(ctx, c.ID, engine.ChangeRange{After: after, Limit: limit})
				if err != nil {
					return nil, operations.LostChanges(err, token, c.ID)
				}
				return changesAnswer(env, changes)
			}}, nil
		},
	}
}

// forModel are the options for JSON that a model reads.
var forModel = encoding.Options{SafeIntegers: true}

// changesFrame is the approximate size in bytes of an answer without its changes.
const changesFrame = 1 << 10

// changesAnswer makes a page that has at most env.MaxBytes bytes of JSON, if that is not 0, and
// at most maxChangeBytes.
func changesAnswer(env *tool.Env, changes *engine.Changes) (*ChangeListResult, error) {
	a := &ChangeListResult{
		GraphCommitID: changes.Commit.ID, Nodes: CountsAnswer(changes.Nodes), Edges: CountsAnswer(changes.Edges), Changes: []ChangeAnswer{},
	}
	room := maxChangeBytes
	if env.MaxBytes > 0 {
		room = min(room, env.MaxBytes-changesFrame)
	}
	more, bytes := changes.More, 0
	for i := range changes.List {
		c := &changes.List[i]
		change := ChangeAnswer{Kind: c.Entity, Op: encoding.Ops[c.Kind], Type: c.Type, ID: c.ID, Properties: []PropertyChange{}}
		change.From, change.To = endsOf(c)
		for _, p := range c.Properties {
			values := PropertyChange{Name: p.Name, Old: encoding.ChangedJSON(c.Entity, p.Name, p.Old, forModel), New: encoding.ChangedJSON(c.Entity, p.Name, p.New, forModel)}
			change.Properties = append(change.Properties, values)
		}
		b, err := encoding.JSON(change)
		if err != nil {
			return nil, err
		}
		if bytes += len(b) + 1; i > 0 && bytes > room {
			more = true
			break
		}
		a.Changes = append(a.Changes, change)
	}
	if n := len(a.Changes); more && n > 0 {
		a.NextPageToken = operations.ChangePage{Commit: changes.Commit.ID, After: changes.List[n-1].Position()}.Token(env)
	}
	return a, nil
}
