package restricted

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestFilters(t *testing.T) {
	named := func(names ...string) (list []*engine.RowFilter) {
		for _, n := range names {
			list = append(list, &engine.RowFilter{Name: n})
		}
		return list
	}
	rights := &engine.Rights{
		Nodes: map[string]*engine.TypeRights{"Case": {Any: [][]*engine.RowFilter{named("team"), named("own", "team")}}, "Memo": {All: named("open")}},
		Edges: map[string]*engine.TypeRights{"About": {All: named("fresh")}},
	}
	other := &engine.Rights{Digest: "other", Nodes: map[string]*engine.TypeRights{"Case": {All: named("old", "own")}}}
	work := tool.BranchNamed("work")
	for _, tt := range []struct {
		name       string
		main, work *engine.Rights
		also       []tool.Branch
		want       []string
	}{
		{"filters", rights, nil, nil, []string{"fresh", "open", "own", "team"}},
		{"all of the graph", nil, other, nil, nil},
		{"two branches", rights, other, []tool.Branch{work, {}}, []string{"fresh", "old", "open", "own", "team"}},
		{"all of main", nil, other, []tool.Branch{work}, []string{"old", "own"}},
	} {
		g := New(Config{Reads: tool.Read, Rights: func(action tool.Action, branch tool.Branch) *engine.Rights {
			switch {
			case action != tool.Read:
				return nil
			case branch == work:
				return tt.work
			}
			return tt.main
		}})
		if got := Filters(g, tt.also...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
