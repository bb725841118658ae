package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/follow"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/postgres"
)

// followFlags are the flags of omnigraph import follow.
type followFlags struct {
	graphFlags
	mapFile, branch, rejects, metrics string
	message                           string // of the commits
	opts                              follow.Options
	sync                              engine.SyncOptions // of a copy, without its types
}

// newImportFollow makes the command omnigraph import follow.
func newImportFollow() *cobra.Command {
	var f followFlags
	cmd := &cobra.Command{
		Use:   "follow (--store DIR | --server URL --graph ID) --map import.yaml [postgres://…]",
		Short: "Keep a graph in step with the tables of a PostgreSQL database",
		Long: `Keep a graph in step with tables of a PostgreSQL database, 12 or later. The command copies the
tables that the map names, and then follows their changes by logical replication until it is
interrupted. docs/import-follow.md says what the database needs.

The graph stores the position of the database in the commits, so the command can be killed and
started again at any time. A commit holds whole transactions. A row that breaks a rule of the
schema stops the command, or goes to the file of --rejects. A truncate, and a change of a mapped
column, stop the command; copy anew after them.

The database keeps its log for the slot while the command does not run. Drop the slot with
SELECT pg_drop_replication_slot('omnigraph') when you stop following for good.`,
		Example: "  omnigraph import follow --store data/shop --map import.yaml\n" +
			"  omnigraph import follow --server http://127.0.0.1:8080 --graph shop --map import.yaml postgres://follower@db/shop --rejects rejects.ndjson",
		RunE: f.run,
	}
	f.graphFlags.flags(cmd)
	cmd.Flags().StringVar(&f.mapFile, "map", "", "the map: a file such as import.yaml")
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch that follows the database (default: main)")
	cmd.Flags().StringVar(&f.opts.Slot, "slot", "omnigraph", "the replication slot, which the command creates; each graph needs one of its own")
	cmd.Flags().StringVar(&f.opts.Publication, "publication", "omnigraph", "the publication with the tables, which you create")
	cmd.Flags().BoolVar(&f.opts.Once, "once", false, "stop when the graph has what the database had at the start")
	cmd.Flags().BoolVar(&f.opts.CopyAnew, "copy-anew", false, "drop the slot and copy the tables again; the graph loses the rows that were deleted meanwhile")
	cmd.Flags().StringVar(&f.sync.Source, "source", "", "the name under which the graph notes what the database claims (default: the slot and the identifier of the database system)")
	cmd.Flags().BoolVar(&f.sync.Cascade, "cascade", false, "in a copy: delete nodes whose rows are gone together with edges that the database does not make")
	cmd.Flags().Int64Var(&f.sync.ApproveDeletes, "approve-deletes", 0, "in a copy: delete exactly this number of entities, more than a fifth of a type's")
	messageVar(cmd, &f.message)
	cmd.Flags().StringVar(&f.rejects, "rejects", "", "append the rows that do not fit to this `FILE`, and go on without them")
	cmd.Flags().IntVar(&f.opts.MaxRejects, "max-rejects", 100, "with --rejects, stop if more rows do not fit")
	cmd.Flags().IntVar(&f.opts.BatchBytes, "batch-bytes", 0, "the size of changes from which on a transaction goes through files")
	_ = cmd.Flags().MarkHidden("batch-bytes") // for tests
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "serve metrics in the format of Prometheus at http://`ADDRESS`/metrics, such as 127.0.0.1:9188")
	return cmd
}

// run runs the command.
func (f *followFlags) run(cmd *cobra.Command, args []string) (err error) {
	if err := f.endpoint.check(); err != nil {
		return err
	}
	if err := usage.Required(cmd, "map"); err != nil {
		return err
	}
	if f.sync.Source != "" {
		if err := engine.CheckSource(f.sync.Source); err != nil {
			return usage.Errorf("--source: %v", err)
		}
	}
	if f.opts.MaxRejects < 1 {
		return usage.Errorf("--max-rejects is %d; it must be 1 or more", f.opts.MaxRejects)
	}
	text, err := os.ReadFile(f.mapFile)
	if err != nil {
		return err
	}
	m, faults := dataimport.Parse(f.mapFile, text)
	if showFaults(cmd, faults); faults.HasErrors() {
		return fmt.Errorf("%s has errors; nothing was copied", f.mapFile)
	}
	switch {
	case len(args) > 1 || len(args) == 1 && !postgres.Is(args[0]):
		return usage.Errorf("expected at most one argument, the URL of the database, such as postgres://user@host/database")
	case len(args) == 1:
		m.Database = args[0]
		_, err = dataimport.ParseAddress(m.Database)
	case m.Database == "":
		return usage.Errorf("%s names no database; add database: postgres://user@host/database to it, or name the URL after it", f.mapFile)
	default:
		err = m.CheckDatabase()
	}
	if err != nil {
		return err
	}
	if f.rejects != "" {
		file, err := os.OpenFile(f.rejects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		f.opts.Rejects = file
	}
	f.opts.URL, f.opts.Map = m.Database, m
	f.opts.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	return f.graphFlags.run(cmd, f.follow)
}

// follow follows the database.
func (f *followFlags) follow(ctx context.Context, s *source) (*report, error) {
	in := importFlags{branch: f.branch, mapFile: f.mapFile}
	schema, _, err := in.schema(ctx, s)
	if err != nil {
		return nil, err
	}
	plan, faults := dataimport.NewPlan(f.opts.Map, schema, dataimport.Options{})
	if faults.HasErrors() {
		return nil, fmt.Errorf("%s does not fit the schema of the graph:\n%w", f.mapFile, faults.Err())
	}
	f.opts.Plan = plan
	f.opts.Graph = &followedGraph{s, f.branch, f.endpoint.server != "", f.sync, f.message, f.opts.Log}
	var status follow.Status
	if f.metrics != "" {
		stop, err := serveMetrics(f.metrics, &status)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	if err := follow.Run(ctx, f.opts, &status); err != nil {
		return nil, err
	}
	doc := map[string]int64{"changed_rows": status.Rows(), "rejected_rows": status.Rejected()}
	return &report{doc: doc, columns: columns("changed_rows", "rejected_rows"), rows: []any{doc}}, nil
}

// followedGraph is a branch of a graph. It implements [follow.Graph].
type followedGraph struct {
	graph    *source
	branch   string
	isRemote bool
	sync     engine.SyncOptions
	message  string
	log      *slog.Logger
}

// source returns the name under which the graph notes what the database claims.
func (g *followedGraph) source(c *engine.SourceChanges) string {
	if g.sync.Source != "" {
		return g.sync.Source
	}
	return c.DefaultClaim()
}

// Load implements [follow.Graph].
func (g *followedGraph) Load(ctx context.Context, lines io.Reader, c engine.SourceChanges) (string, error) {
	res, err := g.load(ctx, lines, engine.LoadOptions{Mode: engine.Patch, Sync: engine.SyncOptions{Source: g.source(&c)}, Changes: &c})
	if err != nil {
		return "", err
	}
	if s := res.Sync; s != nil && s.Kept > 0 {
		g.log.Warn("nodes whose rows were deleted stay, because they have edges that the database does not make; delete those edges, and copy anew", "nodes", s.Kept)
	}
	return res.Position, nil
}

// Copy implements [follow.Graph].
func (g *followedGraph) Copy(ctx context.Context, lines io.Reader, c engine.SourceChanges, types []string) (*follow.Copied, error) {
	sync := g.sync
	sync.Source, sync.Types = g.source(&c), types
	res, err := g.load(ctx, lines, engine.LoadOptions{Mode: engine.Sync, Sync: sync, Changes: &c})
	if err != nil {
		return nil, err
	}
	return &follow.Copied{Position: res.Position, Released: res.Sync.Released, Deleted: res.Sync.Deleted, Cascaded: res.Sync.Cascaded, Kept: res.Sync.Kept}, nil
}

// load loads lines into the branch. The error is a [follow.ErrUnsure] too if the load may have been made.
func (g *followedGraph) load(ctx context.Context, lines io.Reader, opts engine.LoadOptions) (*client.LoadAnswer, error) {
	opts.Branch, opts.Message = g.branch, g.message
	res, err := g.graph.Load(ctx, &loadData{r: lines}, opts)
	var refused *client.Error
	if err != nil && g.isRemote && (!errors.As(err, &refused) || refused.Status >= 500 || refused.Status == http.StatusTooManyRequests) {
		err = errors.Join(follow.ErrUnsure, err)
	}
	return res, err
}

// Faults implements [follow.Graph].
func (g *followedGraph) Faults(err error) (lines []dataimport.LineFault, more bool) {
	return loadFaults(err)
}

// serveMetrics serves the state of a follower until `stop` is called.
func serveMetrics(address string, s *follow.Status) (stop func(), err error) {
	registry := prometheus.NewRegistry()
	for _, m := range []struct {
		name, help string
		value      func() float64
	}{
		{"omnigraph_follow_behind_bytes", "Bytes of the database's log that the graph does not have yet.", func() float64 { return float64(s.Behind()) }},
		{"omnigraph_follow_retained_bytes", "Bytes of the log that the database keeps for the slot.", func() float64 { return float64(s.Retained()) }},
		{"omnigraph_follow_lag_seconds", "Time between the last applied commit in the database and its commit in the graph.", func() float64 { return s.Lag().Seconds() }},
		{"omnigraph_follow_rows", "Changed rows that this process applied.", func() float64 { return float64(s.Rows()) }},
		{"omnigraph_follow_rejected_rows", "Rows that this process rejected.", func() float64 { return float64(s.Rejected()) }},
	} {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.name, Help: m.help}, m.value))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: metricsTimeout}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with stop
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

// metricsTimeout is the limit for the header of a request for metrics.
const metricsTimeout = 10e9
