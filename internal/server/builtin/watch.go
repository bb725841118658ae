package builtin

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// watchArgs are the arguments of graph_watch. Without any, it lists the watches of the caller.
type watchArgs struct {
	Query  *string        `json:"query,omitempty" jsonschema_description:"Make a watch of this stored read."`
	Params map[string]any `json:"params,omitempty" jsonschema_description:"Arguments of the query."`
	Branch *string        `json:"branch,omitempty" jsonschema_description:"Default main."`
	ID     *string        `json:"watch_id,omitempty" jsonschema_description:"Read this watch."`
	Cursor *string        `json:"cursor,omitempty" jsonschema_description:"Of the last answer: read only what changed since."`
	Delete *bool          `json:"delete,omitempty" jsonschema_description:"Delete the watch instead."`
	Hook   *string        `json:"webhook,omitempty" jsonschema_description:"Send the events of the new watch to this address."`
	Again  *bool          `json:"redeliver,omitempty" jsonschema_description:"Send what the webhook could not deliver again."`
}

// WatchResult is the answer of graph_watch: the members of a list, of a new watch, of an event or of a deletion.
type WatchResult struct {
	Watches []client.Watch `json:"watches,omitempty"`

	ID         string          `json:"watch_id,omitempty"`
	Query      string          `json:"query,omitempty"`
	Params     json.RawMessage `json:"params,omitempty" jsonschema:"type=object"`
	Branch     string          `json:"branch,omitempty"`
	DebounceMs *int64          `json:"debounce_ms,omitempty"`
	CreatedAt  int64           `json:"created_at,omitempty"`
	Webhook    *client.Webhook `json:"webhook,omitempty"`

	Cursor  string           `json:"cursor,omitempty" jsonschema_description:"For the next call."`
	From    any              `json:"from_commit_id,omitempty"`
	To      string           `json:"to_commit_id,omitempty"`
	Reset   any              `json:"reset,omitempty" jsonschema_description:"Why rows has the whole answer."`
	Rows    []map[string]any `json:"rows,omitempty"`
	Came    []map[string]any `json:"came,omitempty"`
	Went    []map[string]any `json:"went,omitempty"`
	Changed []map[string]any `json:"changed,omitempty" jsonschema_description:"Rows before and after."`

	Deleted string `json:"deleted,omitempty"`
}

// watch returns the tool graph_watch.
func watch() tool.Tool {
	return &builtin{
		desc: writer[watchArgs, WatchResult](tool.Descriptor{
			Name:        "graph_watch",
			Title:       "Watch an answer",
			Description: "Keeps a stored read as a watch, and tells how its rows changed since you last looked. Without arguments it lists your watches. You can subscribe to omnigraph://watches/ID.",
		}),
		// Everyone may watch unless a policy names the action, so the tool also needs what every stored query needs.
		gates: []tool.Grant{{Action: tool.Watch}, {Action: tool.Read, Via: tool.Stored}},
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			query, params, branch := o.OptString("query"), o.Raw("params"), named(o, "branch")
			r := &operations.WatchRequest{ID: orEmpty(o.OptString("watch_id")), Cursor: orEmpty(o.OptString("cursor"))}
			hook, gone, again := orEmpty(o.OptString("webhook")), o.OptBool("delete"), o.OptBool("redeliver")
			r.Delete, r.Again = gone != nil && *gone, again != nil && *again
			if query != nil {
				r.New = &operations.NewWatch{Query: *query, Params: params, Branch: branch, Webhook: hook}
			}
			if r.Delete && r.Again {
				o.Fail("redeliver", "found together with delete, expected only one of them", "")
			}
			if query != nil && r.ID != "" {
				o.Fail("watch_id", "found together with query, expected only one of them", "query makes a new watch, and watch_id reads one")
			}
			for _, m := range []string{"params", "branch", "webhook"} {
				if query == nil && o.Gives(m) {
					o.Fail(m, "found without query", "a stored watch has its own; make another one with query")
				}
			}
			for _, m := range []string{"cursor", "delete", "redeliver"} {
				if r.ID == "" && o.Gives(m) {
					o.Fail(m, "found without watch_id", "name the watch")
				}
			}
			return r, o.Done()
		},
	}
}
