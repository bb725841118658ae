package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

// errPending is the error of plan --check if an apply would change something.
var errPending = errors.New("cluster.yaml has changes that are not applied; run omnigraph cluster apply")

// newClusterPlan makes the command omnigraph cluster plan.
func newClusterPlan() *cobra.Command {
	var f clusterFlags
	var check bool
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what cluster apply would do",
		Long: `Show what cluster apply would do, and change nothing: the graphs to create, the steps from
each live schema to the schema in its file, the stored queries to record, and the graphs
that cluster.yaml does not name, which apply keeps. If steps remove values from a graph, the plan has the digest
that approves them.

If another process than a running server has a graph open, the command plans it from the
recorded revision and does not read its data. The exit code is 1 if a graph cannot change
to its schema. With --check it is 4 if there are changes to apply.
` + noPolicy,
		Example: "  omnigraph cluster plan\n  omnigraph cluster plan --cluster . --format json",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.on(cmd, func(c *reconcile.Cluster, s *reconcile.Sources) error {
				p, err := c.Plan(cmd.Context(), s)
				if err != nil {
					return err
				}
				r := &report{doc: planDoc(p), columns: columns("graph", "change", "detail"), rows: rowsOf(planRows(p)), note: planNote(p)}
				switch blocked := blockedIn(p); {
				case blocked != "":
					err = fmt.Errorf("cluster apply would fail: graph %s cannot change to its schema", blocked)
				case check && p.Pending():
					err = errPending
				}
				return errors.Join(f.print(cmd, r), err)
			})
		},
	}
	f.flags(cmd)
	f.again(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "exit with 4 if there are changes to apply")
	return cmd
}

// planAnswer is the JSON form of a plan.
type planAnswer struct {
	Revision *revisionAnswer   `json:"revision"` // the recorded revision; null if none is recorded
	Pending  bool              `json:"pending"`  // whether cluster apply has anything to do
	Graphs   []graphPlanAnswer `json:"graphs"`   // the graphs of cluster.yaml
	Kept     []keptAnswer      `json:"kept"`     // graphs that cluster.yaml does not name

	// Servers are the servers that have given signs of life in shared storage. Only cluster status
	// sets it.
	Servers []replica.Sign `json:"servers,omitempty"`
}

// revisionAnswer is the JSON form of a recorded revision.
type revisionAnswer struct {
	Revision     uint64 `json:"revision"`          // number of the revision, from 1
	ConfigDigest string `json:"config_digest"`     // identifies the recorded configuration
	AppliedAt    int64  `json:"applied_at"`        // Unix microseconds
	Actor        string `json:"actor"`             // who applied the configuration
	Message      string `json:"message,omitempty"` // why
}

// graphPlanAnswer is the plan for one graph of cluster.yaml.
type graphPlanAnswer struct {
	GraphID        string                       `json:"graph_id"`        // id of the graph
	State          reconcile.State              `json:"state"`           // what apply has to do
	Drift          bool                         `json:"drift"`           // the live schema differs from the recorded one
	RecordedDigest *string                      `json:"recorded_digest"` // digest of the schema in the revision
	LiveDigest     *string                      `json:"live_digest"`     // digest of the schema of the graph's head
	WantedDigest   string                       `json:"wanted_digest"`   // digest of the schema in cluster.yaml
	Commit         *string                      `json:"commit"`          // id of the graph's head
	Destructive    bool                         `json:"destructive"`     // a step removes values from the graph
	Approve        *string                      `json:"approve"`         // digest to pass to cluster apply --approve
	Steps          []operations.SchemaApplyStep `json:"steps"`
	Queries        []queryChangeAnswer          `json:"queries"`          // the stored queries that apply records otherwise
	Proposed       []string                     `json:"proposed"`         // proposed queries that only the revision has, which apply keeps without --prune
	Breaking       []breaking.Change            `json:"breaking"`         // the changes of queries that break callers
	ApproveBreak   *string                      `json:"approve_breaking"` // digest to pass to cluster apply --breaking
	NewPolicy      bool                         `json:"new_policy"`       // apply records another policy, or none
	Problem        *string                      `json:"problem"`          // why apply cannot change the graph
}

// queryChangeAnswer is a stored query that differs from the recorded revision.
type queryChangeAnswer struct {
	Name   string `json:"name"`   // name of the query
	Change string `json:"change"` // added, changed or removed
}

// keptAnswer describes a graph that cluster.yaml does not name.
type keptAnswer struct {
	GraphID    string  `json:"graph_id"`    // id of the graph
	LiveDigest *string `json:"live_digest"` // digest of the live schema; null if it is unknown
	Missing    bool    `json:"missing"`     // the folder of the graph does not exist
	Problem    *string `json:"problem"`     // why the graph could not be read
}

// planDoc returns the JSON form of a plan.
func planDoc(p *reconcile.Plan) *planAnswer {
	a := &planAnswer{Revision: revisionJSON(p.Revision), Pending: p.Pending(), Graphs: []graphPlanAnswer{}, Kept: []keptAnswer{}}
	for _, g := range p.Graphs {
		x := graphPlanAnswer{
			GraphID: g.ID, State: g.State(), Drift: g.Drifted(), RecordedDigest: encoding.OrNil(g.Recorded), LiveDigest: encoding.OrNil(g.Live), WantedDigest: g.Digest,
			Commit: encoding.OrNil(g.Head), Approve: encoding.OrNil(g.Approval()), Steps: []operations.SchemaApplyStep{}, Queries: []queryChangeAnswer{}, NewPolicy: g.NewPolicy,
			Proposed: append([]string{}, g.KeptProposed...), Breaking: append([]breaking.Change{}, g.Breaking...), ApproveBreak: encoding.OrNil(g.BreakingDigest()), Problem: encoding.OrNil(problem(g)),
		}
		for _, q := range g.Changed {
			x.Queries = append(x.Queries, queryChangeAnswer(q))
		}
		if g.Change != nil {
			x.Destructive = g.Change.Destructive
			for _, s := range g.Change.Steps {
				x.Steps = append(x.Steps, operations.SchemaApplyStep{Step: s.String(), Destructive: s.Destructive(), Reason: s.Reason})
			}
		}
		a.Graphs = append(a.Graphs, x)
	}
	for _, k := range p.Kept {
		x := keptAnswer{GraphID: k.ID, LiveDigest: encoding.OrNil(k.Live), Missing: k.Missing}
		if k.Err != nil {
			x.Problem = encoding.OrNil(k.Err.Error())
		}
		a.Kept = append(a.Kept, x)
	}
	return a
}

// revisionJSON returns the JSON form of a revision, or nil if r is nil.
func revisionJSON(r *reconcile.Revision) *revisionAnswer {
	if r == nil {
		return nil
	}
	return &revisionAnswer{r.Number, r.Config, r.Applied, r.Actor, r.Message}
}

// problem returns the reason why an apply cannot change a graph now, or "" if it can.
func problem(g *reconcile.GraphPlan) string {
	switch {
	case g.InUse != nil:
		return g.InUse.Reason
	case g.Blocked != nil:
		return g.Blocked.Error()
	}
	return ""
}

// blockedIn returns the first graph that cannot change to its schema, or "".
func blockedIn(p *reconcile.Plan) (graph string) {
	for _, g := range p.Graphs {
		if g.State() == reconcile.Blocked {
			return g.ID
		}
	}
	return ""
}

// planRow is one line of a printed plan.
type planRow struct {
	Graph  string `json:"graph"`  // id of the graph
	Change string `json:"change"` // create, step, approve, ...
	Detail string `json:"detail"` // the change in words
}

// planRows returns the lines of a plan.
func planRows(p *reconcile.Plan) (rows []planRow) {
	for _, g := range p.Graphs {
		add := func(change, detail string) { rows = append(rows, planRow{g.ID, change, detail}) }
		if g.Drifted() {
			detail := "the live schema " + g.Live + " differs from the applied schema " + g.Recorded
			if g.Live == g.Digest {
				detail += ", but equals the schema in cluster.yaml; an apply was interrupted, or someone applied the schema without cluster apply"
			}
			add("drift", detail)
		}
		switch g.State() {
		case reconcile.InUse:
			add("in_use", g.InUse.Reason)
		case reconcile.Blocked:
			for line := range strings.Lines(g.Blocked.Error()) {
				add("blocked", strings.TrimSpace(line))
			}
			continue
		case reconcile.Create:
			add("create", plural(int64(len(g.Schema.Nodes)), "node type")+", "+plural(int64(len(g.Schema.Edges)), "edge type"))
		case reconcile.Record:
			if g.Recorded != g.Digest {
				add("record", "the graph already has its schema, but the revision must still record it")
			}
		case reconcile.UpToDate:
			add("up_to_date", "")
		case reconcile.Change:
		}
		if g.Change != nil {
			for _, s := range g.Change.Steps {
				add("step", s.String())
			}
			if len(g.Change.Steps) == 0 {
				add("text", "only the layout or the comments of the schema differ")
			}
			if a := g.Approval(); a != "" {
				add("approve", "--approve "+a)
			}
		}
		for _, q := range g.Changed {
			add("query", q.String())
		}
		for _, name := range g.KeptProposed {
			add("proposed", name+": only the revision has it; gq pull writes it into the module")
		}
		for _, c := range g.Breaking {
			add("breaking", c.Query+": "+c.Message)
		}
		if d := g.BreakingDigest(); d != "" {
			add("approve", "--breaking "+d)
		}
		if g.NewPolicy {
			add("policy", cmp.Or(g.PolicyFile(), "none"))
		}
	}
	for _, id := range p.Removed {
		rows = append(rows, planRow{id, "breaking", "the graph and its tools are removed"}, planRow{id, "approve", "--breaking " + reconcile.RemovalDigest(id)})
	}
	for _, k := range p.Kept {
		detail := "cluster.yaml does not name the graph; apply keeps its data"
		switch {
		case k.Missing:
			detail = "cluster.yaml does not name the graph, and its folder does not exist"
		case k.Err != nil:
			detail += " (" + k.Err.Error() + ")"
		}
		rows = append(rows, planRow{k.ID, "kept", detail})
	}
	return rows
}

// planNote says which revision is recorded, and what cluster apply would do.
func planNote(p *reconcile.Plan) string {
	recorded := "no revision is recorded"
	if p.Revision != nil {
		recorded = fmt.Sprintf("revision %d is recorded", p.Revision.Number)
	}
	switch {
	case blockedIn(p) != "":
		return recorded + "; cluster apply would fail"
	case p.Next != nil:
		return fmt.Sprintf("%s; apply records revision %d", recorded, p.Next.Number)
	case p.Pending():
		return recorded + "; cluster apply changes the graphs to match it"
	}
	return recorded + "; there is nothing to do"
}
