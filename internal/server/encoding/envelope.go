package encoding

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// rowsAnswer writes the envelope of a read.
func (e *Writer) rowsAnswer(ctx context.Context, env *tool.Env, r *tool.ReadOutcome) error {
	start := len(e.buf)
	e.buf = append(e.buf, `{"query_name":`...)
	e.buf = appendString(e.buf, r.Query)
	e.buf = append(e.buf, `,"target":{"branch":`...)
	e.orNull(branchRead(r))
	e.buf = append(e.buf, `,"snapshot":`...)
	e.orNull(r.Snapshot)
	if r.Branch != nil {
		if err := e.draftTarget(env.DraftAt(ctx, *r.Branch)); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	e.columns(r.Result.Columns())
	e.buf = append(e.buf, `,"rows":`...)
	n, why, err := e.rowsOf(ctx, r.Result, r.Row, len(e.buf)-start)
	if err != nil {
		return err
	}
	e.buf = append(e.buf, `,"row_count":`...)
	e.buf = strconv.AppendInt(e.buf, int64(n), 10)
	if !e.enc.NoCommit {
		e.buf = append(e.buf, `,"graph_commit_id":`...)
		e.orNull(r.Result.Commit())
	}
	notes := readNotes(ctx, r, n == 0 && why == whole)
	if source, note := sourceOf(ctx, env, r.Result.Commit()); source != nil {
		e.buf = append(e.buf, `,"source":`...)
		if err := e.Value(source); err != nil {
			return err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if r.Branch != nil && r.Branch.IsMain() && env.Drafts != nil {
		if name := env.Drafts.Others(ctx); name != "" {
			notes = append(notes, draftNote+strconv.Quote(name))
		}
	}
	if err := e.notes(notes); err != nil {
		return err
	}
	if why != whole {
		e.buf = append(e.buf, `,"truncated":true,"truncated_by":"`...)
		e.buf = append(e.buf, why...)
		e.buf = append(e.buf, '"')
		token := ""
		if why != byLimit { // after the query's own limit, no page follows
			token = queryrun.NextToken(env, r, n)
		}
		if token != "" {
			e.buf = append(e.buf, `,"next_page_token":`...)
			e.buf = appendString(e.buf, token)
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// columns writes the names of the columns.
func (e *Writer) columns(cols []plan.Column) {
	e.buf = append(e.buf, `,"columns":[`...)
	for i, c := range cols {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = appendString(e.buf, c.Name)
	}
	e.buf = append(e.buf, ']')
}

// branchRead returns the name of the branch that a call reads, or "" if it reads a snapshot.
func branchRead(r *tool.ReadOutcome) string {
	if r.Branch == nil {
		return ""
	}
	return r.Branch.Name()
}

// readNotes returns the notes on a read. If it has no rows at all, they say why.
func readNotes(ctx context.Context, r *tool.ReadOutcome, empty bool) []string {
	var notes []string
	if r.Row == 0 {
		notes = slices.Clone(r.Findings)
	}
	if empty && r.Notes != nil {
		notes = append(notes, r.Notes(ctx)...)
	}
	return notes
}

// draftNote is the beginning of the note on a read of main by an actor with an open draft. The name of the
// draft follows, in quotes.
const draftNote = `read from main; you have an open draft: to read it, add "branch": `

// DraftOfNote returns the name of the draft in the note on a read of main, and whether the note is that
// one. A command prints its own flag in place of the argument that the note names.
func DraftOfNote(note string) (name string, ok bool) {
	quoted, ok := strings.CutPrefix(note, draftNote)
	if !ok {
		return "", false
	}
	name, err := strconv.Unquote(quoted)
	return name, err == nil
}

// draftTarget writes the members of a target that describe a draft; d is nil for another branch.
func (e *Writer) draftTarget(d *tool.DraftState) error {
	if d == nil {
		return nil
	}
	if !e.enc.NoCommit {
		e.buf = append(e.buf, `,"graph_commit_id":`...)
		e.buf = appendString(e.buf, d.Draft.Head)
	}
	e.buf = append(e.buf, `,"main_ahead":`...)
	e.buf = strconv.AppendUint(e.buf, d.Draft.MainAhead, 10)
	e.buf = append(e.buf, `,"expires_at":`...)
	e.buf = strconv.AppendInt(e.buf, d.Expires.UnixMicro(), 10)
	return nil
}

// notes writes the notes of an answer, if there are any.
func (e *Writer) notes(notes []string) error {
	if len(notes) == 0 {
		return nil
	}
	e.buf = append(e.buf, `,"notes":`...)
	return e.Value(notes)
}

// changeAnswer writes the envelope of a mutation.
func (e *Writer) changeAnswer(ctx context.Context, env *tool.Env, c *tool.ChangeOutcome, reads bool) error {
	start := len(e.buf)
	e.buf = append(e.buf, `{"branch":`...)
	e.buf = appendString(e.buf, c.Branch.Name())
	e.buf = append(e.buf, `,"query_name":`...)
	e.buf = appendString(e.buf, c.Query)
	e.buf = append(e.buf, `,"affected_nodes":`...)
	e.buf = strconv.AppendInt(e.buf, c.Change.Nodes, 10)
	e.buf = append(e.buf, `,"affected_edges":`...)
	e.buf = strconv.AppendInt(e.buf, c.Change.Edges, 10)
	e.buf = append(e.buf, `,"actor_id":`...)
	actor, _ := engine.SplitActor(env.Actor)
	e.orNull(actor)
	if e.enc.CommitIDs {
		e.buf = append(e.buf, `,"graph_commit_id":`...)
		e.orNull(CommitID(c.Change.Commit))
	} else {
		e.buf = append(e.buf, `,"commit":`...)
		if err := e.Value(written(c.Change.Commit, reads)); err != nil {
			return err
		}
	}
	if c.DryRun {
		e.buf = append(e.buf, `,"dry_run":true`...)
	}
	if err := e.effects(effects(c.Change.Effects, c.Notes, c.StoredNotes, e.enc, reads)); err != nil {
		return err
	}
	if d := env.DraftAt(ctx, c.Branch); d != nil && reads {
		e.buf = append(e.buf, `,"target":{"branch":`...)
		e.buf = appendString(e.buf, c.Branch.Name())
		if err := e.draftTarget(d); err != nil {
			return err
		}
		e.buf = append(e.buf, '}')
	}
	if c.Columns != nil && c.Change.Row != nil {
		if e.enc.Arrays {
			e.columns(c.Columns)
		}
		e.buf = append(e.buf, `,"rows":`...)
		if _, _, err := e.rowsOf(ctx, engine.RowOf(c.Columns, &c.Change), 0, len(e.buf)-start); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// orNull writes s, or null if s is empty.
func (e *Writer) orNull(s string) {
	if s == "" {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.buf = appendString(e.buf, s)
}

// LoadResult is the answer to a load for a model. It is client.LoadAnswer with the id of the commit
// in place of the commit.
type LoadResult struct {
	client.LoadedData
	GraphCommitID *string `json:"graph_commit_id" jsonschema_description:"The commit; null when nothing changed."`
	ActorID       *string `json:"actor_id"` // the caller; null if it has none
	DryRun        bool    `json:"dry_run,omitempty" jsonschema_description:"Nothing was committed; the answer says what the write would do."`

	Sync *client.SyncAnswer `json:"sync,omitempty" jsonschema_description:"What the mode sync, or a load of changes of a followed source, did beyond the lines."`
}

// loadAnswer returns the answer to a load, in the form that the options select.
func (e *Writer) loadAnswer(ctx context.Context, env *tool.Env, l *tool.LoadOutcome, reads bool) any {
	data, actor := loadedData(l), env.Actor
	data.WriteEffects = effects(l.Result.Effects, l.Notes, nil, e.enc, reads)
	if d := env.DraftAt(ctx, l.Branch); d != nil && reads {
		data.Target = &client.WriteTarget{Branch: l.Branch.Name(), DraftTarget: client.DraftTarget{GraphCommitID: d.Draft.Head, MainAhead: d.Draft.MainAhead, ExpiresAt: d.Expires.UnixMicro()}}
	}
	if e.enc.CommitIDs {
		return &LoadResult{LoadedData: data, GraphCommitID: OrNil(CommitID(l.Result.Commit)), ActorID: ActorID(actor), DryRun: l.DryRun, Sync: syncAnswer(l.Result.Sync, reads)}
	}
	return &client.LoadAnswer{LoadedData: data, Commit: written(l.Result.Commit, reads), ActorID: ActorID(actor), DryRun: l.DryRun,
		Sync: syncAnswer(l.Result.Sync, reads), Position: l.Result.Position}
}

// syncAnswer returns the answer for what a sync did. A caller who may not read the branch does not see the kept nodes.
func syncAnswer(s *engine.SyncResult, reads bool) *client.SyncAnswer {
	if s == nil {
		return nil
	}
	a := &client.SyncAnswer{Overwritten: s.Overwritten, Released: s.Released, Deleted: s.Deleted, Cascaded: s.Cascaded, Kept: s.Kept, KeptNodes: []client.KeptNode{}}
	for _, n := range s.KeptFirst {
		if reads {
			a.KeptNodes = append(a.KeptNodes, client.KeptNode{Type: n.Type, ID: n.ID})
		}
	}
	return a
}

// loadedData returns what was loaded, without the commit and the actor.
func loadedData(l *tool.LoadOutcome) client.LoadedData {
	a := client.LoadedData{
		Branch: l.Branch.Name(), BranchCreated: l.From != nil, Mode: l.Mode.String(),
		Nodes: loadedTypes(l.Result.Nodes), Edges: loadedTypes(l.Result.Edges),
	}
	if l.From != nil {
		a.BaseBranch = new(l.From.Name())
	}
	for _, counts := range [][]engine.TypeCount{l.Result.Nodes, l.Result.Edges} {
		for _, c := range counts {
			a.TotalEntities += c.Count
		}
	}
	return a
}

// loadedTypes returns the number of loaded entities of each type.
func loadedTypes(counts []engine.TypeCount) []client.LoadedType {
	loaded := make([]client.LoadedType, len(counts))
	for i, c := range counts {
		loaded[i] = client.LoadedType{Name: c.Type, EntitiesLoaded: c.Count}
	}
	return loaded
}

// ActorID returns the actor of a stored name, without its agents, or nil for "".
func ActorID(name string) *string {
	actor, _ := engine.SplitActor(name)
	return OrNil(actor)
}

// Agents returns the agents in a stored name, which act for its actor.
func Agents(name string) []string {
	_, agents := engine.SplitActor(name)
	return agents
}

// Commit returns a commit in the form that clients receive.
func Commit(c engine.Commit) client.CommitAnswer {
	a := client.CommitAnswer{GraphCommitID: c.ID, GraphBranch: c.Branch, GraphManifestVersion: c.Seq, ActorID: ActorID(c.Actor), Agents: Agents(c.Actor), CreatedAt: c.Time.UnixMicro(), Message: c.Message}
	if len(c.Parents) > 0 {
		a.ParentCommitID = &c.Parents[0]
	}
	if len(c.Parents) > 1 {
		a.MergedParentCommitID = &c.Parents[1]
	}
	return a
}

// written returns the commit of a write, or nil if the write made none. For a caller who may not
// read the branch it leaves out the parents, because they are commits of other actors.
func written(c *engine.Commit, reads bool) *client.CommitAnswer {
	if c == nil {
		return nil
	}
	a := Commit(*c)
	if !reads {
		a.ParentCommitID, a.MergedParentCommitID = nil, nil
	}
	return &a
}

// CommitID returns the id of a commit, or "" for nil.
func CommitID(c *engine.Commit) string {
	if c == nil {
		return ""
	}
	return c.ID
}

// OrNil returns a pointer to s, or nil if s is empty.
func OrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
