package servedgraph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// DraftLimits bound the drafts of a graph. A zero field means its default.
type DraftLimits struct {
	Keep time.Duration // how long a draft stays open without a write
	Max  int           // number of open drafts of one actor
}

// The defaults of DraftLimits.
const (
	DefaultDraftKeep = 30 * 24 * time.Hour
	DefaultMaxDrafts = 5
)

// withDefaults returns the limits with every zero field set to its default.
func (l DraftLimits) withDefaults() DraftLimits {
	return DraftLimits{Keep: cmp.Or(l.Keep, DefaultDraftKeep), Max: cmp.Or(l.Max, DefaultMaxDrafts)}
}

// branchResolver resolves the branch names of one call. It implements [tool.Drafts].
type branchResolver struct {
	g     *Graph
	actor *access.Actor
	names map[tool.BranchName]tool.Branch // the branch that each resolved name of the call stands for

	pending   *engine.NewDraft // the draft that the call must open; nil for none
	pendingAs tool.BranchName  // the name in the call that stands for it
	dryRun    bool             // the call is a dry run, which opens no draft
	unlock    func()           // releases the name of the draft that the call may open; nil for none
	made      string           // the branch of the draft that openDraft has made; "" for none
}

// WarnReserved logs a warning for each branch whose name would otherwise stand for a draft.
func (g *Graph) WarnReserved(ctx context.Context) {
	branches, err := g.engine.Branches(ctx)
	if err != nil {
		return // the first call on a branch reports the fault
	}
	for _, b := range branches {
		_, isDraft := engine.DraftID(b.Name)
		if !isDraft && (b.Name == string(access.DraftName) || strings.HasPrefix(b.Name, engine.DraftPrefix)) {
			g.log.WarnContext(ctx, "a branch has a name that is reserved for drafts, so no draft can have it; copy the branch under another name and delete it", "branch", b.Name)
		}
	}
}

// optioned is implemented by calls that write with run options.
type optioned interface{ RunOptions() *queryrun.Options }

// paged is implemented by calls that list things of a branch in pages.
type paged interface{ PageToken() string }

// pinned returns the branch that the page token of a call pins: main, or the branch of a draft, which may
// have ended. ok is false if the call has no valid token, or if the token pins no branch; the call itself
// reports a token that is not valid.
func (p *branchResolver) pinned(call tool.Call) (branch tool.Branch, ok bool) {
	token := ""
	switch c := call.(type) {
	case paged:
		token = c.PageToken()
	case optioned:
		token = c.RunOptions().PageToken
	}
	if token == "" {
		return branch, false
	}
	place, err := p.g.pages.Open(token)
	if err != nil || place.Branch == "" || place.Graph != p.g.id || !ownsPage(p.actor, place.Actor) {
		return branch, false
	}
	branch = tool.BranchNamed(place.Branch)
	_, draft := branch.DraftID()
	return branch, draft || branch.IsMain()
}

// ownsPage reports whether a page token belongs to an actor, with whatever rights. The rights to the branch that it pins are not known
// yet; the call compares them.
func ownsPage(actor *access.Actor, owner string) bool {
	rest, ok := strings.CutPrefix(owner, actor.Key())
	return ok && (rest == "" || strings.HasPrefix(rest, ownerRights))
}

// ownerRights separates an actor in the owner of a page token from the digest of the rights under which it reads.
const ownerRights = "\x00rights:"

// place resolves the branch names in the needs of a call. A name that stands for a draft of the caller keeps
// its meaning through all pages of a list: the page token pins the branch of the first page.
func (g *Graph) place(ctx context.Context, actor *access.Actor, call tool.Call, needs []tool.Need) (*branchResolver, error) {
	p := &branchResolver{g: g, actor: actor}
	if actor == nil || actor.ID == "" {
		return p, nil
	}
	writes := false
	for _, need := range needs {
		writes = writes || need.Action.Row().Writes
		if err := p.expire(ctx, p.Branch(need.Branch)); err != nil {
			return p, err
		}
	}
	for _, need := range needs {
		if need.Commit != "" || p.known(need.Branch) {
			continue
		}
		if !access.OpensDraft(need.Action, need.Via) || p.pending != nil { // a call opens at most one draft
			continue
		}
		if need.Branch == "" && !g.access.Confined(actor, need.On(tool.Branch{})) {
			continue
		}
		name, alias, err := p.alias(ctx, cmp.Or(need.Branch, access.DraftName))
		if err != nil {
			return p, err
		}
		if need.Branch == "" {
			name, alias = "", true
		}
		if alias {
			if err := p.toWrite(ctx, need.Branch, name, call); err != nil {
				return p, err
			}
		}
	}
	for _, need := range needs {
		if need.Commit != "" || need.Branch == "" || p.known(need.Branch) {
			continue
		}
		name, alias, err := p.alias(ctx, need.Branch)
		if err != nil {
			return p, err
		}
		if !alias {
			continue
		}
		if pin, ok := p.pinned(call); ok && !writes {
			if err := p.expire(ctx, pin); err != nil {
				return p, err
			}
			p.setBranch(need.Branch, pin)
			continue
		}
		d, err := p.open(ctx, name)
		switch {
		case err != nil:
			return p, err
		case d != nil:
			p.setBranch(need.Branch, branchOf(d))
		case !writes:
			p.setBranch(need.Branch, tool.Branch{})
		}
	}
	return p, nil
}

// branchOf returns the branch of a draft.
func branchOf(d *engine.Draft) tool.Branch { return tool.BranchNamed(d.Branch()) }

// setBranch records the branch that a name stands for.
func (p *branchResolver) setBranch(name tool.BranchName, branch tool.Branch) {
	if p.names == nil {
		p.names = map[tool.BranchName]tool.Branch{}
	}
	p.names[name] = branch
}

// known reports whether a name is resolved.
func (p *branchResolver) known(name tool.BranchName) bool {
	_, ok := p.names[name]
	return ok
}

// alias reports whether the name of a branch stands for a draft of the caller, and returns the name of
// the draft. A branch that has the name itself comes first.
func (p *branchResolver) alias(ctx context.Context, branch tool.BranchName) (name string, ok bool, err error) {
	if name, ok = access.DraftAlias(branch); !ok {
		return "", false, nil
	}
	_, err = p.g.engine.Schema(ctx, tool.BranchNamed(string(branch)).At())
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		return name, true, nil
	}
	return "", false, err
}

// open returns the caller's open draft with a name, or nil.
func (p *branchResolver) open(ctx context.Context, name string) (*engine.Draft, error) {
	list, err := p.g.engine.Drafts(ctx, engine.DraftRange{Owner: p.actor.Name(), State: engine.DraftOpen})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(d engine.Draft) bool { return d.Name == name })
	if i < 0 {
		return nil, nil
	}
	ended, err := p.g.expired(ctx, &list[i])
	if ended || err != nil {
		return nil, err
	}
	return &list[i], nil
}

// expire ends the draft that owns a branch if it is too old.
func (p *branchResolver) expire(ctx context.Context, branch tool.Branch) error {
	id, ok := branch.DraftID()
	if !ok {
		return nil
	}
	d, err := p.g.engine.Draft(ctx, id)
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		return nil
	}
	if err == nil && d.State == engine.DraftOpen {
		_, err = p.g.expired(ctx, d)
	}
	return err
}

// expired ends an open draft if nobody wrote to it for too long, and reports whether it did. A draft
// under an open proposal does not expire.
func (g *Graph) expired(ctx context.Context, d *engine.Draft) (bool, error) {
	if g.now().Sub(d.Written) <= g.drafts.Keep {
		return false, nil
	}
	err := g.engine.EndDraft(context.WithoutCancel(ctx), d.ID, engine.DraftEnd{State: engine.DraftExpired, IfHead: d.Head})
	var closed *engine.DraftClosed
	var proposed *engine.Conflict
	var written *engine.PreconditionFailed
	var unwritable *engine.Unavailable // such as on a server that only reads the graph
	switch {
	case err == nil, errors.As(err, &closed):
		return true, nil
	case errors.As(err, &proposed), errors.As(err, &written), errors.As(err, &unwritable):
		return false, nil
	}
	return false, err
}

// openDrafts returns the open drafts in a range, and ends those to which nobody wrote for too long.
func (g *Graph) openDrafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	r.State = engine.DraftOpen
	list, err := g.engine.Drafts(ctx, r)
	if err != nil {
		return nil, err
	}
	open := list[:0]
	for _, d := range list {
		ended, err := g.expired(ctx, &d)
		if err != nil {
			return nil, err
		}
		if !ended {
			open = append(open, d)
		}
	}
	return open, nil
}

// ExpireDrafts ends the drafts of all actors to which nobody wrote for too long.
func (g *Graph) ExpireDrafts(ctx context.Context) error {
	_, err := g.openDrafts(ctx, engine.DraftRange{})
	return err
}

// toWrite resolves a name that stands for a draft in a call that writes to it. If the idempotency key
// of the call was used in a draft of that name, the name stands for that draft, even if it has ended.
// If there is no open draft, toWrite notes that the call must open one. No other call with the name
// runs until the call has ended.
func (p *branchResolver) toWrite(ctx context.Context, branch tool.BranchName, name string, call tool.Call) error {
	var options queryrun.Options
	if c, ok := call.(optioned); ok {
		options = *c.RunOptions()
	}
	if options.IdempotencyKey != "" && !options.DryRun {
		list, err := p.g.engine.Drafts(ctx, engine.DraftRange{Owner: p.actor.Name(), Key: options.IdempotencyKey})
		if err != nil {
			return err
		}
		for _, d := range slices.Backward(list) {
			if d.Name == name {
				p.setBranch(branch, branchOf(&d))
				return nil
			}
		}
	}
	unlock, err := p.g.opening.lock(ctx, p.actor.Name()+"\x00"+name)
	if err != nil {
		return err
	}
	d, err := p.open(ctx, name)
	if d != nil || err != nil {
		unlock()
		if d != nil {
			p.setBranch(branch, branchOf(d))
		}
		return err
	}
	p.unlock, p.dryRun, p.pendingAs = unlock, options.DryRun, branch
	p.pending = &engine.NewDraft{Owner: p.actor.Name(), Name: name, Commit: options.IfCommit, Max: p.g.drafts.Max}
	return nil
}

// missing returns the error of a call that lacks a grant. If the policy allows the call on drafts of the caller,
// and the name in the call stands for none because the caller has no such draft, the error says so.
func (p *branchResolver) missing(ctx context.Context, grants []tool.Grant, err error) error {
	var denied *wireerror.Forbidden
	if p.actor == nil || p.actor.ID == "" || !errors.As(err, &denied) || denied.Branch == nil {
		return err
	}
	name := tool.BranchName(denied.Branch.Name()) // a name that stands for no draft stands for itself
	if p.known(name) {
		return err
	}
	if _, alias, fault := p.alias(ctx, name); fault != nil || !alias {
		return err
	}
	onDrafts := func(g tool.Grant) bool {
		return g.Action == denied.Action && g.Branch == *denied.Branch && p.g.access.Confined(p.actor, g)
	}
	if !slices.ContainsFunc(grants, onDrafts) {
		return err
	}
	return &wireerror.Forbidden{Action: denied.Action, Branch: denied.Branch, NoDraft: true}
}

// release ends the call.
func (p *branchResolver) release() {
	if p.unlock != nil {
		p.unlock()
		p.unlock = nil
	}
}

// grants returns the grants for the needs of the call, on the branches that the names stand for and on those where
// the commits were made. The error is that of [access.Control.AtCommit].
func (p *branchResolver) grants(ctx context.Context, needs []tool.Need) ([]tool.Grant, error) {
	grants := make([]tool.Grant, len(needs), len(needs)+1)
	for i, need := range needs {
		grant := need.On(p.Branch(need.Branch))
		switch {
		case need.Commit != "":
			var err error
			if grant, err = p.g.access.AtCommit(ctx, p.actor, need); err != nil {
				return nil, err
			}
		case p.pending != nil && need.Branch == p.pendingAs && !p.known(need.Branch):
			grant = access.OnOwnDraft(grant, need.Branch)
		}
		grants[i] = grant
	}
	if p.showsMain() {
		grants = append(grants, access.ReadOn(tool.Branch{}))
	}
	return grants, nil
}

// showsMain reports whether the policy lets the caller read the draft that the call must open. The draft contains
// main, so the call then needs the right to read main too. The scopes of this token do not count: another one may read the draft.
func (p *branchResolver) showsMain() bool {
	if p.pending == nil {
		return false
	}
	return p.g.access.Permitted(p.actor, access.OnOwnDraft(access.ReadOn(tool.Branch{}), p.pendingAs))
}

// openDraft opens the draft that the call needs, after the policy has granted the call. The caller calls
// `finish` with the error of the call: a draft that a failed call opened is forgotten again.
func (p *branchResolver) openDraft(ctx context.Context) (finish func(error), err error) {
	finish = func(error) {}
	switch {
	case p.pending == nil:
		return finish, nil
	case p.dryRun:
		p.setBranch(p.pendingAs, tool.Branch{})
		return finish, nil
	}
	if err := p.g.ExpireDrafts(ctx); err != nil {
		return nil, err
	}
	d, made, err := p.g.engine.OpenDraft(ctx, *p.pending)
	if err != nil {
		return nil, err
	}
	p.setBranch(p.pendingAs, branchOf(d))
	if made {
		p.made = d.Branch()
	}
	return func(err error) {
		var unsure *engine.Indeterminate
		if err == nil || !made || errors.As(err, &unsure) {
			return
		}
		// The draft may have got a commit in spite of the error, and then stays.
		var written *engine.PreconditionFailed
		if err := p.g.engine.EndDraft(context.WithoutCancel(ctx), d.ID, engine.DraftEnd{Unused: true, IfHead: d.Head}); err != nil && !errors.As(err, &written) {
			p.g.log.WarnContext(ctx, "the draft of a failed write stays open", "draft", d.Branch(), "reason", err.Error())
		}
	}, nil
}

// shown returns a text without the branch of a draft that this call has made. If the call fails, the
// draft is forgotten, and the next call makes one with another name. So the text has the name that the
// call uses.
func (p *branchResolver) shown(text string) string {
	if p.made == "" {
		return text
	}
	return strings.ReplaceAll(text, p.made, string(cmp.Or(p.pendingAs, access.DraftName)))
}

// Branch implements [tool.Drafts].
func (p *branchResolver) Branch(name tool.BranchName) tool.Branch {
	if branch, ok := p.names[name]; ok {
		return branch
	}
	return tool.BranchNamed(string(name))
}

// Describe implements [tool.Drafts].
func (p *branchResolver) Describe(ctx context.Context, branch tool.Branch) *tool.DraftState {
	id, ok := branch.DraftID()
	if !ok {
		return nil
	}
	d, err := p.g.engine.Draft(ctx, id)
	if err != nil || d.State != engine.DraftOpen {
		return nil
	}
	state := p.g.stateOf(d)
	return &state
}

// stateOf returns the state of an open draft.
func (g *Graph) stateOf(d *engine.Draft) tool.DraftState {
	return tool.DraftState{Draft: *d, Expires: d.Written.Add(g.drafts.Keep)}
}

// Open implements [tool.Drafts].
func (p *branchResolver) Open(ctx context.Context) (map[tool.Branch]tool.DraftState, error) {
	list, err := p.g.openDrafts(ctx, engine.DraftRange{})
	if err != nil {
		return nil, err
	}
	open := make(map[tool.Branch]tool.DraftState, len(list))
	for i := range list {
		open[branchOf(&list[i])] = p.g.stateOf(&list[i])
	}
	return open, nil
}

// Others implements [tool.Drafts].
func (p *branchResolver) Others(ctx context.Context) string {
	if p.actor == nil || p.actor.ID == "" {
		return ""
	}
	list, err := p.g.openDrafts(ctx, engine.DraftRange{Owner: p.actor.Name()})
	if err != nil {
		return ""
	}
	for _, d := range list {
		name := access.DraftName
		if d.Name != "" {
			name = tool.BranchName(engine.DraftPrefix + d.Name)
		}
		if _, alias, err := p.alias(ctx, name); err != nil || !alias {
			name = tool.BranchName(d.Branch()) // another branch has the short name
		}
		if p.g.access.Allowed(p.actor, access.ReadOn(branchOf(&d))) {
			return string(name)
		}
	}
	return ""
}

// opening makes calls that may open the same draft run one after the other.
type opening struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the holder of a name releases it
}

// lock waits until no other call holds the name.
func (o *opening) lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		o.mu.Lock()
		busy, taken := o.held[name]
		if !taken {
			if o.held == nil {
				o.held = map[string]chan struct{}{}
			}
			done := make(chan struct{})
			o.held[name] = done
			o.mu.Unlock()
			return func() {
				o.mu.Lock()
				delete(o.held, name)
				o.mu.Unlock()
				close(done)
			}, nil
		}
		o.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
