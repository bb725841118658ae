package reconcile

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestLimits takes the limits of a revision over into another configuration, and stores them.
func TestLimits(t *testing.T) {
	from := &cluster.Config{Graphs: []cluster.Graph{{ID: "box", MaxRows: 7, MaxBytes: 8, RefuseOversize: true, DraftKeep: time.Hour, MaxDrafts: 9, Quota: cluster.Quota{Bytes: 10}}}}
	from.Server.Limits = cluster.Limits{PerActorInflight: 1, TotalInflight: 2, RequestTimeout: 3, BodyBytes: 4, LoadBytes: 5, QueryBytes: 6, MemoryBytes: 7, Branches: 8, PerActorSubscriptions: 9, TotalSubscriptions: 10}
	limits := from.Server.Limits
	s := &Sources{Settings: digest(nil), Limits: &limits, Graphs: []*Source{{ID: "box", Limits: limitsOf(&from.Graphs[0])}}}
	r, err := decode("r", encode(next(nil, s)))
	if err != nil {
		t.Fatal(err)
	}
	to := &cluster.Config{Graphs: []cluster.Graph{{ID: "box", MaxRows: 1000, Quota: cluster.Quota{Bytes: 11}}, {ID: "other", MaxRows: 1000}}}
	to.Server.Limits = cluster.Limits{PerActorInflight: 100, QueryBytes: 60, MemoryBytes: 70, Branches: 80}
	if !r.Limit(to) || r.Limit(to) {
		t.Error("only the first time must change limits")
	}
	want := from.Server.Limits
	want.QueryBytes, want.MemoryBytes, want.Branches = 60, 70, 80 // of the own cluster.yaml
	if to.Server.Limits != want {
		t.Errorf("the limits of the server are %+v, want %+v", to.Server.Limits, want)
	}
	box := from.Graphs[0]
	box.Quota.Bytes = 11
	if !reflect.DeepEqual(to.Graphs[0], box) || to.Graphs[1].MaxRows != 1000 {
		t.Errorf("the graphs are %+v", to.Graphs)
	}

	// Each limit is a difference between revisions, and some need a start of the servers.
	v := reflect.ValueOf(&limits).Elem()
	for i := range v.NumField() {
		was := v.Field(i).Int()
		v.Field(i).SetInt(was + 1)
		changed := next(r, s)
		v.Field(i).SetInt(was)
		if changed == nil {
			t.Fatalf("another %s is no other revision", v.Type().Field(i).Name)
		}
		l := limits
		reflect.ValueOf(&l).Elem().Field(i).SetInt(was + 1)
		changed.Limits = &l
		needs := slices.Contains([]string{"QueryBytes", "MemoryBytes", "Branches", "LoadBytes"}, v.Type().Field(i).Name)
		if names := changed.NeedStart(r); (len(names) == 1) != needs {
			t.Errorf("with another %s, the limits %v need a start", v.Type().Field(i).Name, names)
		}
	}
	s.Graphs[0].Limits = &GraphLimits{Quota: cluster.Quota{Bytes: 12}}
	if names := next(r, s).NeedStart(r); !slices.Equal(names, []string{"graphs.box.quota"}) {
		t.Errorf("with another quota, the limits %v need a start", names)
	}
	var none *Revision
	none.Limit(to)
	if names := r.NeedStart(none); names != nil || to.Server.Limits != want {
		t.Errorf("without a revision: %v, %+v", names, to.Server.Limits)
	}
}
