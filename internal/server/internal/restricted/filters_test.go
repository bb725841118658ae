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
	for _, tt := range []struct {
		name   string
		rights *engine.Rights
		want   []string
	}{{"filters", rights, []string{"fresh", "open", "own", "team"}}, {"all of the graph", nil, nil}} {
		g := New(Config{Reads: tool.Read, Rights: func(action tool.Action, _ tool.Branch) *engine.Rights {
			if action != tool.Read {
				return nil
			}
			return tt.rights
		}})
		if got := Filters(g); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
