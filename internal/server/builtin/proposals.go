package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// proposalSubmitArgs are the arguments of proposal_submit.
type proposalSubmitArgs struct {
	Proposal    *string `json:"proposal,omitempty" jsonschema_description:"Id, to change or close one; else opens one."`
	Source      *string `json:"source,omitempty" jsonschema_description:"New: branch with your changes."`
	Target      *string `json:"target,omitempty" jsonschema_description:"New: default main."`
	Title       *string `json:"title,omitempty" jsonschema_description:"The changes in one line; required if new."`
	Description *string `json:"description,omitempty" jsonschema_description:"Why."`
	Comment     *string `json:"comment,omitempty" jsonschema_description:"With proposal: what you changed."`
	Close       *bool   `json:"close,omitempty" jsonschema_description:"With proposal: close it, for good."`
}

// ProposalStatus is the answer of the tools that change a proposal. It has few members, because the
// list of tools may contain the output schema of each tool. The tool proposal_get returns the other
// members.
type ProposalStatus struct {
	ID            string   `json:"id"`    // identifies the proposal
	State         string   `json:"state"` // open, merged or closed
	Source        string   `json:"source"`
	Target        string   `json:"target"`
	Digest        string   `json:"digest"`
	ConflictCount int      `json:"conflict_count"`
	ApprovedBy    []string `json:"approved_by"`
	FailedChecks  []string `json:"failed_checks" jsonschema_description:"Checks that did not pass on the result of the merge."`
	Blockers      []string `json:"blockers" jsonschema_description:"What must happen before the merge."`
	Notes         []string `json:"notes,omitempty" jsonschema_description:"About conditions that are null."`
}

// statusOf converts the answer about a proposal to a ProposalStatus.
func statusOf(p *client.ProposalAnswer) any {
	failed := []string{}
	for _, c := range p.Checks {
		if c.Outcome != client.CheckPassed {
			failed = append(failed, c.Title)
		}
	}
	return &ProposalStatus{ID: p.ID, State: p.State, Source: p.Source, Target: p.Target, Digest: p.Digest, ConflictCount: p.ConflictCount, ApprovedBy: p.ApprovedBy,
		FailedChecks: failed, Blockers: p.Blockers, Notes: p.Notes}
}

// proposalSubmit returns the tool proposal_submit.
func proposalSubmit() tool.Tool {
	return &builtin{
		desc: writer[proposalSubmitArgs, ProposalStatus](tool.Descriptor{
			Name:  "proposal_submit",
			Title: "Submit a proposal",
			Description: "Suggests edits to main or another branch: asks a reviewer to merge your branch or draft, like a pull request, or changes or closes a proposal. " +
				"Later writes to the branch belong to the proposal.",
		}),
		gates: append(gate(tool.Change), gate(tool.Read)...),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			id, source, title, description := o.OptString("proposal"), orEmpty(o.OptString("source")), o.OptString("title"), o.OptString("description")
			target, comment, closes := orEmpty(o.OptString("target")), orEmpty(o.OptString("comment")), isTrue(o.OptBool("close"))
			if orEmpty(id) == "" {
				for _, name := range []string{"comment", "close"} {
					o.Refuse(name, "found without proposal", "leave it out to open a proposal, or give the id of a proposal")
				}
				if source == "" {
					o.Fail("source", "missing, expected the branch with your changes", "give the id in proposal to change an open proposal")
				}
				if title == nil {
					o.Fail("title", "missing, expected a title", "say in one line what the changes do")
				}
				if err := o.Done(); err != nil {
					return nil, err
				}
				return operations.Shaped(operations.OpenProposal(client.ProposalBody{Source: source, Target: target, Title: *title, Description: orEmpty(description)}), statusOf), nil
			}
			for _, name := range []string{"source", "target"} {
				o.Refuse(name, "found together with proposal, whose branches do not change", "leave it out, or open a new proposal")
			}
			if closes {
				for _, name := range []string{"title", "description"} {
					o.Refuse(name, "found together with close", "leave it out")
				}
			}
			if err := o.Done(); err != nil {
				return nil, err
			}
			if closes {
				return operations.Shaped(operations.CloseProposal(*id, client.ProposalCloseBody{Comment: comment}), statusOf), nil
			}
			return operations.Shaped(operations.ChangeProposal(*id, client.ProposalChangeBody{Title: title, Description: description, Comment: comment}), statusOf), nil
		},
	}
}

// proposalGetArgs are the arguments of proposal_get.
type proposalGetArgs struct {
	Proposal  *string `json:"proposal,omitempty" jsonschema_description:"Default: list them."`
	State     *string `json:"state,omitempty" jsonschema:"enum=open,enum=merged,enum=closed"`
	Author    *string `json:"author,omitempty"`
	Reviewer  *string `json:"reviewer,omitempty"`
	Target    *string `json:"target,omitempty"`
	Changes   *bool   `json:"changes,omitempty" jsonschema_description:"With proposal: list its changes."`
	Limit     *int32  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500" jsonschema_default:"50"`
	PageToken *string `json:"page_token,omitempty"`
}

// jsonObject holds the members of a struct of package client. The output schema does not describe
// these members, so that it stays short in each list of tools; the REST reference describes them.
type jsonObject map[string]json.RawMessage

// asObject converts a struct to a JSON object, and returns the members of the object.
func asObject(v any) jsonObject {
	b, err := encoding.JSON(v)
	var o jsonObject
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		panic("builtin: an answer is no JSON object: " + err.Error()) // the structs of package client always are
	}
	return o
}

// asObjects calls asObject for each struct of a list.
func asObjects[T any](list []T) []jsonObject {
	all := make([]jsonObject, len(list))
	for i := range list {
		all[i] = asObject(&list[i])
	}
	return all
}

// ProposalGetResult is the answer of proposal_get. Only one of its first three members is set: the
// list of proposals, newest first; one proposal; or the changes of one proposal: new and deleted nodes,
// then changed nodes, then edges.
type ProposalGetResult struct {
	Proposals     []jsonObject `json:"proposals,omitempty"`
	Proposal      jsonObject   `json:"proposal,omitempty"`
	Changes       []jsonObject `json:"changes,omitempty"`
	Digest        string       `json:"digest,omitempty"`
	Compares      string       `json:"compares,omitempty" jsonschema_description:"With changes: target_to_result, or base_to_source while there is no result."`
	Target        string       `json:"target_commit_id,omitempty" jsonschema_description:"With changes: the head of the target that before shows."`
	NextPageToken string       `json:"next_page_token,omitempty"`
}

// The default and the maximum of the argument `limit` of proposal_get.
const defaultProposals, maxProposals = 50, 500

// proposalGet returns the tool proposal_get.
func proposalGet() tool.Tool {
	return &builtin{
		desc: reader[proposalGetArgs, ProposalGetResult](tool.Descriptor{
			Name:  "proposal_get",
			Title: "Get proposals",
			Description: "Lists proposals, or shows one: who approved the request, its conflicts with base, ours and theirs, the checks that its result fails, comments of reviewers, and what blocks the merge. " +
				"With changes it lists what the merge changes, before and after.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			id := o.OptString("proposal")
			filter := client.ProposalQuery{State: orEmpty(o.OptEnum("state", "open", "merged", "closed")), Author: orEmpty(o.OptString("author")),
				Reviewer: orEmpty(o.OptString("reviewer")), Target: orEmpty(o.OptString("target"))}
			changes, limit, token := isTrue(o.OptBool("changes")), within(o, "limit", defaultProposals, maxProposals), orEmpty(o.OptString("page_token"))
			switch {
			case orEmpty(id) == "":
				o.Refuse("changes", "found without proposal", "give the id of a proposal")
			default:
				for _, name := range []string{"state", "author", "reviewer", "target"} {
					o.Refuse(name, "found together with proposal", "leave it out; it is for lists")
				}
				if !changes {
					for _, name := range []string{"limit", "page_token"} {
						o.Refuse(name, "found without changes: true", "leave it out, or list the changes")
					}
				}
			}
			if err := o.Done(); err != nil {
				return nil, err
			}
			switch {
			case orEmpty(id) == "":
				filter.Limit, filter.PageToken = limit, token
				return operations.Shaped(operations.ListProposals(filter), func(list *client.ProposalList) any {
					return &ProposalGetResult{Proposals: asObjects(list.Proposals), NextPageToken: list.NextPageToken}
				}), nil
			case changes:
				return operations.Shaped(operations.ListDigestedChanges(*id, engine.ChangeRange{Limit: limit}, token), func(page *operations.DigestedChanges) any {
					return &ProposalGetResult{Changes: asObjects(page.Changes), Digest: page.Digest, Compares: page.Compares, Target: page.TargetCommitID, NextPageToken: orEmpty(page.NextPageToken)}
				}), nil
			}
			return &shownProposal{operations.GetProposal(*id)}, nil
		},
	}
}

// shownProposal runs the call that describes a proposal. Its answer has the names of those checks only
// that the caller may know over MCP: stored queries that the module hides stay nameless.
type shownProposal struct{ tool.Call }

// Unwrap returns the call that shownProposal runs. The log describes that call.
func (c *shownProposal) Unwrap() tool.Call { return c.Call }

// Run implements [tool.Call].
func (c *shownProposal) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	out, err := c.Call.Run(ctx, env)
	if err != nil {
		return nil, err
	}
	p := out.Value.(*client.ProposalAnswer)
	seen := map[string]bool{}
	for _, q := range env.Queries(ctx) {
		seen[q.Info().Name] = true
	}
	for i := range p.Checks {
		if !seen[p.Checks[i].Query] {
			p.Checks[i].Query = ""
		}
	}
	out.Value = &ProposalGetResult{Proposal: asObject(p)}
	return out, nil
}

// proposalResolveArgs are the arguments of proposal_resolve.
type proposalResolveArgs struct {
	Proposal    string           `json:"proposal"`
	Resolutions []resolutionArgs `json:"resolutions" jsonschema_description:"One per conflict."`
	Digest      *string          `json:"digest,omitempty" jsonschema_description:"Fail unless it has this digest."`
	Comment     *string          `json:"comment,omitempty" jsonschema_description:"Why."`
}

// resolutionArgs is the resolution of one conflict. A value is given as text, because an argument
// of a tool has the same type in every call.
type resolutionArgs struct {
	EntityKind string  `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	TypeName   string  `json:"type_name"`
	ID         string  `json:"id"`
	Property   *string `json:"property,omitempty" jsonschema_description:"Omit for the whole entity."`
	Take       string  `json:"take" jsonschema:"enum=ours,enum=theirs,enum=value" jsonschema_description:"ours: the target; theirs: your branch."`
	Value      *string `json:"value,omitempty" jsonschema_description:"For take value: text; a list or {type, id} as JSON; omit for null."`
}

// maxResolutions is the maximum number of resolutions in one call.
const maxResolutions = 100

// proposalResolve returns the tool proposal_resolve.
func proposalResolve() tool.Tool {
	return &builtin{
		desc: writer[proposalResolveArgs, ProposalStatus](tool.Descriptor{
			Name:  "proposal_resolve",
			Title: "Resolve conflicts of a proposal",
			Description: "Settles the conflicts that stop a proposal from being merged, where both sides edited a value: choose one, keep ours or take theirs. proposal_get shows them. " +
				"If a conflict is not resolvable, write to your branch instead.",
		}),
		gates: append(gate(tool.Change), gate(tool.Read)...),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			id := o.String("proposal")
			body := client.ProposalChangeBody{Digest: o.Guard("digest"), Comment: orEmpty(o.OptString("comment"))}
			items, ok := o.Items("resolutions")
			switch {
			case !o.Has("resolutions"):
				o.Fail("resolutions", fmt.Sprintf("missing, expected an array of 1 to %d objects", maxResolutions), "")
			case !ok || len(items) == 0 || len(items) > maxResolutions:
				o.Fail("resolutions", fmt.Sprintf("found another value, expected an array of 1 to %d objects", maxResolutions), "")
			}
			for i, item := range items[:min(len(items), maxResolutions)] {
				r, err := decodeResolution(item)
				o.Merge(fmt.Sprintf("resolutions[%d]", i), err)
				body.Resolutions = append(body.Resolutions, r)
			}
			if err := o.Done(); err != nil {
				return nil, err
			}
			call := operations.ChangeProposal(id, body)
			call.Notes = o.Unguarded("digest")
			return operations.Shaped(call, statusOf), nil
		},
	}
}

// decodeResolution reads one resolution.
func decodeResolution(item json.RawMessage) (client.ConflictResolution, error) {
	o := arguments.Members(item)
	r := client.ConflictResolution{EntityKind: o.Enum("entity_kind", client.KindNode, client.KindEdge), TypeName: o.String("type_name"), ID: o.String("id"),
		Property: orEmpty(o.OptString("property")), Take: o.Enum("take", client.TakeOurs, client.TakeTheirs, client.TakeValue)}
	if v := o.OptString("value"); v != nil {
		b, err := encoding.JSON(*v)
		if err != nil {
			return r, err
		}
		r.Value = b
	}
	return r, o.Done()
}
