package operations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// QueryDraft is a proposed query.
type QueryDraft struct {
	Name, Text string
	Proposal   string // the id of the proposal; empty for a new one
}

// QueryPublisher serves proposed queries.
type QueryPublisher interface {
	// Draft says what changes for callers of the tools if the query is published. The error says why it cannot be.
	Draft(ctx context.Context, q QueryDraft) (changes []string, err error)

	// Publish makes all servers of the graph serve the query. This one does when Publish returns. Publish may be repeated.
	Publish(ctx context.Context, q QueryDraft, actor string) error

	// Published lists the published queries that are in no file of the cluster, by name.
	Published() []QueryDraft
}

// QueryServer is a [tool.Server] that may publish queries.
type QueryServer interface {
	// QueryPublisher returns nil if the server cannot publish queries.
	QueryPublisher() QueryPublisher

	// QueryTaken says why a proposed query cannot have the name, or returns "".
	QueryTaken(name string) string

	// Resembling returns the names of stored queries that the caller may see and that match a text best.
	Resembling(ctx context.Context, text string, n int) []string
}

// The limits of proposed queries.
const (
	maxQuestions    = 20
	maxExampleRows  = 10
	maxExampleBytes = 16 << 10
	maxResembling   = 3
	exampleTime     = 3 * time.Second // for the example answer of one request
)

var errNoPublisher = &engine.Conflict{Reason: "this server serves no proposed queries, because no revision is applied, or because of --compiled-only; apply one with omnigraph cluster apply"}

// queriesOf returns the part of the server that publishes queries. The error is an *engine.Conflict if there is none.
func queriesOf(env *tool.Env) (QueryServer, QueryPublisher, error) {
	s, ok := env.Server.(QueryServer)
	if !ok {
		return nil, nil, errNoPublisher
	}
	p := s.QueryPublisher()
	if p == nil {
		return nil, nil, errNoPublisher
	}
	return s, p, nil
}

// ProposeQuery returns the call that proposes a stored query. If the caller has an open proposal of a query with this name, the call
// changes that one.
func ProposeQuery(b client.QueryProposalBody) *Proposal {
	return &Proposal{
		needs:  []tool.Need{{Action: tool.QueryPropose}, access.ToRead("")},
		writes: true, step: StepSubmit, log: append([]string{b.Name, b.Query, b.Description, b.Why}, b.Questions...),
		run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
			s, publisher, err := queriesOf(env)
			if err != nil {
				return nil, err
			}
			text, err := proposedText(ctx, env, &b)
			if err != nil {
				return nil, err
			}
			if reason := s.QueryTaken(b.Name); reason != "" {
				return nil, &tool.ArgumentError{Path: "name", Detail: reason, Help: "choose another name; a proposed query replaces none"}
			}
			if _, err := publisher.Draft(ctx, QueryDraft{Name: b.Name, Text: text}); err != nil {
				return nil, err
			}
			opened := event(env, engine.EventOpened, text)
			p := &engine.Proposal{Author: env.Actor}
			open, err := restricted.Whole(env.Graph).Proposals(ctx, engine.ProposalRange{State: engine.ProposalOpen})
			if err != nil {
				return nil, err
			}
			for i := range open {
				o := &open[i]
				if o.Author != env.Actor || queryName(o) != b.Name {
					continue // so that only this one is compared
				}
				shown, err := restricted.Shows(ctx, env.Graph, o)
				if err != nil {
					return nil, err
				}
				if shown {
					p, opened.Kind = o, engine.EventChanged
				}
			}
			first, _, _ := strings.Cut(b.Description, "\n")
			title := []rune(b.Name + titleSeparator + first)
			p.Title, p.Description, p.Events = string(title[:min(len(title), maxTitle)]), b.Why, append(p.Events, opened)
			return putProposal(ctx, env, p)
		},
	}
}

// titleSeparator follows the name of the query in the title of a proposal. Nobody can change this title.
const titleSeparator = ": "

// queryName returns the name of the query that a proposal is about, or "" if it is about a branch.
func queryName(p *engine.Proposal) string {
	if p.Query() == "" {
		return ""
	}
	name, _, _ := strings.Cut(p.Title, titleSeparator)
	return name
}

// draftOf returns the query of a proposal.
func draftOf(p *engine.Proposal) QueryDraft { return QueryDraft{queryName(p), p.Query(), p.ID} }

// proposedText checks a proposed query, and returns its formatted text with the description and the questions. The error is a
// *tool.ArgumentError or a *wireerror.Rejected if the query is at fault.
func proposedText(ctx context.Context, env *tool.Env, b *client.QueryProposalBody) (string, error) {
	schema, err := env.Graph.Schema(ctx, engine.Target{})
	if err != nil {
		return "", err
	}
	q, err := oneQuery(ctx, env, schema.Catalog, b.Query)
	if err != nil {
		return "", err
	}
	if err := checkProposed(q, b); err != nil {
		return "", err
	}
	plain, faults := gq.Format(gq.Source{Name: sourceName, Text: b.Query})
	if faults.HasErrors() {
		return "", rejected(faults, b.Query)
	}
	text := annotated(plain, b)
	// The text was edited as a text, in which a comment may have taken the annotations. So compile it again, and compare.
	again, err := oneQuery(ctx, env, schema.Catalog, text)
	if err != nil {
		return "", err
	}
	if again.Description != b.Description || !slices.Equal(again.Questions, b.Questions) {
		return "", &tool.ArgumentError{Path: "query", Detail: "the place between the parameters and the body has comments", Help: "move them into the body"}
	}
	text, faults = gq.Format(gq.Source{Name: sourceName, Text: text})
	return text, faults.Err()
}

// checkProposed checks that a query can be proposed, and that reviewers get what they need. The error is a *tool.ArgumentError.
func checkProposed(q *gq.Query, b *client.QueryProposalBody) error {
	refuse := func(path, detail, help string) error {
		return &tool.ArgumentError{Path: path, Detail: detail, Help: help}
	}
	switch {
	case q.Plan.Name != b.Name:
		return refuse("name", fmt.Sprintf("found %q, but the text has the query %s", b.Name, q.Plan.Name), "give both the same name")
	case q.Plan.Mutation != nil:
		return refuse("query", "found a mutation, expected a read: in this version only reads can be proposed", "put mutations into a .gq file of the cluster and run omnigraph cluster apply")
	case q.Description != "" || q.Instruction != "" || q.Questions != nil || q.MustBeEmpty != "" || q.ToolName != "" || q.Title != "" || !q.Expose || q.Idempotent != nil:
		return refuse("query", "found an annotation of the query, expected none", "give its description and its questions in description and questions")
	case strings.TrimSpace(b.Description) == "":
		return refuse("description", "found an empty text, expected what the query answers", "")
	case strings.TrimSpace(b.Why) == "":
		return refuse("why", "found an empty text, expected the reason for the reviewer", "")
	case len(b.Questions) > maxQuestions:
		return refuse("questions", fmt.Sprintf("found %d questions, expected at most %d", len(b.Questions), maxQuestions), "keep those that differ most")
	}
	for _, p := range q.Plan.Declared() {
		if !p.Optional() && p.Default.IsNull() && len(p.Examples) == 0 {
			return refuse("query", "the required parameter $"+p.Name+" has no @example, so no answer can be shown to reviewers", "write an @example(…) after its type")
		}
	}
	return nil
}

// annotated returns the formatted text of a query with annotations for the description and the questions. It returns the text as it is if
// it finds no place for them.
func annotated(plain string, b *client.QueryProposalBody) string {
	at := queryHead.FindStringIndex(plain)
	if at == nil {
		return plain
	}
	annotations := "\n  @description(" + quoted(b.Description) + ")"
	for _, question := range b.Questions {
		annotations += "\n  @question(" + quoted(question) + ")"
	}
	return plain[:at[0]+1] + annotations + plain[at[0]+1:]
}

// queryHead matches the end of the parameters and the start of the body of a formatted query without annotations.
var queryHead = regexp.MustCompile(`\) \{(\s|//.*\n)*match\b`)

// quoted returns a string of GQ.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s) + `"`
}

// oneQuery compiles a text that has one query.
func oneQuery(ctx context.Context, env *tool.Env, s *catalog.Schema, text string) (*gq.Query, error) {
	queries, faults, err := Compile(ctx, env, "query", s, text)
	switch {
	case err != nil:
		return nil, err
	case faults.HasErrors():
		return nil, rejected(faults, text)
	case len(queries) != 1:
		return nil, &tool.ArgumentError{Path: "query", Detail: fmt.Sprintf("found %d queries, expected one", len(queries)), Help: "propose each query by itself"}
	}
	return queries[0], nil
}

// rejected returns the error for a proposed text with faults.
func rejected(faults diag.List, text string) error {
	return &wireerror.Rejected{Diagnostics: faults.Cut(maxFaults), Sources: map[string]string{sourceName: text}, Example: exampleRead}
}

// comparedQuery prepares the answer about a proposal of a query.
func comparedQuery(env *tool.Env, p *engine.Proposal) *comparedProposal {
	sum := sha256.Sum256([]byte(p.Query()))
	s := &comparedProposal{env: env, proposal: p, contributors: map[string]string{}}
	s.comparison = &engine.Comparison{Digest: "sha256:" + hex.EncodeToString(sum[:]), Outcome: engine.Merged}
	for _, actor := range participants(p.Author) {
		s.contributors[actor] = ""
	}
	return s
}

// describeQuery sets what the viewer sees of the proposed query, and why it cannot be merged.
func (s *comparedProposal) describeQuery(ctx context.Context) {
	env, p := s.env, s.proposal
	draft := draftOf(p)
	w := &client.ProposedQuery{Name: draft.Name, Text: draft.Text, Resembles: []string{}, Findings: []string{}, Changes: []string{}}
	s.query = w
	server, publisher, err := queriesOf(env)
	if err != nil {
		s.unfit = err.Error()
	} else {
		w.Resembles = slices.DeleteFunc(server.Resembling(ctx, p.Title+" "+p.Query(), maxResembling+1), func(name string) bool { return name == draft.Name })
		w.Resembles = w.Resembles[:min(len(w.Resembles), maxResembling)]
		if p.State == engine.ProposalOpen {
			if w.Changes, err = publisher.Draft(ctx, draft); err != nil {
				s.unfit = "the query cannot be added: " + err.Error()
			} else if reason := server.QueryTaken(draft.Name); reason != "" && !published(publisher, draft) {
				s.unfit = reason
			}
		}
	}
	schema, err := env.Graph.Schema(ctx, engine.Target{})
	if err != nil {
		s.unfit = err.Error()
		return
	}
	queries, faults, findings, err := compileLinted(ctx, env, "query", schema.Catalog, draft.Text)
	if err == nil {
		err = faults.Err()
	}
	if err != nil || len(queries) != 1 {
		s.unfit = fmt.Sprintf("the query does not fit the schema of main: %v", err)
		return
	}
	w.Findings = append(w.Findings, findingsOn(queries[0], nil, findings)...)
	q := queries[0].Plan
	if e, err := env.Graph.Explain(ctx, q, nil, engine.Target{}, false); err == nil {
		w.Plan, w.Cost = e.String(), cost(e.Plan)
	}
	w.Example = exampleOf(ctx, env, q)
}

// published reports whether the query of a proposal is published already: the server stopped before it could store the merge.
func published(publisher QueryPublisher, q QueryDraft) bool {
	return slices.ContainsFunc(publisher.Published(), func(o QueryDraft) bool { return o.Name == q.Name && o.Proposal == q.Proposal })
}

// cost returns the number of rows that operators are expected to yield.
func cost(operators []*engine.Operator) (sum float64) {
	for _, o := range operators {
		sum += o.Estimate + cost(o.Children)
	}
	return sum
}

// exampleOf runs a query for the viewer, with the examples of its parameters.
func exampleOf(ctx context.Context, env *tool.Env, q *plan.Query) *client.QueryExample {
	x := &client.QueryExample{Rows: []client.Row{}}
	args, params := engine.Args{}, map[string]json.RawMessage{}
	for _, p := range q.Declared() {
		v := p.Default
		if len(p.Examples) > 0 {
			if v = p.Examples[0]; p.Type.List {
				v = value.OfList(p.Type.Kind, p.Examples)
			}
		}
		args, params[p.Name] = append(args, v), encoding.ValueJSON(v, encoding.ValuesIn(env))
	}
	x.Params, _ = json.Marshal(params) // of valid JSON
	ctx, cancel := context.WithTimeout(ctx, exampleTime)
	defer cancel()
	res, err := env.Graph.Query(ctx, q, env.Caller.With(q.Params, args), engine.Target{Now: env.Now})
	var rows [][]json.RawMessage
	if err == nil {
		defer res.Close()
		rows, x.MoreRows, err = encoding.FirstRowsAs(ctx, res, maxExampleRows, maxExampleBytes, encoding.ValuesIn(env))
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		x.Error = fmt.Sprintf("the query took longer than %s", exampleTime)
	case err != nil && wireerror.Explain(err).Operational:
		x.Error = "the query failed"
	case err != nil:
		x.Error = strings.TrimSpace(err.Error())
	default:
		for _, row := range rows[0] {
			x.Rows = append(x.Rows, client.Row(row))
		}
	}
	return x
}

// mergeQuery publishes the query of a proposal, and stores that the proposal is merged. If the server stops between the two, the next
// merge does the rest.
func mergeQuery(ctx context.Context, env *tool.Env, p *engine.Proposal, b *client.ProposalMergeBody) (*tool.Outcome, error) {
	if err := env.Require(tool.Grant{Action: tool.QueryPublish}); err != nil {
		return nil, err
	}
	switch p.State {
	case engine.ProposalMerged:
		return proposalOutcome(ctx, env, p)
	case engine.ProposalClosed:
		return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s is closed, which is final; propose the query again", p.ID)}
	}
	for _, actor := range participants(env.Actor) {
		for _, author := range participants(p.Author) {
			if actor == author || env.Owns(actor, author) || env.Owns(author, actor) {
				return nil, &engine.Conflict{Reason: fmt.Sprintf("%s proposed the query of proposal %s, alone or through others, so another actor must merge it", name(author), p.ID)}
			}
		}
	}
	s := compareProposal(ctx, env, p)
	if err := s.checkDigest(b.Digest); err != nil {
		return nil, err
	}
	s.describeQuery(ctx)
	if blockers := s.blockers(); len(blockers) > 0 {
		return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s cannot be merged yet: %s", p.ID, strings.Join(blockers, "; "))}
	}
	_, publisher, err := queriesOf(env)
	if err != nil {
		return nil, err
	}
	if err := publisher.Publish(ctx, draftOf(p), env.Actor); err != nil {
		return nil, err
	}
	done := event(env, engine.EventMerged, b.Comment)
	done.Digest = s.comparison.Digest
	merged := *p
	merged.State, merged.Events = engine.ProposalMerged, append(slices.Clone(p.Events), done)
	return putProposal(context.WithoutCancel(ctx), env, &merged) // the query is published, so the end of the call's time must not hide it
}

// PublishedQueries is the call that lists the proposed queries that were merged and that the caller may run.
type PublishedQueries struct{}

// Needs implements [tool.Call].
func (PublishedQueries) Needs() []tool.Need { return []tool.Need{access.ToRead("")} }

// Run implements [tool.Call].
func (PublishedQueries) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	list := &client.PublishedQueries{Queries: []client.PublishedQuery{}}
	if _, publisher, err := queriesOf(env); err == nil {
		seen := env.Queries(ctx)
		for _, q := range publisher.Published() {
			if slices.ContainsFunc(seen, func(s tool.StoredQuery) bool { return s.Info().Name == q.Name }) {
				list.Queries = append(list.Queries, client.PublishedQuery{Name: q.Name, Text: q.Text, ProposalID: q.Proposal})
			}
		}
	}
	return &tool.Outcome{Value: list}, nil
}
