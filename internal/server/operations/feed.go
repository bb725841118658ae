package operations

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// maxFeedCommits is the maximum number of commits that one page of a change feed looks at. It
	// bounds the time for a page if a filter selects few changes.
	maxFeedCommits = 1000

	// maxFeedTime is the time after which a page ends at the next whole commit. Restoring an old state
	// can take long.
	maxFeedTime = 2 * time.Second
)

// FeedRange selects a page of the change feed of a branch.
type FeedRange struct {
	Branch    tool.BranchName
	Cursor    string             // the last commit that the subscriber has, as an [encoding.FeedCursor]; empty for none
	Latest    bool               // without a cursor, start after the head instead of before the first commit
	PageToken string             // continues within a commit; Cursor and Latest are then ignored
	Select    engine.ChangeRange // the changes to list, and their number; After and Images are ignored
	Pins      bool               // the cursors of the answer name the branch, although Branch is no alias

	Now func() time.Time // the clock that measures maxFeedTime
}

// ReadFeed returns the call that lists a page of the change feed of a branch. The answer is a
// *client.ChangeFeed. If a state that the page needs was reclaimed, the error is a
// *wireerror.HistoryGap. If the branch does not contain the commit of the cursor, or if neither the
// head nor the first commit of the page has a type in Select.Types, the error is an
// *engine.NotFound.
//
// If Branch is an alias of a draft, the branch that it stands for at the first page is the branch of the whole
// feed: the cursors and the page tokens of the answers name it. After the end of that draft, the error is an
// *engine.DraftClosed.
func ReadFeed(r FeedRange) *Look {
	r.Branch = r.Branch.OrMain()
	named := r.Branch
	var pin tool.BranchName
	if r.PageToken == "" {
		at, commit := encoding.SplitFeedCursor(r.Cursor)
		if pin, r.Cursor = tool.BranchName(at), commit; pin != "" && isAlias(named) {
			r.Branch = pin
		}
	}
	r.Pins = r.Pins || pin != ""
	if r.Select.Limit <= 0 || r.Select.Limit > maxChanges {
		r.Select.Limit = maxChanges
	}
	if r.Select.MaxBytes <= 0 || r.Select.MaxBytes > maxChangeBytes {
		r.Select.MaxBytes = maxChangeBytes
	}
	r.Select.Images = true
	return &Look{Branch: r.Branch, Token: r.PageToken, Whole: true, Less: "set a smaller limit", Read: func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		if pin != "" && pin != r.Branch {
			return nil, &tool.ArgumentError{Path: "cursor", Detail: "it belongs to the branch " + string(pin), Help: "send a cursor with the branch of the request that gave it"}
		}
		r := r
		branch := env.Branch(r.Branch)
		r.Pins = r.Pins || branch.Name() != string(named)
		f := &feed{FeedRange: r, branch: branch, named: named, env: env, head: head, schemas: map[string]*engine.Schema{}}
		a, err := f.page(ctx)
		if err = asGap(err); errors.As(err, new(*wireerror.HistoryGap)) {
			err = feedGap(err)
		}
		if err != nil {
			return nil, err
		}
		return a, nil
	}}
}

// isAlias reports whether the name of a branch has the form of an alias, which stands for a draft of the caller
// unless a branch has the name itself.
func isAlias(branch tool.BranchName) bool {
	_, ok := access.DraftAlias(branch)
	return ok
}

// feedGap marks a gap as one in a change feed.
func feedGap(err error) error {
	var gap *wireerror.HistoryGap
	errors.As(err, &gap)
	return &wireerror.HistoryGap{Commit: gap.Commit, Feed: true}
}

// feed reads one page of a change feed.
type feed struct {
	FeedRange
	branch  tool.Branch
	named   tool.BranchName // the name of the branch in the call
	env     *tool.Env
	head    engine.Commit
	schemas map[string]*engine.Schema // the schemas read so far, by digest
}

// page returns the page.
func (f *feed) page(ctx context.Context) (*client.ChangeFeed, error) {
	a := &client.ChangeFeed{Blocks: []client.ChangeBlock{}}
	if f.PageToken == "" && f.Cursor == "" && f.Latest {
		if err := f.checkTypes(ctx, nil); err != nil {
			return nil, err
		}
		a.Cursor, a.CaughtUp = f.cursor(f.head.ID), true
		return a, nil
	}
	commits, after, err := f.commits(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.checkTypes(ctx, commits); err != nil {
		return nil, err
	}
	if f.PageToken == "" && f.Cursor != "" {
		a.Cursor = f.cursor(f.Cursor)
	}
	began, changes, bytes := f.Now(), 0, 0
	for i, c := range commits {
		if i > 0 && (changes >= f.Select.Limit || bytes >= f.Select.MaxBytes || f.Now().Sub(began) > maxFeedTime) {
			break
		}
		r := f.Select
		r.Limit, r.MaxBytes, r.After = r.Limit-changes, r.MaxBytes-bytes, after
		block, end, err := f.block(ctx, c, r)
		if err != nil {
			return nil, err
		}
		if end != nil && i > 0 {
			break // the commit does not fit into this page as a whole, so the next page starts with it
		}
		if after.Entity != "" {
			block.SchemaChange = nil // the first part of the commit had it
		}
		after = engine.ChangePosition{}
		changes += len(block.Changes)
		if block.SchemaChange != nil {
			bytes += len(block.SchemaChange.SchemaSource)
		}
		for j := range block.Changes {
			bytes += valueBytes(block.Changes[j].Before) + valueBytes(block.Changes[j].After)
		}
		if !f.filtered() || len(block.Changes) > 0 || block.SchemaChange != nil {
			a.Blocks = append(a.Blocks, *block)
		}
		if end != nil {
			token := f.env.SealPage(pagetoken.Place{List: pagetoken.Feed, Branch: f.branch.Name(), Commit: c.ID, After: positionText(*end)})
			a.Cursor, a.NextPageToken = nil, &token
			return a, nil
		}
		a.Cursor = f.cursor(c.ID)
	}
	a.CaughtUp = a.Cursor != nil && *a.Cursor == *f.cursor(f.head.ID)
	return a, nil
}

// cursor returns the cursor after a commit.
func (f *feed) cursor(commit string) *string {
	if f.Pins {
		return new(encoding.FeedCursor(f.branch.Name(), commit))
	}
	return &commit
}

// filtered reports whether the range selects only some of the changes.
func (f *feed) filtered() bool {
	r := &f.Select
	return len(r.Entities)+len(r.Types)+len(r.Kinds) > 0
}

// commits returns the commits that the page may list, the oldest first. The position `after` is
// where the first of them continues; it is zero if the page starts with the whole commit. The list
// is empty if the cursor is at the head.
func (f *feed) commits(ctx context.Context) (list []engine.Commit, after engine.ChangePosition, err error) {
	from := f.Cursor // the commit that the list starts at or after
	if f.PageToken != "" {
		p, err := f.env.OpenPage(f.PageToken, pagetoken.Feed)
		switch {
		case err != nil:
			return nil, after, err
		case p.Branch != f.branch.Name():
			return nil, after, tool.BadPageToken("belongs to the branch " + p.Branch)
		}
		from = p.Commit
		after, _ = parseChangePosition(p.After)
	}
	seq := uint64(0)
	if from != "" {
		c, err := f.env.Graph.Commit(ctx, from)
		if err != nil {
			return nil, after, err
		}
		if err := f.checkOpen(ctx, c); err != nil {
			return nil, after, err
		}
		if seq = c.Seq; seq > f.head.Seq {
			return nil, after, f.notOnBranch(from)
		}
	}
	// The list has one commit more than the page, which proves that the branch contains `from`. It
	// has no commits after f.head, so that the page describes one state of the branch.
	before := min(seq+maxFeedCommits, f.head.Seq) + 1
	list, err = f.env.Graph.Commits(ctx, f.branch.Name(), engine.CommitRange{Before: before, Limit: int(before - seq)})
	if err != nil {
		return nil, after, err
	}
	slices.Reverse(list)
	if from == "" {
		return list, after, nil
	}
	if len(list) == 0 || list[0].ID != from {
		return nil, after, f.notOnBranch(from)
	}
	if f.PageToken == "" {
		list = list[1:]
	}
	return list, after, nil
}

// checkOpen returns an *engine.DraftClosed if the call names the branch by an alias, and a bare cursor is a commit
// of a draft of the caller that has ended. The alias then stands for another branch.
func (f *feed) checkOpen(ctx context.Context, c engine.Commit) error {
	made := tool.BranchNamed(c.Branch)
	id, ok := made.DraftID()
	if !ok || made == f.branch || !isAlias(f.named) {
		return nil
	}
	d, err := f.env.Graph.Draft(ctx, id)
	if err != nil || d.State == engine.DraftOpen || d.Owner != f.env.Actor || f.env.Require(access.ReadOn(made)) != nil {
		return nil // the list of commits finds out whether the branch has the commit
	}
	return &engine.DraftClosed{Draft: *d}
}

// notOnBranch returns the error for a commit that the branch does not contain.
func (f *feed) notOnBranch(commit string) error {
	return &engine.NotFound{What: "on branch " + f.branch.Name() + ", the commit", Name: commit}
}

// block returns the changes of a commit that r selects. If the block has only a part of them, `end` is
// the position of its last change.
func (f *feed) block(ctx context.Context, c engine.Commit, r engine.ChangeRange) (block *client.ChangeBlock, end *engine.ChangePosition, err error) {
	schema, err := f.schemaChange(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if r.Types, err = f.typesAt(ctx, c); err != nil {
		return nil, nil, err
	}
	changes, err := f.env.Graph.Changes(ctx, c.ID, r)
	if err != nil {
		return nil, nil, err
	}
	block = &client.ChangeBlock{Cause: causeOf(c), SchemaChange: schema}
	var more bool
	if block.Changes, more = wireChanges(f.env, changes.List, changes.More); more {
		end = new(changes.List[len(block.Changes)-1].Position())
	}
	return block, end, nil
}

// schemaChange describes how a commit changed the schema. It returns nil if the commit did not
// change it.
func (f *feed) schemaChange(ctx context.Context, c engine.Commit) (*client.SchemaEvent, error) {
	var was *engine.Schema
	if len(c.Parents) > 0 {
		parent, err := f.env.Graph.Commit(ctx, c.Parents[0])
		if err != nil || parent.Schema == c.Schema {
			return nil, err
		}
		if was, err = f.schema(ctx, parent); err != nil {
			return nil, err
		}
	}
	is, err := f.schema(ctx, c)
	if err != nil {
		return nil, err
	}
	return schemaEvent(was, is), nil
}

// schemaBefore returns the schema before a commit, or nil for a commit without a parent.
func (f *feed) schemaBefore(ctx context.Context, c engine.Commit) (*engine.Schema, error) {
	if len(c.Parents) == 0 {
		return nil, nil
	}
	parent, err := f.env.Graph.Commit(ctx, c.Parents[0])
	if err != nil {
		return nil, err
	}
	return f.schema(ctx, parent)
}

// schema returns the schema at a commit.
func (f *feed) schema(ctx context.Context, c engine.Commit) (*engine.Schema, error) {
	if s := f.schemas[c.Schema]; s != nil {
		return s, nil
	}
	s, err := f.env.Graph.Schema(ctx, engine.Target{Commit: c.ID})
	if err == nil {
		f.schemas[c.Schema] = s
	}
	return s, err
}

// typesAt returns the types of the range in the spelling of the schemas before and after a commit.
// A type that neither schema has selects nothing.
func (f *feed) typesAt(ctx context.Context, c engine.Commit) ([]string, error) {
	if len(f.Select.Types) == 0 {
		return nil, nil
	}
	is, err := f.schema(ctx, c)
	if err != nil {
		return nil, err
	}
	was, err := f.schemaBefore(ctx, c)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(f.Select.Types) // never empty, because an empty list selects all types
	for _, name := range f.Select.Types {
		for _, s := range []*engine.Schema{was, is} {
			if s == nil {
				continue
			}
			if spelled, ok := TypeNamed(s.Catalog, name); ok {
				names = append(names, spelled)
			}
		}
	}
	return names, nil
}

// checkTypes returns an *engine.NotFound for a type of the range that the schema of the head lacks,
// and that the schemas before and after the first of the commits lack too. So a subscriber notices a
// wrong name, and receives the deletions when a commit drops the type.
func (f *feed) checkTypes(ctx context.Context, commits []engine.Commit) error {
	if len(f.Select.Types) == 0 {
		return nil
	}
	head, err := f.schema(ctx, f.head)
	if err != nil {
		return err
	}
	known := []*engine.Schema{head}
	if len(commits) > 0 {
		first, err := f.schema(ctx, commits[0])
		if err != nil {
			return err
		}
		before, err := f.schemaBefore(ctx, commits[0])
		if err != nil {
			return err
		}
		if known = append(known, first); before != nil {
			known = append(known, before)
		}
	}
	for _, name := range f.Select.Types {
		if !slices.ContainsFunc(known, func(s *engine.Schema) bool { _, ok := TypeNamed(s.Catalog, name); return ok }) {
			return &engine.NotFound{What: "type", Name: name}
		}
	}
	return nil
}

// causeOf describes a commit as the cause of changes.
func causeOf(c engine.Commit) client.ChangeCause {
	cause := encoding.Commit(c)
	return client.ChangeCause{
		GraphCommitID: cause.GraphCommitID, ParentCommitID: cause.ParentCommitID, MergedParentCommitID: cause.MergedParentCommitID,
		ActorID: cause.ActorID, Agents: cause.Agents, AuthoredAt: cause.CreatedAt, AuthoredBranch: cause.GraphBranch, Message: cause.Message,
	}
}
