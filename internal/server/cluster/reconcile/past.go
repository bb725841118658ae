package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// pastFolder is the folder in the storage folder with the earlier revisions. The name of each file is that of a revision in shared
// storage without its prefix, and the content is that of the revision file.
const pastFolder = ".revisions"

// pastName returns the name of the file of an earlier revision.
func (c *Cluster) pastName(number uint64) string {
	return filepath.Join(c.Storage, pastFolder, strings.TrimPrefix(sharedName(number), revisionPrefix))
}

// keep copies the revision in force to the earlier ones, before another one replaces it. A crash in between leaves a copy of the
// revision in force, which History passes over.
func (c *Cluster) keep() error {
	b, err := fs.ReadFile(c.FS, filepath.Join(c.Storage, RevisionFile))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := decode(RevisionFile, b)
	if err != nil {
		return err
	}
	if err := c.FS.MkdirAll(filepath.Join(c.Storage, pastFolder)); err != nil {
		return err
	}
	if err := c.FS.SyncDir(c.Storage); err != nil {
		return err
	}
	return c.replace(c.pastName(r.Number), b)
}

// numbers returns the numbers of the stored revisions, ascending; the last one is in force.
func (c *Cluster) numbers(ctx context.Context) (all []uint64, err error) {
	add := func(name string) {
		if n, err := strconv.ParseUint(name, 10, 64); err == nil && sharedName(n) == revisionPrefix+name {
			all = append(all, n)
		}
	}
	if c.Bucket != nil {
		entries, err := object.ListAll(ctx, c.Bucket, revisionPrefix)
		for _, e := range entries {
			add(strings.TrimPrefix(e.Name, revisionPrefix))
		}
		return all, err
	}
	now, err := c.Revision(ctx)
	if now == nil || err != nil {
		return nil, err
	}
	names, err := c.FS.List(filepath.Join(c.Storage, pastFolder))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		add(name)
	}
	slices.Sort(all)
	return append(slices.DeleteFunc(all, func(n uint64) bool { return n >= now.Number }), now.Number), nil
}

// Earlier returns the revision with a number. The error is an *engine.NotFound if it is not stored.
func (c *Cluster) Earlier(ctx context.Context, number uint64) (*Revision, error) {
	missing := &engine.NotFound{What: "revision", Name: strconv.FormatUint(number, 10)}
	if c.Bucket != nil {
		name := sharedName(number)
		b, err := c.Bucket.Read(ctx, name, 0, object.Whole)
		if errors.Is(err, object.ErrNotFound) {
			return nil, missing
		}
		if err != nil {
			return nil, err
		}
		return decode(name, b)
	}
	now, err := c.Revision(ctx)
	switch {
	case err != nil:
		return nil, err
	case now == nil || number > now.Number:
		return nil, missing
	case number == now.Number:
		return now, nil
	}
	b, err := fs.ReadFile(c.FS, c.pastName(number))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return decode(c.pastName(number), b)
}

// Entry is a revision in the history of a cluster.
type Entry struct {
	*Revision
	Changes []string // what it changed in the revision before it; nil if that one is not stored
}

// History lists the stored revisions, the newest first.
func (c *Cluster) History(ctx context.Context) ([]Entry, error) {
	numbers, err := c.numbers(ctx)
	if err != nil {
		return nil, err
	}
	var list []Entry
	var before *Revision
	for _, n := range numbers {
		r, err := c.Earlier(ctx, n)
		if err != nil {
			return nil, err
		}
		e := Entry{Revision: r}
		if n == 1 || before != nil && before.Number == n-1 {
			e.Changes = differences(before, r)
		}
		list, before = append(list, e), r
	}
	slices.Reverse(list)
	return list, nil
}

// differences lists what a revision changes in the one before it, which is nil for the first revision.
func differences(before, after *Revision) (list []string) {
	for i := range after.Graphs {
		g := &after.Graphs[i]
		was := before.Graph(g.ID)
		add := func(what string) { list = append(list, "graph "+g.ID+": "+what) }
		switch {
		case was == nil:
			add("added")
			continue
		case was.Schema != g.Schema:
			add("schema")
		case was.Source != g.Source:
			add("text of the schema")
		}
		for _, q := range append(queryChanges(was.Stored, g.Stored), queryChanges(was.Proposed, g.Proposed)...) {
			add(q.String())
		}
		if !was.Policy.equal(g.Policy) {
			add("policy")
		}
	}
	if before == nil {
		return list
	}
	for _, g := range before.Graphs {
		if after.Graph(g.ID) == nil {
			list = append(list, "graph "+g.ID+": removed")
		}
	}
	if !before.Policy.equal(after.Policy) {
		list = append(list, "policy of the server")
	}
	if before.Limits != nil && after.Limits != nil && *before.Limits != *after.Limits {
		list = append(list, "limits")
	}
	if before.Settings != after.Settings {
		list = append(list, "cluster.yaml")
	}
	return list
}

// Again returns sources that make the content of an earlier revision the next one. The policies are those of the revision in force, or with
// the argument `withPolicy` those of the earlier one; then `regained` lists the rights that the actors get by them. The
// settings stay, because no revision has them. As with Compile, the sources are nil if a finding is an error.
func (c *Cluster) Again(ctx context.Context, cfg *cluster.Config, number uint64, withPolicy bool) (s *Sources, regained []string, found diag.List, err error) {
	now, err := c.Revision(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	of, err := c.Earlier(ctx, number)
	if err != nil {
		return nil, nil, nil, err
	}
	if withPolicy && !of.HasPolicies() {
		return nil, nil, nil, &engine.Conflict{Reason: fmt.Sprintf("an earlier version recorded revision %d, without its policies; leave out --with-policy", number)}
	}
	s = &Sources{again: true, Policy: now.Policy, Settings: now.Settings, Limits: limitsAgain(of.Limits, now.Limits), Claims: cfg.Server.Claims}
	if withPolicy {
		s.Policy = of.Policy
	}
	for i := range of.Graphs {
		g := &of.Graphs[i]
		schema, faults := compile.StoredSchema(compile.Source{Name: RevisionFile, Text: g.Source})
		if err := faults.Err(); err != nil {
			return nil, nil, nil, fmt.Errorf("the schema of graph %s in revision %d: %w", g.ID, number, err)
		}
		src := &Source{ID: g.ID, File: RevisionFile, Text: g.Source, Schema: schema, Digest: catalog.Digest(schema), Stored: g.Stored, Policy: g.Policy, Limits: g.Limits, earlier: g}
		src.Queries = slices.Sorted(maps.Keys(g.Stored.entries()))
		if is := now.Graph(g.ID); is != nil && is.Limits != nil {
			limits := *cmp.Or(src.Limits, is.Limits)
			limits.Quota = is.Limits.Quota // which servers take from cluster.yaml
			src.Limits = &limits
		}
		if is := now.Graph(g.ID); !withPolicy && is != nil {
			src.Policy = is.Policy
		} else if !withPolicy && g.Policy != nil {
			return nil, nil, nil, fmt.Errorf("graph %s is not in revision %d, which is in force, so it has no policy there; add --with-policy, which applies the policies of revision %d too", g.ID, now.Number, number)
		}
		s.Graphs = append(s.Graphs, src)
	}
	at, texts := s.configured(cfg)
	if found, err = s.policies(at, now, func(file string) ([]byte, error) { return texts[file], nil }, nil); err != nil || found.HasErrors() {
		return nil, nil, found, err
	}
	if withPolicy {
		regained = s.regained(cfg, now)
	}
	return s, regained, found, nil
}

// configured returns the configuration of the graphs in the sources with the policies of the sources, and the texts of their files.
func (s *Sources) configured(cfg *cluster.Config) (*cluster.Config, map[string][]byte) {
	at, texts := *cfg, map[string][]byte{}
	use := func(p *Policy) string {
		if p == nil {
			return ""
		}
		path := filepath.Join(filepath.Dir(cfg.File), filepath.FromSlash(p.File))
		texts[path] = []byte(p.Text)
		return path
	}
	at.Graphs = nil
	for _, g := range s.Graphs {
		if has := cfg.Graph(g.ID); has != nil {
			own := *has
			own.Policy = use(g.Policy)
			at.Graphs = append(at.Graphs, own)
		}
	}
	at.ServerPolicy = use(s.Policy)
	return &at, texts
}

// regained lists the rights that the policies of the sources give and those of a revision do not.
func (s *Sources) regained(cfg *cluster.Config, now *Revision) (list []string) {
	compare := func(whose string, was, is *Policy, o policy.Options) {
		o.AnyQuery, o.LooseGroups, o.Claims = true, true, cfg.Server.Claims
		switch {
		case is.equal(was):
			return
		case is == nil:
			list = append(list, whose+": no policy any more")
			return
		}
		before := policy.Nothing(o.Graph)
		if was != nil {
			if p, err := policy.CompileFile(was.File, []byte(was.Text), o); err == nil {
				before = p
			}
		}
		after, err := policy.CompileFile(is.File, []byte(is.Text), o)
		if err != nil {
			return // s.policies has compiled it, and reported this
		}
		for _, right := range policy.Regained(before, after, o.Queries) {
			list = append(list, whose+": "+right)
		}
	}
	for _, g := range s.Graphs {
		o := policy.Options{Graph: g.ID, Queries: g.Queries}
		for _, other := range s.Graphs {
			o.Graphs = append(o.Graphs, other.ID)
		}
		if has := cfg.Graph(g.ID); has != nil {
			o.Protected = has.Protected
		}
		compare("graph "+g.ID, now.Graph(g.ID).policy(), g.Policy, o)
	}
	compare("the server", now.Policy, s.Policy, policy.Options{})
	return list
}
