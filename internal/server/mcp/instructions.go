package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The sentences of the instructions, which tell a model how to begin.
const (
	// noCode comes first if the schema has the type Symbol and the graph has no node of it.
	noCode         = `This code graph is empty: call code_index first, such as with {"dir": "."}.`
	whatItIs       = "This server is one typed property graph with branches and commits."
	learnTypes     = "Start with type_describe: it lists the node and edge types, or returns what a query needs to know about one type."
	learnLanguage  = "Before you write a query, read gq_reference: it teaches the query language by topic, with examples in this graph's own names."
	writingQueries = "check it with query_validate and run it with graph_query."
	spelling       = "Type names start upper-case; an edge is written with a lower-case first letter."
	writes         = "Tools that write say so in their hints; each write is one commit."
	drafts         = `A write without a branch goes to your draft, a branch of your own: read it with branch: "draft".`
	submit         = `When it is done, send it to a reviewer with proposal_submit, source: "draft". Later, proposal_get shows conflicts and whether the reviewer wants changes.`
	reading        = "Calls share options: branch, default main; snapshot, a commit or an instant to read instead; page_token."
	writing        = "Writes also take dry_run, which commits nothing; idempotency_key, with which a repeat within a day changes nothing; if_commit, the head that the branch must have; message, a line on why."
	flat           = `Of a stored query, these stand in the member "_", beside the parameters.`
	rows           = "A row is an array of its values, in the order of columns."
	cut            = "A result that was cut says truncated: true; then ask for less or, if the result has a next_page_token, call again with that as page_token."
	faults         = "An error says what it found and what it expected."
)

// The texts that tell a model how to run stored queries, for the two modes. The first two are parts
// of a sentence about all queries. The last two are for a caller who has no other queries.
const (
	preferTools     = `Prefer a stored query, which is a tool of its own with typed parameters inside "params", when one fits; otherwise write GQ, `
	preferMetaTools = "Prefer a stored query, which " + metatools.ListQueries + " finds and " + metatools.RunQuery + " runs, when one fits; otherwise write GQ, "
	useTools        = `Use the stored queries: each is a tool of its own with typed parameters inside "params".`
	useMetaTools    = "Use the stored queries, which " + metatools.ListQueries + " finds and " + metatools.RunQuery + " runs."
)

// served says what instructions depend on, apart from the tools.
type served struct {
	stored   bool // the caller may run stored queries
	meta     bool // the meta tools run them
	confined bool // the policy confines the caller's writes to drafts
	flat     bool // the tools of stored queries take parameters at the top
	objects  bool // rows are objects
}

// servedTo returns what instructions for an actor depend on. The argument `stored` is as in served.
func (s *surface) servedTo(actor *access.Actor, stored bool) served {
	return served{stored, s.graph.Meta(), s.graph.Confined(actor), s.graph.FlatArguments(), s.graph.ObjectRows()}
}

// instructions returns the instructions for the caller.
func (s *surface) instructions(ctx context.Context) (string, error) {
	actor := access.ActorFrom(ctx)
	seen, err := s.listed(ctx)
	if err != nil {
		return "", err
	}
	text := instructionsFor(seen, s.servedTo(actor, len(s.graph.SeenQueries(ctx, actor)) > 0))
	if !namesOf(seen)["code_index"] || !s.graph.Allowed(actor, access.ReadOn(tool.Branch{})) {
		return text, nil
	}
	counts, err := s.graph.Counts(ctx, actor)
	if err != nil {
		return "", err
	}
	if slices.Contains(counts.Nodes, engine.TypeCount{Type: "Symbol"}) {
		text = noCode + " " + text
	}
	return text, nil
}

// instructionsFor returns the instructions for a caller who sees the tools. They mention no other
// tool.
func instructionsFor(seen []*tool.Descriptor, is served) string {
	sees := namesOf(seen)
	sentences := []string{whatItIs}
	if sees["type_describe"] {
		sentences = append(sentences, learnTypes)
	}
	own := sees["query_validate"] && sees["graph_query"]
	if (own || sees["graph_mutate"]) && sees["gq_reference"] {
		sentences = append(sentences, learnLanguage)
	}
	prefer, use := preferTools, useTools
	switch {
	case is.meta:
		prefer, use = preferMetaTools, useMetaTools
	case is.flat:
		inside := strings.NewReplacer(` inside "params"`, "")
		prefer, use = inside.Replace(prefer), inside.Replace(use)
	}
	switch {
	case is.stored && own:
		sentences = append(sentences, prefer+writingQueries)
	case is.stored:
		sentences = append(sentences, use)
	case own:
		sentences = append(sentences, "Write GQ, "+writingQueries)
	}
	if sees["graph_mutate"] && !own {
		sentences = append(sentences, spelling)
	}
	changes := slices.ContainsFunc(seen, func(d *tool.Descriptor) bool { return !d.ReadOnly })
	if changes {
		sentences = append(sentences, writes)
		if is.confined {
			sentences = append(sentences, drafts)
		}
		if is.confined && sees["proposal_submit"] && sees["proposal_get"] {
			sentences = append(sentences, submit)
		}
	}
	if own || is.stored {
		sentences = append(sentences, reading)
		if changes {
			sentences = append(sentences, writing)
		}
		if is.flat && is.stored && !is.meta {
			sentences = append(sentences, flat)
		}
		if !is.objects {
			sentences = append(sentences, rows)
		}
	}
	if len(seen) > 0 {
		sentences = append(sentences, cut)
	}
	return strings.Join(append(sentences, faults), " ")
}
