package builtin

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// referenceArgs are the arguments of gq_reference.
type referenceArgs struct {
	Topic  *string `json:"topic,omitempty" jsonschema_description:"Default: list topics."`
	Branch *string `json:"branch,omitempty" jsonschema_description:"Default main."`
}

// ReferenceAnswer is the answer of gq_reference: the list of topics, or one topic.
type ReferenceAnswer struct {
	Topics []TopicAnswer `json:"topics,omitempty" jsonschema_description:"Without a topic: all of them."`

	Topic    string          `json:"topic,omitempty"`   // name of the topic
	Summary  string          `json:"summary,omitempty"` // what the topic is about, in one line
	Text     string          `json:"text,omitempty" jsonschema_description:"The rules."`
	Examples []ExampleAnswer `json:"examples,omitempty"`
}

// TopicAnswer is a topic of the reference.
type TopicAnswer struct {
	Topic   string `json:"topic"`   // name of the topic
	Summary string `json:"summary"` // one line
}

// ExampleAnswer is an example of the reference.
type ExampleAnswer struct {
	Title  string `json:"title"` // name of the construct
	Query  string `json:"query"` // text of the query
	Schema string `json:"schema,omitempty" jsonschema_description:"The schema of the example, if this graph has no types that can show it."`
}

// reference returns the tool gq_reference.
func reference() tool.Tool {
	var names []string
	for _, t := range guide.Topics() {
		names = append(names, t.Name)
	}
	return &builtin{
		desc: reader[referenceArgs, ReferenceAnswer](tool.Descriptor{
			Name:  "gq_reference",
			Title: "Query language reference",
			Description: "Teaches the query language GQ and its syntax, by topic, with examples in this graph's own names. " +
				"Call it before you write your first query: GQ differs from the languages that you know. " +
				"The topics are " + strings.Join(names, ", ") + ".",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			topic, branch := orEmpty(o.OptString("topic")), named(o, "branch")
			if err := o.Done(); err != nil {
				return nil, err
			}
			return readsBranch(branch, "ask for another topic", func(ctx context.Context, env *tool.Env, branch tool.Branch) (any, string, error) {
				s, err := env.Graph.Schema(ctx, branch.At())
				if err != nil {
					return nil, "", err
				}
				if topic == "" {
					a := &ReferenceAnswer{}
					for _, t := range guide.Topics() {
						a.Topics = append(a.Topics, TopicAnswer{Topic: t.Name, Summary: t.Summary})
					}
					return a, "", nil
				}
				page := guide.Explain(s.Catalog, topic)
				if page == nil {
					e := &tool.ArgumentError{Path: "topic", Detail: "there is no topic " + topic, Help: diag.DidYouMean(topic, names)}
					if e.Help == "" {
						e.Help = "the topics are " + strings.Join(names, ", ")
					}
					return nil, "", e
				}
				a := &ReferenceAnswer{Topic: page.Name, Summary: page.Summary, Text: page.Text}
				for _, e := range page.Examples {
					a.Examples = append(a.Examples, ExampleAnswer(e))
				}
				return a, "", nil
			}), nil
		},
	}
}
