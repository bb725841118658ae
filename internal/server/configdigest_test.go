package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestConfigDigest changes one part of a configuration at a time. The digest must change with each part that
// decides what a server answers, and must not change with the parts that belong to one machine.
func TestConfigDigest(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	options := func() *Options {
		return &Options{
			Node: "one", Advertise: "https://one:1", Catalogs: []*tool.Catalog{{Graph: "people", SchemaDigest: "s", SourceDigest: "q"}},
			Cluster: &cluster.Config{
				File: "cluster.yaml", Peers: []string{"https://one:1"}, ServerPolicy: file("server.yaml", "policy of the server"),
				Shared: &cluster.Shared{URL: "s3://graphs", Cache: "cache", Lease: time.Second, MaxStaleness: time.Minute},
				Graphs: []cluster.Graph{{
					ID: "people", Schema: file("people.pg", "schema"), QueryFiles: []string{file("a.gq", "query"), file("b.gq", "other")},
					Policy: file("policy.yaml", "policy"), MaxRows: 1, MaxBytes: 2, MetaThreshold: 3,
					Embedding: &cluster.Embedding{Kind: cluster.EmbedMock, KeyEnv: "KEY"},
				}},
			},
		}
	}
	digest := func(o *Options) string {
		t.Helper()
		d, err := configDigest(o, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := digest(options())
	same := map[string]func(o *Options, g *cluster.Graph){
		"nothing":           func(*Options, *cluster.Graph) {},
		"node":              func(o *Options, _ *cluster.Graph) { o.Node, o.Advertise = "two", "https://two:1" },
		"cache":             func(o *Options, _ *cluster.Graph) { o.Cluster.Shared.Cache = "other" },
		"path of the file":  func(o *Options, _ *cluster.Graph) { o.Cluster.File = "/etc/cluster.yaml" },
		"path of a schema":  func(_ *Options, g *cluster.Graph) { g.Schema = file("moved.pg", "schema") },
		"name of the key":   func(_ *Options, g *cluster.Graph) { g.Embedding.KeyEnv = "OTHER" },
		"name of a cluster": func(o *Options, _ *cluster.Graph) { o.Cluster.Name = "brain" },
	}
	other := map[string]func(o *Options, g *cluster.Graph){
		"schema":               func(_ *Options, g *cluster.Graph) { g.Schema = file("x.pg", "another schema") },
		"query":                func(_ *Options, g *cluster.Graph) { g.QueryFiles[1] = file("x.gq", "another query") },
		"selected query":       func(_ *Options, g *cluster.Graph) { g.Selected = map[string]string{"find": g.QueryFiles[0]} },
		"policy":               func(_ *Options, g *cluster.Graph) { g.Policy = file("x.yaml", "another policy") },
		"no policy":            func(_ *Options, g *cluster.Graph) { g.Policy = "" },
		"policy of the server": func(o *Options, _ *cluster.Graph) { o.Cluster.ServerPolicy = file("y.yaml", "another policy") },
		"compiled queries":     func(o *Options, _ *cluster.Graph) { o.Catalogs[0].SourceDigest = "r" },
		"proposals.keep":       func(_ *Options, g *cluster.Graph) { g.ProposalKeep = 1 },
		"quota":                func(_ *Options, g *cluster.Graph) { g.Quota.Bytes = 1 },
		"rows":                 func(_ *Options, g *cluster.Graph) { g.MaxRows = 9 },
		"form of rows":         func(_ *Options, g *cluster.Graph) { g.ObjectRows = true },
		"toolsets":             func(_ *Options, g *cluster.Graph) { g.Toolsets = []string{"read"} },
		"flat arguments":       func(_ *Options, g *cluster.Graph) { g.FlatArguments = true },
		"oversize":             func(_ *Options, g *cluster.Graph) { g.RefuseOversize = true },
		"provider":             func(_ *Options, g *cluster.Graph) { g.Embedding.Model = "large" },
		"peers":                func(o *Options, _ *cluster.Graph) { o.Cluster.Peers = nil },
		"lease":                func(o *Options, _ *cluster.Graph) { o.Cluster.Shared.Lease = time.Minute },
		"retention":            func(o *Options, _ *cluster.Graph) { o.Cluster.Shared.Retention = time.Hour },
		"limits":               func(o *Options, _ *cluster.Graph) { o.Cluster.Server.Limits.Branches = 5 },
		"issuer":               func(o *Options, _ *cluster.Graph) { o.Cluster.Server.OIDC = &cluster.OIDC{Issuer: "https://id"} },
		"protected branch":     func(_ *Options, g *cluster.Graph) { g.Protected.Branches = []protected.Branch{{Name: "main"}} },
		"checks": func(_ *Options, g *cluster.Graph) {
			g.Protected.Branches = []protected.Branch{{Name: "main", Needs: &protected.Needs{Checks: true}}}
		},
		"group of approvers": func(_ *Options, g *cluster.Graph) {
			g.Protected.Branches = []protected.Branch{{Name: "main", Needs: &protected.Needs{Group: &strictyaml.Entry{Key: "reviewers"}}}}
		},
		"owners": func(_ *Options, g *cluster.Graph) {
			g.Protected.Owned = []protected.Owned{{Actor: strictyaml.Entry{Key: "act-bot"}, Owners: []strictyaml.Entry{{Key: "act-ada"}}}}
		},
		"another graph": func(o *Options, _ *cluster.Graph) {
			o.Cluster.Graphs = append(o.Cluster.Graphs, cluster.Graph{ID: "more"})
		},
	}
	seen := map[string]string{want: "the original"}
	for name, change := range same {
		o := options()
		if change(o, &o.Cluster.Graphs[0]); digest(o) != want {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range other {
		o := options()
		change(o, &o.Cluster.Graphs[0])
		d := digest(o)
		if seen[d] != "" {
			t.Errorf("%s gives the same digest as %s", name, seen[d])
		}
		seen[d] = name
	}
	// What an apply changes while servers run is not compared if a revision is applied.
	applied := func(o *Options) string {
		t.Helper()
		d, err := configDigest(o, &reconcile.Revision{Settings: "sha256:00"})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, change := range other {
		o := options()
		change(o, &o.Cluster.Graphs[0])
		_, compared := map[string]bool{"compiled queries": true, "peers": true, "lease": true, "retention": true, "limits": true, "issuer": true}[name]
		if (applied(o) != applied(options())) != compared {
			t.Errorf("with a revision, %s changes the digest: %t", name, !compared)
		}
	}
	o := options()
	o.Cluster.Graphs[0].Schema = filepath.Join(dir, "lost.pg")
	if _, err := configDigest(o, nil); err == nil {
		t.Error("a missing file gives no error")
	}
}
