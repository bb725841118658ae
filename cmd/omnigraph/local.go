package main

import (
	"context"
	"encoding/json"
	"math"
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// local is the graph of a store. Every operation goes through the served graph, which checks the
// policy.
type local struct {
	*remote
	store  engine.Graph       // the open store
	served *servedgraph.Graph // checks the policy
	actor  *access.Actor      // who makes the calls
}

// operation is a tool.Call that only this command uses.
type operation struct {
	grants []tool.Grant                                                     // permissions that the actor needs
	run    func(ctx context.Context, env *tool.Env) (answer any, err error) // performs the operation after the grants are checked
}

// Grants implements [tool.Call].
func (o *operation) Grants() []tool.Grant { return o.grants }

// Run implements [tool.Call].
func (o *operation) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	answer, err := o.run(ctx, env)
	return &tool.Outcome{Value: answer}, err
}

// call runs, on the local graph, an operation that a server offers too. It decodes the answer into
// `answer`, which must be a pointer.
func (l *local) call(ctx context.Context, name string, call tool.Call, answer any) error {
	a, err := l.served.Do(ctx, l.actor, name, call, encoding.Options{})
	if err != nil {
		return err
	}
	return json.Unmarshal(a.JSON, answer)
}

// targetGrant returns the grant that an actor needs to read a target. If the target is a commit,
// the served graph checks the grant on the branch where the commit was made. It does not reveal the
// name of that branch to an actor without the grant.
func targetGrant(at engine.Target, a tool.Action) tool.Grant {
	g := tool.Grant{Action: a, Branch: at.Branch, Commit: at.Commit}
	if a == tool.Read {
		g.Via = tool.AdHoc
	}
	return g
}

// runOptions converts the options of a write.
func runOptions(opts engine.WriteOptions) queryrun.Options {
	return queryrun.Options{DryRun: opts.DryRun, IdempotencyKey: opts.IdempotencyKey, IfCommit: opts.IfCommit}
}

// newLocal returns a source for an open store. It calls the handler of REST in this process, without the limits that a
// server has.
func newLocal(g engine.Graph, served *servedgraph.Graph, actor *access.Actor) (*local, error) {
	rest := rest.Handler(map[string]*servedgraph.Graph{served.ID(): served}, rest.Options{MaxBody: math.MaxInt64, MaxText: math.MaxInt64, MaxLoad: math.MaxInt64})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	})
	c, err := client.New("http://store", client.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: handler}}), client.WithNumbers())
	if err != nil {
		return nil, err
	}
	return &local{remote: &remote{client: c, graph: c.Graph(served.ID()), here: true}, store: g, served: served, actor: actor}, nil
}

// Close implements [source].
func (l *local) Close() error { return l.store.Close() }
