package rest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// stored is a graph whose Verify returns err.
type stored struct {
	engine.Graph
	err error
}

func (g stored) Verify(context.Context) error { return g.err }

func TestVerify(t *testing.T) {
	writer := servedtest.Writer
	for _, found := range []struct {
		name   string
		err    error
		status int
		want   string
	}{
		{"sound", nil, 200, `{"faults":[]}`},
		{"faults", errors.Join(&engine.Corrupt{Object: "seg/1", Detail: "bad sum"}, nil, &engine.Corrupt{Object: "log", Detail: "cut off"}), 200,
			`{"faults":[{"object":"seg/1","detail":"bad sum"},{"object":"log","detail":"cut off"}]}`},
		{"failure", errors.Join(&engine.Corrupt{Object: "seg/1", Detail: "bad sum"}, errors.New("no such device")), 500, `{"error":"internal error (id `},
	} {
		c := servedtest.Config(t)
		c.Graph = stored{c.Graph, found.err}
		steps(t, c, rest.Options{}, []request{
			{name: found.name, actor: writer, method: "POST", path: "/verify", status: found.status, want: found.want, lacks: "device"},
			{name: found.name + ", with a body", actor: writer, method: "POST", path: "/verify", body: `{}`, status: found.status, want: found.want},
			{name: found.name + ", denied", actor: servedtest.Reader, method: "POST", path: "/verify", status: 403, want: `does not allow admin`},
		})
	}
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "nothing is stored", actor: writer, method: "POST", path: "/verify", status: 400, want: `not supported by this engine`},
	})
}

func TestCleanup(t *testing.T) {
	writer := servedtest.Writer
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "keep what", actor: writer, method: "POST", path: "/cleanup", body: `{"dry_run":true}`, status: 400, want: `a cleanup cannot be undone`},
		{name: "keep none", actor: writer, method: "POST", path: "/cleanup", body: `{"keep_commits":0}`, status: 400, want: `keep_commits: the number must be at least 1`},
		{name: "bad instant", actor: writer, method: "POST", path: "/cleanup", body: `{"keep_since":"yesterday"}`, status: 400, want: `keep_since: found`},
		{name: "try", actor: writer, method: "POST", path: "/cleanup", body: `{"keep_commits":1,"dry_run":true}`, status: 200, want: `{"commits_reclaimed":1,"commits_kept":1,`},
		{name: "since", actor: writer, method: "POST", path: "/cleanup", body: `{"keep_commits":1,"keep_since":"2000-01-01T00:00:00Z"}`, status: 200, want: `{"commits_reclaimed":0,"commits_kept":2,`},
		{name: "denied", actor: servedtest.Reader, method: "POST", path: "/cleanup", body: `{"keep_commits":1}`, status: 403, want: `does not allow admin`},
		{name: "keep one", actor: writer, method: "POST", path: "/cleanup", body: `{"keep_commits":1}`, status: 200, want: `{"commits_reclaimed":1,"commits_kept":1,`},
		{name: "still listed", actor: writer, method: "GET", path: "/commits", status: 200, want: `"graph_manifest_version":1,`},
		{name: "changes that are gone", actor: writer, method: "GET", path: "/commits/COMMIT/changes", status: 410,
			want: `"code":"not_found","change_feed_gap":{"first_unreadable_commit_id":"`},
	})
}
