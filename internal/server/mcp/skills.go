package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/skill"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file serves the skill of the graph by the extension io.modelcontextprotocol/skills, SEP-2640. A
// caller gets a skill about the types, queries and tools that the caller may see. Callers with the same
// rights get the same bytes.

const (
	skillsExtension = "io.modelcontextprotocol/skills"
	skillScheme     = "skill://"
	markdown        = "text/markdown"
)

// listSkillsParams are the params of skills/list.
type listSkillsParams struct {
	Cursor string `json:"cursor"`
}

// listSkillsResult is the result of skills/list.
type listSkillsResult struct {
	mcp.ResultBase
	mcp.Cacheable
	Skills []skillEntry `json:"skills"`
}

// getSkillResult is the result of skills/get.
type getSkillResult struct {
	mcp.ResultBase
	mcp.Cacheable
	Skill skillEntry `json:"skill"`
}

// skillEntry describes a skill.
type skillEntry struct {
	URI         string           `json:"uri"` // of its SKILL.md
	Frontmatter skillFrontmatter `json:"frontmatter"`
	Resources   []skillResource  `json:"resources"` // all files
}

// skillFrontmatter is the frontmatter of a SKILL.md.
type skillFrontmatter struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// skillResource is a file of a skill.
type skillResource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // sha256:<hex> of the bytes
	Size   int    `json:"size"`   // in bytes
}

// uriOfFile returns the URI of a file of a skill.
func uriOfFile(s *skill.Skill, path string) string { return skillScheme + s.Name + "/" + path }

// entryOf returns the description of a skill.
func entryOf(s *skill.Skill) skillEntry {
	e := skillEntry{URI: uriOfFile(s, skill.Main), Frontmatter: skillFrontmatter{s.Name, s.Description}}
	for i := range s.Files {
		f := &s.Files[i]
		e.Resources = append(e.Resources, skillResource{uriOfFile(s, f.Path), f.Digest(), len(f.Text)})
	}
	return e
}

// listSkills answers skills/list.
func (s *surface) listSkills(ctx context.Context, p *listSkillsParams) (mcp.Result, error) {
	if p.Cursor != "" {
		return nil, noCursor()
	}
	res := &listSkillsResult{Skills: []skillEntry{}, Cacheable: private(listTTL)}
	sk, err := s.skill(ctx)
	if err != nil {
		return nil, err
	}
	if sk != nil {
		res.Skills = append(res.Skills, entryOf(sk))
	}
	return res, nil
}

// bindSkillGet decodes the params of skills/get.
func bindSkillGet(s *surface, m *message) (run, error) {
	uri, err := subject(m, m.uri, "uri")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (mcp.Result, error) {
		sk, err := s.skill(ctx)
		if err != nil {
			return nil, err
		}
		if sk == nil || uri != uriOfFile(sk, skill.Main) {
			return nil, invalidParams(fmt.Sprintf("no skill is served at %q; skills/list lists the URIs", uri))
		}
		return &getSkillResult{Skill: entryOf(sk), Cacheable: private(0)}, nil
	}, nil
}

// readSkill reads a file of the skill. The size of an answer does not limit it, because a client
// compares the whole file with its digest.
func (s *surface) readSkill(ctx context.Context, uri string) (mcp.Result, error) {
	sk, err := s.skill(ctx)
	if err != nil {
		return nil, err
	}
	if sk != nil {
		for i := range sk.Files {
			if f := &sk.Files[i]; uri == uriOfFile(sk, f.Path) {
				return &mcp.ReadResourceResult{
					Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: markdown, Text: string(f.Text)}}, Cacheable: private(0),
				}, nil
			}
		}
	}
	return nil, mcp.ResourceNotFoundError(uri)
}

// skillListing returns the SKILL.md of the caller's skill as a resource, or nil if there is none.
func (s *surface) skillListing(ctx context.Context) (*mcp.Resource, error) {
	sk, err := s.skill(ctx)
	if sk == nil || err != nil {
		return nil, err
	}
	return &mcp.Resource{
		URI: uriOfFile(sk, skill.Main), Name: sk.Name, Title: "Skill", MIMEType: markdown,
		Description: sk.Description, Size: int64(len(sk.Files[0].Text)),
	}, nil
}

// skill returns the skill of the graph for the caller. It is nil if the caller may neither read main,
// nor run a stored query, nor write.
func (s *surface) skill(ctx context.Context) (*skill.Skill, error) {
	actor := access.ActorFrom(ctx)
	seen, err := s.graph.Tools(ctx, actor)
	if err != nil {
		return nil, err
	}
	queries := s.graph.SeenQueries(ctx, actor)
	reads := s.graph.Allowed(actor, access.ReadOn(tool.Branch{})) // also by its scopes: the skill repeats the schema
	if !reads && len(queries) == 0 && !slices.ContainsFunc(seen, func(d *tool.Descriptor) bool { return !d.ReadOnly }) {
		return nil, nil
	}
	names := namesOf(seen)
	for _, q := range queries { // with the meta tools, the queries are no tools, and the caller may know them
		names[q.Descriptor().Name] = true
	}
	g := &skill.Graph{ID: s.graph.ID(), Instructions: instructionsFor(seen, s.servedTo(actor, len(queries) > 0))}
	if reads {
		schema, err := s.graph.Schema(ctx, actor)
		if err != nil {
			return nil, err
		}
		g.Schema, g.Source = schema.Catalog, schema.Source
	}
	return s.skills.of(s.skillKey(g, queries, names), func() *skill.Skill {
		g.Queries = skillQueries(queries, s.graph.Meta(), func(text string) string { return s.redaction.text(text, names) })
		return skill.Write(g)
	}), nil
}

// skillKey returns a digest of everything that a skill depends on: the catalog, the names of the
// queries and of the tools that the caller may see, the instructions, and the source of the schema.
func (s *surface) skillKey(g *skill.Graph, queries []tool.StoredQuery, names map[string]bool) skillKey {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %t %q %d", s.graph.CatalogDigest(), g.Instructions, g.Schema != nil, g.Source, len(queries))
	if g.Schema != nil && g.Source == "" {
		fmt.Fprintf(h, " %q", catalog.Digest(g.Schema)) // of the part that the caller may see
	}
	for _, q := range queries {
		fmt.Fprintf(h, " %q", q.Info().Name)
	}
	fmt.Fprintf(h, " %q", slices.Sorted(maps.Keys(names)))
	return skillKey(h.Sum(nil))
}

// maxSkills is the number of skills that a surface keeps. It is the number of different sets of rights
// that the readers of skills usually have; a full cache is cleared.
const maxSkills = 16

// skillKey identifies the content of a skill.
type skillKey [sha256.Size]byte

// skillCache keeps the skills that callers have read, so that a client which reads each file of a skill
// makes the server write the skill only once. A skill in the cache does not change.
type skillCache struct {
	mu   sync.Mutex
	kept map[skillKey]*skill.Skill // guarded by mu
}

// of returns the skill with a key. If it is not in the cache, the function `write` makes it.
func (c *skillCache) of(key skillKey, write func() *skill.Skill) *skill.Skill {
	c.mu.Lock()
	kept := c.kept[key]
	c.mu.Unlock()
	if kept != nil {
		return kept
	}
	made := write() // not under the lock: a large skill must not hold up other callers
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxSkills {
		c.kept = map[skillKey]*skill.Skill{}
	}
	c.kept[key] = made
	return made
}

// skillQueries describes stored queries for a skill. The function `clean` removes from a text the names
// of tools that the caller may not see.
func skillQueries(queries []tool.StoredQuery, meta bool, clean func(string) string) []*skill.Query {
	runTool := ""
	if meta {
		runTool = metatools.RunQuery
	}
	all := make([]*skill.Query, len(queries))
	for i, q := range queries {
		info, d := q.Info(), q.Descriptor()
		_, call := queryrun.HowToCall(q, runTool)
		one := &skill.Query{
			Name: info.Name, Call: call, Title: d.Title, Description: clean(info.Description), Instruction: clean(info.Instruction),
			Mutation: info.Mutation,
		}
		for _, question := range info.Questions {
			if question = clean(question); question != "" {
				one.Questions = append(one.Questions, question)
			}
		}
		for _, p := range paramsOf(q) {
			one.Params = append(one.Params, skill.Param{
				Name: p.Name, Type: p.Type, Optional: p.Optional, Description: clean(p.Description), Default: string(p.Default), Range: p.Range,
			})
		}
		all[i] = one
	}
	return all
}

// NewSkill returns the skill that a server sends to a caller who may do everything on a graph. The
// arguments are the id of the graph, its schema with its source, its built-in tools and its stored
// queries. The meta tools run the queries if the number of exposed queries reaches the threshold; a
// threshold of 0 means the default of the server.
func NewSkill(graph string, schema *catalog.Schema, source string, builtins []tool.Tool, queries []tool.StoredQuery, threshold int) *skill.Skill {
	tools, meta := servedgraph.ListedTools(builtins, queries, threshold)
	var exposed []tool.StoredQuery
	for _, q := range queries {
		if q.Info().Exposed {
			exposed = append(exposed, q)
		}
	}
	return skill.Write(&skill.Graph{
		ID: graph, Instructions: instructionsFor(tools, served{stored: len(exposed) > 0, meta: meta}), Schema: schema, Source: source,
		Queries: skillQueries(exposed, meta, func(text string) string { return strings.TrimSpace(text) }),
	})
}
