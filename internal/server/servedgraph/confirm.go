package servedgraph

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// A Confirmer decides whether a call may take a step that removes data. It returns nil if the caller
// confirmed the step. The argument `digest` identifies the step and the heads of its branches. The result
// `bound` reports whether the caller confirmed it for these heads only.
type Confirmer func(s tool.Step, digest [sha256.Size]byte) (bound bool, err error)

// confirmerKey is the context key of the confirmer.
type confirmerKey struct{}

// WithConfirmer returns a context for calls that need a confirmation before they take a step with one of
// the actions in Config.Confirm. In calls with other contexts every step is allowed.
func WithConfirmer(ctx context.Context, c Confirmer) context.Context {
	return context.WithValue(ctx, confirmerKey{}, c)
}

// Confirms reports whether calls of a tool may need a confirmation.
func (g *Graph) Confirms(d *tool.Descriptor) bool {
	if !d.Destructive || len(g.confirm) == 0 {
		return false
	}
	t := g.tools[d.Name]
	if t == nil {
		return false
	}
	for _, gate := range t.Gates() {
		if row := gate.Action.Row(); row.Writes {
			return slices.Contains(g.confirm, gate.Action)
		}
	}
	return slices.Contains(g.confirm, tool.Change) // the tool runs stored queries
}

// Confirms implements [tool.Server].
func (r *running) Confirms(action tool.Action) bool {
	return r.confirmer != nil && slices.Contains(r.g.confirm, action)
}

// Confirm implements [tool.Server].
func (r *running) Confirm(ctx context.Context, s tool.Step) (tool.Heads, error) {
	if !r.Confirms(s.Action) {
		return nil, nil
	}
	s.What = r.names.shown(s.What)
	content := []string{string(s.Action), s.What}
	heads := make(tool.Heads, len(s.Branches))
	for i, branch := range s.Branches {
		head, err := r.g.engine.Commits(ctx, branch.Name(), engine.CommitRange{Limit: 1})
		if err != nil {
			return nil, err
		}
		content = append(content, r.names.shown(branch.Name()))
		if len(head) > 0 {
			heads[i] = head[0].ID
			content = append(content, heads[i])
		}
	}
	b, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	bound, err := r.confirmer(s, sha256.Sum256(b))
	if !bound || err != nil {
		return nil, err
	}
	return heads, nil
}

// SealState returns an opaque text that only a server with the same key can open. Clients can neither
// read nor alter it.
func (g *Graph) SealState(plain []byte) string { return g.pages.SealState(plain) }

// OpenState returns the content of a text that SealState made. It reports whether the text is one.
func (g *Graph) OpenState(text string) ([]byte, bool) { return g.pages.OpenState(text) }

// Now returns the current time.
func (g *Graph) Now() time.Time { return g.now() }
