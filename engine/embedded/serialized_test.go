package embedded_test

import (
	"context"
	"io"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// serialized is a graph that makes one write at a time and no reads meanwhile, so that the graphs
// behind it can be exchanged after a write.
type serialized struct {
	mu           sync.RWMutex // held for reading by reads, for writing by writes and wrote
	engine.Graph              // answers the reads
	writer       engine.Graph // makes the writes
	wrote        func()       // is called after each write
}

func (s *serialized) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.Graph.Query(ctx, q, args, at)
}

func (s *serialized) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.Mutate(ctx, q, args, opts)
}

func (s *serialized) Load(ctx context.Context, in io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.Load(ctx, in, opts)
}

func (s *serialized) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.CreateBranch(ctx, name, from)
}

func (s *serialized) DeleteBranch(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.DeleteBranch(ctx, name)
}

func (s *serialized) DeleteBranchAt(ctx context.Context, name, head string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.DeleteBranchAt(ctx, name, head)
}

func (s *serialized) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.Merge(ctx, source, target, opts)
}

func (s *serialized) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.PutProposal(ctx, p)
}

func (s *serialized) OpenDraft(ctx context.Context, n engine.NewDraft) (*engine.Draft, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.OpenDraft(ctx, n)
}

func (s *serialized) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.EndDraft(ctx, id, end)
}

func (s *serialized) CreateWatch(ctx context.Context, w engine.Watch, most int) (*engine.Watch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.CreateWatch(ctx, w, most)
}

func (s *serialized) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.ChangeWatch(ctx, id, change)
}

func (s *serialized) DeleteWatch(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.DeleteWatch(ctx, id)
}

func (s *serialized) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.ApplySchema(ctx, source, schema, opts)
}

func (s *serialized) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote()
	return s.writer.Cleanup(ctx, opts)
}
