package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const (
	// moveTime is how long cluster move waits for the server to become the writer.
	moveTime = 30 * time.Second

	// movePause is the pause before the command reads the servers' signs of life again.
	movePause = 200 * time.Millisecond

	// maxUnknown is how many wishes a server may remove before its sign shows that it has opened the graph.
	maxUnknown = 5
)

// moveAnswer is the result of cluster move.
type moveAnswer struct {
	GraphID string `json:"graph_id"` // id of the graph
	Writer  string `json:"writer"`   // name of the server that writes the graph
	Epoch   uint64 `json:"epoch"`    // number of takeovers of the graph so far
}

// newClusterMove makes the command omnigraph cluster move.
func newClusterMove() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "move GRAPH NODE",
		Short: "Make another server the writer of a graph in shared storage",
		Long: `Make another server the writer of a graph in shared storage. NODE is the name of a running
server that serves the graph; cluster status lists the names. No acknowledged write is lost.
Writes that arrive during the change get the status 503, and clients send them again.

The command waits up to half a minute until the server is the writer.
` + noPolicy,
		Example: "  omnigraph cluster move people og-2",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage.Errorf("cluster move takes a graph and the name of a server, but %d arguments were given; see omnigraph cluster move --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			cfg, err := f.read(cmd)
			if err != nil {
				return terminal.PrintFaults(cmd, err)
			}
			if cfg.Shared == nil {
				return fmt.Errorf("the storage of %s is a folder of one server, which writes all its graphs; only graphs in shared storage can move", cfg.File)
			}
			s, done, err := replica.OpenForCommand(cmd.Context(), cfg.Shared.URL)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			a, err := moveGraph(cmd.Context(), s.Bucket, args[0], args[1])
			if err != nil {
				return err
			}
			return f.print(cmd, single(a, "", "graph_id", "writer", "epoch"))
		},
	}
	f.flags(cmd)
	return cmd
}

// moveGraph asks a server to become the writer of a graph, and waits until the sign of life of that
// server says that it is.
func moveGraph(ctx context.Context, b object.Bucket, graph, node string) (*moveAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	wished := false // whether this command has stored a wish
	unknown := 0    // wishes that the server has removed without opening the graph
	for {
		signs, err := replica.Signs(ctx, b)
		if err != nil {
			return nil, notMoved(ctx, b, graph, node, wished, err)
		}
		target, epoch, err := targetOf(signs, graph, node)
		switch {
		case err != nil:
			return nil, err
		case target.Role == replica.Writer && target.Epoch == epoch:
			return &moveAnswer{GraphID: graph, Writer: node, Epoch: epoch}, nil
		case unknown > maxUnknown:
			return nil, fmt.Errorf("the server %s does not serve the graph %s; restart it after omnigraph cluster apply", node, graph)
		}
		// The server removes a wish after it granted the wish, if the wish came too late, or if it does not serve
		// the graph. An idle graph is not in its sign until the wish has opened it.
		err = replica.Move(ctx, b, node, replica.Wish{Graph: graph, Epoch: epoch})
		switch {
		case err == nil:
			if wished = true; target.Role == "" {
				unknown++
			}
		case !errors.Is(err, object.ErrExists):
			return nil, notMoved(ctx, b, graph, node, wished, err)
		}
		select {
		case <-ctx.Done():
			return nil, notMoved(ctx, b, graph, node, wished, ctx.Err())
		case <-time.After(movePause):
		}
	}
}

// targetOf returns what the sign of the server `node` says about a graph, and the highest epoch of the graph on
// any server. The GraphSign is zero if the server does not have the graph open.
func targetOf(signs []replica.Sign, graph, node string) (target replica.GraphSign, epoch uint64, err error) {
	var names []string
	found, differsFrom := false, ""
	for _, s := range signs {
		names = append(names, s.Node)
		g := s.Graphs[graph]
		epoch = max(epoch, g.Epoch)
		if s.Node == node {
			target, found, differsFrom = g, true, s.DiffersFrom
		}
	}
	switch {
	case !found && len(names) == 0:
		return target, 0, fmt.Errorf("no server with the name %s is running; start it, or see omnigraph cluster status", node)
	case !found:
		return target, 0, fmt.Errorf("no server with the name %s is running; the servers are %s", node, strings.Join(names, ", "))
	case differsFrom != "" && target.Role != replica.Writer:
		return target, 0, fmt.Errorf("the server %s takes over no graph, because its configuration differs from that of the server %s, which was started earlier; give all servers the same files and program, and restart the old ones", node, differsFrom)
	}
	return target, epoch, nil
}

// notMoved withdraws the wish of a move that failed, and returns the error to report.
func notMoved(ctx context.Context, b object.Bucket, graph, node string, wished bool, cause error) error {
	if wished {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), movePause*10)
		defer cancel()
		cause = errors.Join(cause, replica.Withdraw(ctx, b, node))
	}
	return fmt.Errorf("the server %s has not become the writer of the graph %s; it may have stopped, or not reach the storage: read its log, and see omnigraph cluster status: %w", node, graph, cause)
}
