package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newProposal, newReviewKey) }

// newProposal makes the command omnigraph proposal.
func newProposal() *cobra.Command {
	return usage.Group("proposal", "Open, review and merge proposals", newProposalList(), newProposalSubmit(), newProposalQuery(), newProposalShow(), newProposalDiff(),
		newProposalEdit(), newProposalResolve(), newProposalReview(), newProposalMerge(), newProposalClose())
}

// proposalColumns are the columns of a list of proposals.
var proposalColumns = columns("id", "state", "source", "target", "title", "actor_id", "created_at")

// newProposalList makes the command omnigraph proposal list.
func newProposalList() *cobra.Command {
	var f graphFlags
	var q client.ProposalQuery
	cmd := &cobra.Command{
		Use:     "list (--store DIR | --server URL --graph ID)",
		Short:   "List the proposals, newest first",
		Example: "  omnigraph proposal list --store data/people\n  omnigraph proposal list --store data/people --state open --author act-bot",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.State != "" {
				if err := oneOf("state", []string{q.State}, "open", "merged", "closed"); err != nil {
					return err
				}
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				list, err := collectPages(s.graph.AllProposals(ctx, q))
				if err != nil {
					return nil, err
				}
				return &report{doc: map[string]any{"proposals": list}, columns: proposalColumns, rows: rowsOf(list), note: plural(int64(len(list)), "proposal")}, nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&q.State, "state", "", "list only proposals in this `STATE`: open, merged or closed")
	cmd.Flags().StringVar(&q.Source, "source", "", "list only proposals from this branch")
	cmd.Flags().StringVar(&q.Target, "target", "", "list only proposals for this branch")
	cmd.Flags().StringVar(&q.Author, "author", "", "list only proposals that this actor opened")
	cmd.Flags().StringVar(&q.Reviewer, "reviewer", "", "list only proposals that this actor approved or asked to change")
	return cmd
}

// newProposalSubmit makes the command omnigraph proposal submit.
func newProposalSubmit() *cobra.Command {
	var f graphFlags
	var b client.ProposalBody
	cmd := &cobra.Command{
		Use:   "submit (--store DIR | --server URL --graph ID) SOURCE --title TEXT",
		Short: "Open a proposal to merge a branch",
		Long: `Open a proposal to merge the branch SOURCE into another branch. Later writes to SOURCE become
part of the proposal, and end the approvals that it has.`,
		Example: "  omnigraph proposal submit --store data/people feature --title 'Correct the ages'",
		Args:    usage.Exactly("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "title"); err != nil {
				return err
			}
			b.Source = args[0]
			return f.run(cmd, proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
				return s.graph.OpenProposal(ctx, b)
			}))
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&b.Target, "into", "", "the branch that gets the changes (default: main)")
	cmd.Flags().StringVar(&b.Title, "title", "", "what the changes do, in one line of at most 200 characters")
	cmd.Flags().StringVar(&b.Description, "description", "", "why the changes are good, for the reviewer")
	return cmd
}

// newProposalQuery makes the command omnigraph proposal query.
func newProposalQuery() *cobra.Command {
	var f statementFlags
	var b client.QueryProposalBody
	cmd := &cobra.Command{
		Use:   "query (--store DIR | --server URL --graph ID) (--query FILE | -e TEXT) [NAME] --why TEXT",
		Short: "Propose a read as a stored query",
		Long: `Propose a read of a .gq file, standard input or the command line as a stored query, which is a tool for
agents. NAME is the query to propose; you can omit it if the text has only one query.

The description and the questions of the new tool are the annotations @description and @question of the
query, or the flags. Each required parameter needs an @example, with which the server computes an example
answer for reviewers. If you have an open proposal of a query with this name, the command changes it. The
server must serve an applied revision.`,
		Example: "  omnigraph proposal query --server http://127.0.0.1:8080 --graph shop --query cheap.gq --why 'I need it every day.'\n" +
			"  omnigraph proposal query --server http://127.0.0.1:8080 --graph shop --query cheap.gq cheap_items --why 'I need it every day.' --description 'The items at or below a price.'",
		Args: usage.AtMostOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "why"); err != nil {
				return err
			}
			s, err := f.statement(cmd, args)
			if err == nil {
				err = s.propose(&b)
			}
			if err != nil {
				return err
			}
			return f.run(cmd, proposalReport(func(ctx context.Context, src *source) (*client.ProposalAnswer, error) {
				a, err := src.graph.ProposeQuery(ctx, b)
				return a, withFileName(err, s.file, b.Query)
			}))
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&f.file, "query", "", "the .gq file, or - for standard input")
	cmd.Flags().StringVarP(&f.text, "text", "e", "", "the text of the query, instead of a file")
	cmd.Flags().StringVar(&b.Description, "description", "", "what the query answers and when to use it (default: its @description)")
	cmd.Flags().StringArrayVar(&b.Questions, "question", nil, "a `QUESTION` that the query answers; may be repeated (default: its annotations @question)")
	cmd.Flags().StringVar(&b.Why, "why", "", "why the query should be stored, for the reviewer")
	return cmd
}

// newProposalShow makes the command omnigraph proposal show.
func newProposalShow() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "show (--store DIR | --server URL --graph ID) PROPOSAL",
		Short:   "Show a proposal, its conflicts, its reviews, and what blocks its merge",
		Example: "  omnigraph proposal show --store data/people $PROPOSAL",
		Args:    usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
				return s.graph.Proposal(ctx, args[0])
			}))
		},
	}
	f.flags(cmd)
	return cmd
}

// newProposalDiff makes the command omnigraph proposal diff.
func newProposalDiff() *cobra.Command {
	var f graphFlags
	var q client.ChangeQuery
	cmd := &cobra.Command{
		Use:   "diff (--store DIR | --server URL --graph ID) PROPOSAL",
		Short: "List what a proposal would change",
		Long: `List what the merge of a proposal changes on the target, with the stored resolutions: new and
deleted nodes, then changed nodes, then edges, each sorted by type name and id. A table and CSV have a row for each
property whose value changes; JSON and NDJSON have an object for each entity, which shows the entity before and after.

The effect of a change is: changes, if the merge changes the target; already_there, if the target already has what
the source changed; kept, if a resolution keeps the state of the target. While the merge has conflicts without a
resolution, the command lists what the source changed since the merge base, with the effect undecided.`,
		Example: "  omnigraph proposal diff --store data/people $PROPOSAL\n  omnigraph proposal diff --store data/people $PROPOSAL --op insert,delete",
		Args:    usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("kind", q.Kinds, client.KindNode, client.KindEdge); err != nil {
				return err
			}
			if err := oneOf("op", q.Ops, client.OpInsert, client.OpUpdate, client.OpDelete); err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				a, err := s.ProposalChanges(ctx, args[0], q)
				if err != nil {
					return nil, err
				}
				return proposedReport(a), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringSliceVar(&q.Kinds, "kind", nil, "list only changes of this `KIND`: node or edge")
	cmd.Flags().StringSliceVar(&q.Types, "type", nil, "list only changes of entities of these `TYPES`, separated by commas")
	cmd.Flags().StringSliceVar(&q.Ops, "op", nil, "list only these `OPS`, separated by commas: insert, update, delete")
	return cmd
}

// newProposalEdit makes the command omnigraph proposal edit.
func newProposalEdit() *cobra.Command {
	var f graphFlags
	var title, description, comment string
	cmd := &cobra.Command{
		Use:     "edit (--store DIR | --server URL --graph ID) PROPOSAL",
		Short:   "Change the title or the description of an open proposal",
		Example: "  omnigraph proposal edit --store data/people $PROPOSAL --title 'Correct the ages of May'",
		Args:    usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b := client.ProposalChangeBody{Comment: comment}
			if cmd.Flags().Changed("title") {
				b.Title = &title
			}
			if cmd.Flags().Changed("description") {
				b.Description = &description
			}
			return f.run(cmd, proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
				return s.graph.ChangeProposal(ctx, args[0], b)
			}))
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&title, "title", "", "the new title")
	cmd.Flags().StringVar(&description, "description", "", "the new description")
	cmd.Flags().StringVar(&comment, "comment", "", "what you changed, for the reviewer")
	return cmd
}

// newProposalResolve makes the command omnigraph proposal resolve.
func newProposalResolve() *cobra.Command {
	var f graphFlags
	var r client.ConflictResolution
	var value, comment, digest string
	cmd := &cobra.Command{
		Use:   "resolve (--store DIR | --server URL --graph ID) PROPOSAL --type TYPE --id ID --take SIDE",
		Short: "Resolve a conflict of a proposal",
		Long: `Say how the merge of a proposal resolves one conflict. Take the type, the id and the property
of the conflict from: omnigraph proposal show. The side ours keeps the value of the target, theirs
takes the value of the source, and value sets the property to --value. With --digest the command
stores nothing if the changes or the resolutions are not those that you saw.`,
		Example: "  omnigraph proposal resolve --store data/people $PROPOSAL --type Person --id ada --property age --take theirs\n" +
			"  omnigraph proposal resolve --store data/people $PROPOSAL --type Person --id ada --property age --take value --value 37",
		Args: usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "type", "id", "take"); err != nil {
				return err
			}
			if err := oneOf("take", []string{r.Take}, client.TakeOurs, client.TakeTheirs, client.TakeValue); err != nil {
				return err
			}
			if err := oneOf("kind", []string{r.EntityKind}, client.KindNode, client.KindEdge); err != nil {
				return err
			}
			if cmd.Flags().Changed("value") {
				r.Value = json.RawMessage(value)
				if !json.Valid(r.Value) {
					r.Value = quoted(value)
				}
			}
			b := client.ProposalChangeBody{Comment: comment, Digest: digest, Resolutions: []client.ConflictResolution{r}}
			return f.run(cmd, proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
				a, err := s.graph.ChangeProposal(ctx, args[0], b)
				return a, flagError(err)
			}))
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&r.EntityKind, "kind", client.KindNode, "the `KIND` of the entity: node or edge")
	cmd.Flags().StringVar(&r.TypeName, "type", "", "the type of the entity")
	cmd.Flags().StringVar(&r.ID, "id", "", "the id of the entity")
	cmd.Flags().StringVar(&r.Property, "property", "", "the property; leave it out for a conflict about the whole entity")
	cmd.Flags().StringVar(&r.Take, "take", "", "the `SIDE`: ours, theirs or value")
	cmd.Flags().StringVar(&value, "value", "", "the value, as JSON or as a text (default: no value)")
	guardVar(cmd.Flags(), &digest, "digest", "resolve only if the changes have this digest")
	cmd.Flags().StringVar(&comment, "comment", "", "why, for the reviewer")
	return cmd
}

// flagError returns the error of a call with one resolution. If the error is about a member of the
// resolution, its text names the flag instead.
func flagError(err error) error {
	if err == nil {
		return nil
	}
	text, ok := strings.CutPrefix(err.Error(), "resolutions[0]")
	if !ok {
		return err
	}
	for member, flag := range map[string]string{".entity_kind: ": "--kind: ", ".type_name: ": "--type: ", ".id: ": "--id: ", ".property: ": "--property: ",
		".take: ": "--take: ", ".value: ": "--value: ", ": ": ""} {
		if rest, ok := strings.CutPrefix(text, member); ok {
			return &reworded{text: flag + rest, err: err}
		}
	}
	return err
}

// reworded is an error with another text.
type reworded struct {
	text string
	err  error
}

// Error returns the other text.
func (e *reworded) Error() string { return e.text }

// Unwrap returns the error that has the exit code.
func (e *reworded) Unwrap() error { return e.err }

// newProposalReview makes the command omnigraph proposal review.
func newProposalReview() *cobra.Command {
	var f graphFlags
	var approve, request bool
	b := client.ProposalReviewBody{Decision: client.DecisionComment}
	cmd := &cobra.Command{
		Use:   "review (--store DIR | --server URL --graph ID) PROPOSAL [--approve | --request-changes] [--comment TEXT]",
		Short: "Approve a proposal, ask for changes, or comment on it",
		Long: `Approve an open proposal, ask for changes, or comment on it. A decision is about the changes and
resolutions that you saw, which have a digest. Take it from: omnigraph proposal show. With
--digest the command refuses the decision if the proposal has changed since; without it, the
decision is about the proposal as it is.`,
		Example: "  omnigraph proposal review --store data/people --as act-rob $PROPOSAL --approve\n  omnigraph proposal review --store data/people --as act-rob $PROPOSAL --request-changes --comment 'Ada is 37.'",
		Args:    usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case approve && request:
				return usage.Errorf("--approve and --request-changes are both given; choose one")
			case approve:
				b.Decision = client.DecisionApprove
			case request:
				b.Decision = client.DecisionRequest
			case b.Comment == "":
				return usage.Errorf("--approve, --request-changes and --comment are missing; give one of them")
			}
			return f.run(cmd, proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
				if b.Decision != client.DecisionComment && b.Digest == "" {
					p, err := s.graph.Proposal(ctx, args[0])
					if err != nil {
						return nil, err
					}
					b.Digest = p.Digest
				}
				return s.graph.ReviewProposal(ctx, args[0], b)
			}))
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&approve, "approve", false, "approve the proposal")
	cmd.Flags().BoolVar(&request, "request-changes", false, "ask for changes")
	cmd.Flags().StringVar(&b.Comment, "comment", "", "the comment")
	guardVar(cmd.Flags(), &b.Digest, "digest", "the digest of the changes that you saw")
	return cmd
}

// newProposalMerge makes the command omnigraph proposal merge.
func newProposalMerge() *cobra.Command {
	var f graphFlags
	var b client.ProposalMergeBody
	cmd := &cobra.Command{
		Use:   "merge (--store DIR | --server URL --graph ID) PROPOSAL",
		Short: "Merge a proposal, as one commit",
		Long: `Merge a proposal, as one commit. If something blocks the merge, the command says what, and
commits nothing. If there are conflicts, it prints them in the chosen format, and exits with code 4.`,
		Example: "  omnigraph proposal merge --store data/people $PROPOSAL",
		Args:    usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				r, err := proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
					return s.MergeProposal(ctx, args[0], b)
				})(ctx, s)
				if conflicts := (*conflicted)(nil); errors.As(err, &conflicts) {
					return conflicts.report(), err
				}
				return r, err
			})
		},
	}
	f.flags(cmd)
	guardVar(cmd.Flags(), &b.Digest, "digest", "merge only if the changes have this digest")
	cmd.Flags().StringVar(&b.Comment, "comment", "", "a comment for the proposal")
	messageVar(cmd, &b.Message)
	return cmd
}

// newProposalClose makes the command omnigraph proposal close.
func newProposalClose() *cobra.Command {
	var f graphFlags
	var b client.ProposalCloseBody
	cmd := &cobra.Command{
		Use:     "close (--store DIR | --server URL --graph ID) PROPOSAL",
		Short:   "Close a proposal without a merge",
		Example: "  omnigraph proposal close --store data/people $PROPOSAL --comment 'No longer needed.'",
		Args:    usage.Exactly("PROPOSAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, proposalReport(func(ctx context.Context, s *source) (*client.ProposalAnswer, error) {
				return s.graph.CloseProposal(ctx, args[0], b)
			}))
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&b.Comment, "comment", "", "why the proposal is closed")
	return cmd
}

// proposalReport returns a function for graphFlags.run that reports one proposal.
func proposalReport(ask func(ctx context.Context, s *source) (*client.ProposalAnswer, error)) func(ctx context.Context, s *source) (*report, error) {
	return func(ctx context.Context, s *source) (*report, error) {
		a, err := ask(ctx, s)
		if err != nil {
			return nil, err
		}
		var notes []string
		for _, b := range a.Blockers {
			notes = append(notes, "before the merge: "+b)
		}
		failed, _ := checkNotes(a.Checks)
		for _, n := range failed {
			notes = append(notes, "check "+n)
		}
		for _, c := range a.Conflicts {
			place := strings.TrimSuffix(c.EntityKind+"/"+c.TypeName+"/"+c.ID+"."+c.Property, ".")
			notes = append(notes, "conflict: "+place+": "+c.Message)
		}
		if more := a.ConflictCount - len(a.Conflicts); more > 0 {
			notes = append(notes, fmt.Sprintf("and there are %d more conflicts", more))
		}
		notes = append(notes, queryNotes(a.Query)...)
		if len(a.ApprovedBy) > 0 {
			notes = append(notes, "approved by "+strings.Join(a.ApprovedBy, ", "))
		}
		for _, e := range a.Events {
			if e.Comment != "" {
				actor := "an actor without a name"
				if e.ActorID != nil {
					actor = *e.ActorID
				}
				notes = append(notes, actor+" ("+e.Kind+"): "+e.Comment)
			}
		}
		return &report{doc: a, columns: slices.Concat(proposalColumns, columns("merge_commit_id")), rows: []any{a}, note: strings.Join(notes, "; ") + queryText(a.Query)}, nil
	}
}

// queryNotes says what the server found about a proposed query, which may be nil.
func queryNotes(q *client.ProposedQuery) (notes []string) {
	if q == nil {
		return nil
	}
	notes = append(notes, fmt.Sprintf("cost %g", q.Cost))
	if x := q.Example; x != nil {
		answer := x.Error
		if answer == "" {
			answer = plural(int64(len(x.Rows)), "row")
		}
		if x.MoreRows {
			answer += ", and there are more"
		}
		notes = append(notes, fmt.Sprintf("example with %s: %s", x.Params, answer))
	}
	if len(q.Resembles) > 0 {
		notes = append(notes, "resembles "+strings.Join(q.Resembles, ", "))
	}
	for _, found := range q.Findings {
		notes = append(notes, "lint: "+found)
	}
	return append(notes, q.Changes...)
}

// queryText returns the text of a proposed query, which may be nil, for the lines below the notes.
func queryText(q *client.ProposedQuery) string {
	if q == nil {
		return ""
	}
	return "\n\n" + strings.TrimSuffix(q.Text, "\n")
}

// ProposalChanges lists all changes of a proposal.
func (src *source) ProposalChanges(ctx context.Context, id string, q client.ChangeQuery) (*client.ProposalChanges, error) {
	all := &client.ProposalChanges{}
	for {
		page, err := src.graph.ProposalChanges(ctx, id, q)
		if err != nil {
			return nil, err
		}
		page.Changes = append(all.Changes, page.Changes...)
		all = page
		if all.NextPageToken == nil {
			return all, nil
		}
		if *all.NextPageToken == q.PageToken {
			return nil, client.ErrNoProgress
		}
		q.PageToken = *all.NextPageToken
	}
}

// MergeProposal merges a proposal. If there are conflicts, the error is a *conflicted.
func (src *source) MergeProposal(ctx context.Context, id string, b client.ProposalMergeBody) (*client.ProposalAnswer, error) {
	a, err := src.graph.MergeProposal(ctx, id, b)
	return a, mergeError(err)
}

// newReviewKey makes the command omnigraph review-key.
func newReviewKey() *cobra.Command {
	var f graphFlags
	var revoke bool
	cmd := &cobra.Command{
		Use:   "review-key --server URL --graph ID",
		Short: "Make a key to review proposals where an agent works, or revoke your keys",
		Long: `Make a review key. You type it into the app in which a client shows a proposal over the connection of an
agent, and decide there as yourself. The key is good for 12 hours, and as long as no other server writes the
graph. Give it to no agent. If someone else may have it, --revoke ends all your keys for the graph at once.
docs/proposals.md explains it.`,
		Example: "  omnigraph review-key --server http://127.0.0.1:8080 --graph code\n  omnigraph review-key --server http://127.0.0.1:8080 --graph code --revoke",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.endpoint.check(); err != nil {
				return err
			}
			if f.endpoint.server == "" {
				return usage.Errorf("review-key needs --server and --graph; the key is in the memory of a server")
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				if revoke {
					done, err := s.graph.RevokeReviewKeys(ctx)
					if err != nil {
						return nil, err
					}
					return &report{doc: done, columns: columns("revoked"), rows: []any{done}, text: fmt.Sprintf("review keys revoked: %d\n", done.Revoked)}, nil
				}
				key, err := s.graph.MakeReviewKey(ctx)
				if err != nil {
					return nil, err
				}
				return &report{doc: key, columns: columns("review_key", "expires_at"), rows: []any{key}, text: key.ReviewKey + "\n"}, nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke", false, "end all your review keys for the graph")
	return cmd
}
