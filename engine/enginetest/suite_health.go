package enginetest

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
)

// healthCases check the calls that operators use: Stats, Verify, Failure and MustReopen.
func healthCases() []testCase {
	expect := func(s *session, branches int, commits int64) {
		s.Helper()
		if got := s.graph.Stats(); got.Branches != branches || got.Commits != commits {
			s.Errorf("stats: %d branches and %d commits; want %d and %d", got.Branches, got.Commits, branches, commits)
		}
	}
	return writeCases("health", map[string]func(s *session){
		"stats count branches and commits": func(s *session) {
			expect(s, 1, 2) // 2 commits: the first commit of the graph, and the load
			before := s.graph.Stats().Commits
			s.mutate(s.change().insert("Person", set{"name": "abe"}))
			expect(s, 1, before+1)
			if _, err := s.graph.CreateBranch(s.ctx, "side", engine.Target{}); err != nil {
				s.Fatalf("create a branch: %v", err)
			}
			expect(s, 2, before+1)
			m := s.change().insert("Person", set{"name": "zoe"}).query()
			if _, err := s.graph.Mutate(s.ctx, m, nil, engine.WriteOptions{Branch: "side"}); err != nil {
				s.Fatalf("mutate: %v", err)
			}
			expect(s, 2, before+2)
			if err := s.graph.DeleteBranch(s.ctx, "side"); err != nil {
				s.Fatalf("delete a branch: %v", err)
			}
			if got := s.graph.Stats().Branches; got != 1 {
				s.Errorf("stats: %d branches after a delete; want 1", got)
			}
		},
		"a sound graph verifies": func(s *session) {
			s.mutate(s.change().insert("Person", set{"name": "zoe"}))
			var nothing *engine.Unsupported // an engine that stores nothing returns this error
			if err := s.graph.Verify(s.ctx); err != nil && !errors.As(err, &nothing) {
				s.Errorf("verify: %v", err)
			}
			ended, cancel := context.WithCancel(s.ctx)
			cancel()
			if err := s.graph.Verify(ended); !errors.Is(err, context.Canceled) {
				s.Errorf("verify with a context that has ended: %v; want %v", err, context.Canceled)
			}
		},
		"a sound graph takes writes": func(s *session) {
			if err := s.graph.Failure(); err != nil || s.graph.MustReopen() {
				s.Errorf("failure %v, must reopen %t; want none", err, s.graph.MustReopen())
			}
		},
	})
}
