package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// puller runs gq pull with the values of its flags.
type puller struct{ graph, server, out string }

// pullCommand makes the command gq pull.
func pullCommand() *cobra.Command {
	var p puller
	cmd := &cobra.Command{
		Use:   "pull [--graph ID] [--server URL] [--out DIR]",
		Short: "Write the proposed queries of a cluster into the module",
		Long: `Write the proposed queries that were merged on a server as .gq files, each into a file of its
own, so that the next build or apply takes them over.

The command reads cluster.yaml in the current directory or a parent, and the revision in its
storage; with --server it asks that server instead, with the token of the user, and gets the
queries that the user may run. It writes no query that the files have already, and replaces
no file.`,
		Example: "  gq pull\n  gq pull --server https://graph.example.com --graph shop",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, errors.New("the command takes no arguments")}
			}
			return p.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.graph, "graph", "", "the `ID` of the graph (default: all graphs)")
	f.StringVar(&p.server, "server", "", "the `URL` of a server to ask")
	f.StringVar(&p.out, "out", "", "the `DIR` for the files (default: the folder of the first .gq file of the graph)")
	return cmd
}

// run runs gq pull.
func (p *puller) run(cmd *cobra.Command) error {
	_, cfg, err := readCluster(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if p.graph != "" && cfg.Graph(p.graph) == nil {
		return fmt.Errorf("%s has no graph %s", cfg.File, p.graph)
	}
	for i := range cfg.Graphs {
		g := &cfg.Graphs[i]
		if p.graph != "" && g.ID != p.graph {
			continue
		}
		queries, err := p.published(cmd.Context(), cfg, g.ID, cmd.ErrOrStderr())
		if err == nil {
			err = p.write(cmd, cfg, g, queries)
		}
		if err != nil {
			return fmt.Errorf("graph %s: %w", g.ID, err)
		}
	}
	return nil
}

// published returns the proposed queries of a graph. What a command prints that is asked for the token goes to stderr.
func (p *puller) published(ctx context.Context, cfg *cluster.Config, graph string, stderr io.Writer) (queries []reconcile.ProposedQuery, err error) {
	if p.server == "" {
		return inStorage(ctx, cfg, graph)
	}
	token, err := p.token(ctx, stderr)
	if err != nil {
		return nil, err
	}
	c, err := client.New(p.server, client.WithToken(token))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.Graph(graph).PublishedQueries(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range list.Queries {
		queries = append(queries, reconcile.ProposedQuery{Name: q.Name, Text: q.Text, Proposal: q.ProposalID})
	}
	return queries, nil
}

// inStorage returns the proposed queries of a graph in the storage of the module.
func inStorage(ctx context.Context, cfg *cluster.Config, graph string) (queries []reconcile.ProposedQuery, err error) {
	c, done, err := server.CommandStorage(ctx, cfg, embedded.Engine{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	r, err := c.Revision(ctx)
	return r.Graph(graph).ProposedQueries(), err
}

// token returns the bearer token for the server, or "". The error says if others could read it on its way.
func (p *puller) token(ctx context.Context, stderr io.Writer) (string, error) {
	c, err := credentials.Find(p.server)
	if err != nil || c == nil {
		return "", err
	}
	if credentials.Exposed(p.server) {
		return "", fmt.Errorf("--server is %s, but others could read the token on its way over http://; use an https:// URL", p.server)
	}
	c.Stderr = stderr
	return c.Token(ctx)
}

// write writes the queries that the files of the graph lack.
func (p *puller) write(cmd *cobra.Command, cfg *cluster.Config, g *cluster.Graph, queries []reconcile.ProposedQuery) error {
	if len(queries) == 0 {
		return nil
	}
	dir := p.out
	if dir == "" && len(g.QueryFiles) > 0 {
		dir = filepath.Dir(g.QueryFiles[0])
	}
	if dir == "" {
		return errors.New("the graph has no .gq file yet; name the folder for its queries with --out, and in cluster.yaml")
	}
	stored, err := reconcile.CompileQueries(cfg, g)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, q := range stored.Queries {
		have[q.Info().Name] = true
	}
	for _, q := range queries {
		path := filepath.Join(dir, filepath.Base(q.Name)+".gq") // a server may say anything
		if have[q.Name] {
			continue
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("writing the query %s: %w", q.Name, err)
		}
		_, err = f.WriteString(q.Text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: the query %s of graph %s, from proposal %s\n", fromHere(path), q.Name, g.ID, cmp.Or(q.Proposal, "unknown"))
		if g.Selected != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "add %s to the queries of graph %s in cluster.yaml\n", q.Name, g.ID)
		}
	}
	return nil
}

// notePublished warns of the proposed queries of the revision in the storage folder of the cluster that the files lack.
func (l *linter) notePublished(j lintJob, texts map[string]string) {
	if l.cluster.Shared != nil {
		return // lint sends no request
	}
	r, err := reconcile.ReadRevision(fs.OS(), l.cluster.Storage)
	if err != nil {
		return // cluster plan reports the fault
	}
	for _, q := range r.Graph(j.graph).ProposedQueries() {
		declares := regexp.MustCompile(`(?m)^\s*query\s+` + regexp.QuoteMeta(q.Name) + `\s*\(`)
		if !slices.ContainsFunc(j.queries, func(path string) bool { return declares.MatchString(texts[filepath.ToSlash(path)]) }) {
			fmt.Fprintf(l.stderr, "warning: revision %d has the proposed query %s of graph %s, and the files lack it; write it with gq pull\n", r.Number, q.Name, j.graph)
		}
	}
}
