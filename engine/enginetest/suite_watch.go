package enginetest

import (
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// watchCases returns the cases of watches.
func watchCases() []testCase {
	watch := func(s *session, w engine.Watch, most int) *engine.Watch {
		s.Helper()
		made, err := s.graph.CreateWatch(s.ctx, w, most)
		if err != nil {
			s.Fatalf("create a watch: %v", err)
		}
		return made
	}
	list := func(s *session, r engine.WatchRange) (ids []string) {
		s.Helper()
		all, err := s.graph.Watches(s.ctx, r)
		if err != nil {
			s.Fatalf("list the watches: %v", err)
		}
		for _, w := range all {
			ids = append(ids, w.ID)
		}
		return ids
	}
	return writeCases("watch", map[string]func(*session){
		"create": func(s *session) {
			head := s.head()
			want := engine.Watch{Owner: "ann", Query: "people", Arguments: []byte(`{"age":3}`), Debounce: 20 * time.Millisecond}
			first := watch(s, want, 0)
			want.ID, want.Made, want.Branch = first.ID, first.Made, engine.MainBranch
			all, err := s.graph.Watches(s.ctx, engine.WatchRange{ID: first.ID})
			if err != nil || first.ID == "" || first.Made.IsZero() || !reflect.DeepEqual(all, []engine.Watch{want}) {
				s.Errorf("the watch is stored as %+v, %v, want %+v", all, err, want)
			}
			second := watch(s, engine.Watch{Owner: "bob", Query: "people"}, 1)
			if got := list(s, engine.WatchRange{}); !reflect.DeepEqual(got, []string{first.ID, second.ID}) {
				s.Errorf("the watches are %q", got)
			}
			if got := list(s, engine.WatchRange{Owner: "bob"}); !reflect.DeepEqual(got, []string{second.ID}) {
				s.Errorf("the watches of bob are %q", got)
			}
			_, err = s.graph.CreateWatch(s.ctx, engine.Watch{Owner: "ann", Query: "people"}, 1)
			expectError[*engine.TooLarge](s, err)
			_, err = s.graph.CreateWatch(s.ctx, engine.Watch{Query: "people", Branch: "none"}, 0)
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.CreateWatch(s.ctx, engine.Watch{Query: "people", Debounce: time.Microsecond}, 0)
			expectError[*engine.BadArgument](s, err)
			_, err = s.graph.CreateWatch(s.ctx, engine.Watch{Query: "people", Arguments: []byte(strings.Repeat(" ", engine.MaxWatchBytes+1))}, 0)
			expectError[*engine.TooLarge](s, err)
			if got := s.head(); got.ID != head.ID {
				s.Errorf("a watch makes the commit %s", got.ID)
			}
		},
		"change": func(s *session) {
			made := watch(s, engine.Watch{Owner: "ann", Query: "people", State: []byte("a")}, 0)
			change := func(to string, fail error) (was string, err error) {
				err = s.graph.ChangeWatch(s.ctx, made.ID, func(state []byte) ([]byte, error) {
					was = string(state)
					return []byte(to), fail
				})
				return was, err
			}
			failed := errors.New("no")
			for _, tt := range []struct {
				to   string
				fail error
				was  string
			}{{"b", nil, "a"}, {"c", failed, "b"}, {"b", nil, "b"}, {"", nil, "b"}, {"d", nil, ""}} {
				if was, err := change(tt.to, tt.fail); was != tt.was || err != tt.fail {
					s.Errorf("the change to %q finds %q and answers %v, want %q and %v", tt.to, was, err, tt.was, tt.fail)
				}
			}
			_, err := change(strings.Repeat(" ", engine.MaxWatchBytes+1), nil)
			expectError[*engine.TooLarge](s, err)
			_, err = s.graph.CreateWatch(s.ctx, engine.Watch{Query: "people", State: []byte(strings.Repeat(" ", engine.MaxWatchBytes+1))}, 0)
			expectError[*engine.TooLarge](s, err)
			all, err := s.graph.Watches(s.ctx, engine.WatchRange{ID: made.ID})
			if err != nil || len(all) != 1 || string(all[0].State) != "d" || all[0].Query != "people" || !all[0].Made.Equal(made.Made) {
				s.Errorf("the watch is %+v, %v", all, err)
			}
			expectError[*engine.NotFound](s, s.graph.ChangeWatch(s.ctx, "none", func([]byte) ([]byte, error) { return nil, nil }))
		},
		"delete": func(s *session) {
			first, second := watch(s, engine.Watch{Owner: "ann", Query: "people"}, 0), watch(s, engine.Watch{Owner: "ann", Query: "people"}, 0)
			if err := s.graph.DeleteWatch(s.ctx, first.ID); err != nil {
				s.Fatalf("delete a watch: %v", err)
			}
			expectError[*engine.NotFound](s, s.graph.DeleteWatch(s.ctx, first.ID))
			if got := list(s, engine.WatchRange{Owner: "ann"}); !reflect.DeepEqual(got, []string{second.ID}) {
				s.Errorf("the watches of ann are %q", got)
			}
			watch(s, engine.Watch{Owner: "ann", Query: "people"}, 2)
		},
	})
}
