package launch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"al.essio.dev/pkg/shellescape"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/buildversion"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/studio"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	devActor     = "act-dev"   // the actor of the development token
	devTokenFile = "dev-token" // file of the development token, in the data folder
	devRows      = 8           // how many rows of the sample query are shown
)

// devToken reads the development token from a data folder. If there is none, it creates one, in
// a file that only the owner may read.
func devToken(storage string) (string, error) {
	path := filepath.Join(storage, devTokenFile)
	b, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(storage, 0o700); err != nil {
		return "", err
	}
	token := rand.Text()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token + "\n")
	return token, errors.Join(err, f.Close())
}

// showCall prints how to connect a client. It then calls a sample query over MCP, as any client
// would, and prints the rows. If the sample call fails, showCall only reports that.
func showCall(ctx context.Context, w io.Writer, bind string, addr net.Addr, s *server.Server, config *cluster.Config, p Program, token string) {
	dial, name := reachableAddress(bind, addr, config.Server.PublicHosts)
	c := newCaller(dial, token)
	defer c.transport.CloseIdleConnections()
	shown := false
	if !s.Serves(p.Sample.Graph) {
		p.Sample = Sample{}
	}
	for _, g := range config.Graphs {
		if !s.Serves(g.ID) {
			continue
		}
		url := fmt.Sprintf("http://%s/graphs/%s/mcp", name, g.ID)
		fmt.Fprintf(w, "\nMCP     %s\nClient  claude mcp add --transport http %s %s --header %s\n", url,
			shellescape.Quote(g.ID), shellescape.Quote(url), shellescape.Quote("Authorization: Bearer "+token))
		if config.Server.Studio {
			// Browsers do not send the part of an address after # to a server. The studio removes
			// that part from the address.
			fmt.Fprintf(w, "Studio  http://%s%s%s#token=%s\n", name, studio.Path, g.ID, token)
		}
		if g.Policy != "" {
			if err := tellDenied(ctx, w, url, g, c); err != nil && ctx.Err() == nil {
				fmt.Fprintf(w, "Policy  the tools of %s could not be listed: %s\n", devActor, printable(err.Error()))
			}
		}
		if shown {
			continue
		}
		if q := sampleOf(p, g.ID); q != nil {
			shown = true
			if err := showQuery(ctx, w, url, q, c); err != nil && ctx.Err() == nil {
				fmt.Fprintf(w, "\nThe sample call of %s failed: %s\n", q.Info().Name, printable(err.Error()))
			}
		}
	}
	fmt.Fprintln(w, "\nServing; Ctrl-C stops.")
}

// sampleOf returns the query of a graph to call as a sample, or nil: the one that the program
// names, or else the first exposed read that needs no arguments.
func sampleOf(p Program, graph string) tool.StoredQuery {
	if p.Sample.Graph != "" && p.Sample.Graph != graph {
		return nil
	}
	var first tool.StoredQuery
	for _, c := range p.Catalogs {
		if c.Graph != graph {
			continue
		}
		for _, q := range c.Queries {
			if q.Info().Name == p.Sample.Query {
				return q
			}
			if first == nil && q.Info().Exposed && !q.Info().Mutation && !needsParams(q) {
				first = q
			}
		}
	}
	return first
}

// needsParams reports whether a query has a parameter that a call must give.
func needsParams(q tool.StoredQuery) bool {
	return slices.ContainsFunc(q.Params(), func(p plan.Param) bool { return !p.Optional() })
}

// tellDenied says so if the policy of a graph lets the actor of the development token use nothing: the only
// tool in its list is then the one that needs no right.
func tellDenied(ctx context.Context, w io.Writer, url string, g cluster.Graph, c *caller) error {
	session, err := connect(ctx, url, c)
	if err != nil {
		return err
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err == nil && !slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name != "graph_health" }) {
		fmt.Fprintf(w, "Policy  %s allows %s, the actor of the development token, nothing on %s; add a rule for %s to that file, or use the token of another actor\n",
			g.Policy, devActor, g.ID, devActor)
	}
	return err
}

// connect opens an MCP session at the url.
func connect(ctx context.Context, url string, c *caller) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "omnigraph-server", Version: buildversion.Program()}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             url,
		HTTPClient:           &http.Client{Transport: c},
		DisableStandaloneSSE: true,
	}, nil)
}

// showQuery calls a stored query over MCP at the `url` and prints the first rows.
func showQuery(ctx context.Context, w io.Writer, url string, q tool.StoredQuery, c *caller) error {
	session, err := connect(ctx, url, c)
	if err != nil {
		return err
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	call := &mcp.CallToolParams{Name: q.Descriptor().Name}
	if slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == metatools.RunQuery }) {
		call = &mcp.CallToolParams{Name: metatools.RunQuery, Arguments: map[string]any{"name": q.Info().Name}}
	}
	res, err := session.CallTool(ctx, call)
	if err != nil {
		return err
	}
	if res.IsError {
		text, _ := json.Marshal(res.Content)
		return fmt.Errorf("answered %s", text)
	}
	return printRows(w, res.StructuredContent)
}

// printRows prints the first rows of a read's structured content as a table.
func printRows(w io.Writer, content any) error {
	b, err := json.Marshal(content)
	if err != nil {
		return err
	}
	var read struct {
		QueryName string   `json:"query_name"`
		Columns   []string `json:"columns"`
		Rows      []any    `json:"rows"`
		RowCount  int      `json:"row_count"`
	}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	count := fmt.Sprintf("%d rows; the first is", read.RowCount)
	if read.RowCount == 1 {
		count = "1 row"
	}
	fmt.Fprintf(w, "\n%s returns %s:\n\n", read.QueryName, count)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(read.Columns, "\t"))
	for _, row := range read.Rows[:min(devRows, len(read.Rows))] {
		cells := make([]string, len(read.Columns))
		for i, c := range read.Columns {
			switch row := row.(type) {
			case []any:
				cells[i] = printable(fmt.Sprint(row[i]))
			case map[string]any: // with mcp.rows: objects
				cells[i] = printable(fmt.Sprint(row[c]))
			}
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// printable escapes the control characters that a terminal would interpret, because rows may
// contain any character.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
