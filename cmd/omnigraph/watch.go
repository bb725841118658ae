package main

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// init adds the verb of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newWatch) }

// newWatch makes the command omnigraph watch.
func newWatch() *cobra.Command {
	return usage.Group("watch", "Be told when the answer of a stored query changes", newWatchCreate(), newWatchList(), newWatchRead(), newWatchRedeliver(), newWatchDismiss(), newWatchDelete(), newWatchWebhooks())
}

// watchColumns returns the columns of a list of watches. Those without a webhook have no column for it.
func watchColumns(list ...client.Watch) []string {
	names := []string{"watch_id", "query", "params", "branch", "debounce_ms", "created_at"}
	if slices.ContainsFunc(list, func(w client.Watch) bool { return w.Webhook != nil }) {
		names = append(names, "webhook")
	}
	return names
}

// newWatchCreate makes the command omnigraph watch create.
func newWatchCreate() *cobra.Command {
	var f graphFlags
	var branch, params, webhook string
	var debounce time.Duration
	cmd := &cobra.Command{
		Use:   "create (--store DIR | --server URL --graph ID) QUERY",
		Short: "Keep a stored read with its parameters as a watch",
		Long: `Keep a stored read with its parameters as a watch, on a branch. The watch is yours: nobody else can
read or delete it. A query with now(), with as of, with an approximate search (@ann), or that embeds
a text is refused, because its answer depends on more than the graph.

With --webhook, the server sends each event to an address, as Standard Webhooks. The settings of the
graph list the hosts, and you need watch_webhook. The secret of the signatures is shown once.`,
		Example: "  omnigraph watch create --store data/code heaviest_packages\n" +
			"  omnigraph watch create --server http://127.0.0.1:8080 --graph code heaviest_packages --debounce 2s",
		Args: usage.Exactly("QUERY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := client.WatchBody{Query: args[0], Branch: branch, Webhook: webhook, DebounceMs: int32(min(max(debounce.Milliseconds(), -1), 1<<31-1))}
			if params != "" {
				if !json.Valid([]byte(params)) {
					return usage.Errorf("--params is not JSON; expected an object such as '{\"name\": \"ada\"}'")
				}
				body.Params = json.RawMessage(params)
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				w, err := s.graph.CreateWatch(ctx, body)
				if err != nil {
					return nil, err
				}
				return single(w, "", watchColumns(*w)...), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&branch, "branch", "", "the branch that the query reads (default: main)")
	cmd.Flags().StringVar(&params, "params", "", "the parameters of the query, as a JSON object")
	cmd.Flags().StringVar(&webhook, "webhook", "", "send the events to this address, such as https://hooks.example.com/graph")
	cmd.Flags().DurationVar(&debounce, "debounce", 0, "how long watch read --follow and the webhook wait after a change for further ones, such as 2s")
	return cmd
}

// newWatchList makes the command omnigraph watch list.
func newWatchList() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "list (--store DIR | --server URL --graph ID)",
		Short:   "List your watches, the oldest first",
		Example: "  omnigraph watch list --store data/code",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				a, err := s.graph.Watches(ctx)
				if err != nil {
					return nil, err
				}
				return &report{doc: a, objects: rowsOf(a.Watches), rows: rowsOf(a.Watches), columns: columns(watchColumns(a.Watches...)...)}, nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// newWatchRead makes the command omnigraph watch read.
func newWatchRead() *cobra.Command {
	var f graphFlags
	var cursor string
	var followed bool
	cmd := &cobra.Command{
		Use:   "read (--store DIR | --server URL --graph ID) ID",
		Short: "Show the answer of a watch, or how it has changed after a cursor",
		Long: `Show the answer of a watch, or with --cursor, how it has changed since: the rows that came, went and
changed, and the next cursor. Whoever stores the cursor together with the rows sees each change
exactly once. An event with a reset has the whole answer, which replaces the rows.

With --follow, the command prints an event as a line of JSON for each change, until it is stopped.`,
		Example: "  omnigraph watch read --store data/code $WATCH\n" +
			"  omnigraph watch read --server http://127.0.0.1:8080 --graph code $WATCH --cursor $CURSOR --follow",
		Args: usage.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if followed && f.server == "" {
				return usage.Errorf("--follow needs --server: nobody else changes a store that this command has open")
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				if !followed {
					e, err := s.graph.WatchEvent(ctx, args[0], cursor)
					if err != nil {
						return nil, err
					}
					return watchReport(e), nil
				}
				for e, err := range s.graph.WatchEvents(ctx, args[0], cursor) {
					if err != nil {
						return nil, err
					}
					line, err := encoding.JSON(e)
					if err != nil {
						return nil, err
					}
					if _, err := cmd.OutOrStdout().Write(append(line, '\n')); err != nil {
						return nil, err
					}
				}
				return nil, nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&cursor, "cursor", "", "the cursor of the last event (default: show the whole answer)")
	cmd.Flags().BoolVar(&followed, "follow", false, "go on, with an event for each change")
	return cmd
}

// watchRow is a row of an event, in a table.
type watchRow struct {
	Change string     `json:"change"` // row, came, went, before or after
	Row    client.Row `json:"row"`
}

// watchReport returns the report of an event.
func watchReport(e *client.WatchEvent) *report {
	r := &report{doc: e, columns: columns("change", "row"), note: "cursor " + e.Cursor}
	add := func(change string, rows ...client.Row) {
		for _, row := range rows {
			r.rows = append(r.rows, watchRow{change, row})
		}
	}
	add("row", e.Rows...)
	add("came", e.Came...)
	add("went", e.Went...)
	for _, c := range e.Changed {
		add("before", c.Before)
		add("after", c.After)
	}
	r.objects = r.rows
	return r
}

// newWatchRedeliver makes the command omnigraph watch redeliver.
func newWatchRedeliver() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "redeliver (--store DIR | --server URL --graph ID) ID",
		Short: "Send the events of a webhook again that could not be delivered",
		Long: `Send the events of the webhook of a watch again that could not be delivered, each with the id that it
had. An event that cannot be delivered now either stays in the list, which watch list --format json
shows. A webhook that paused because its receiver answered 410 goes on.`,
		Example: "  omnigraph watch redeliver --server http://127.0.0.1:8080 --graph code $WATCH",
		Args:    usage.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				w, err := s.graph.RedeliverWatch(ctx, args[0])
				if err != nil {
					return nil, err
				}
				return single(w, "", watchColumns(*w)...), nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// newWatchDismiss makes the command omnigraph watch dismiss.
func newWatchDismiss() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "dismiss (--store DIR | --server URL --graph ID) ID",
		Short: "Remove the events of a webhook from its list that could not be delivered",
		Long: `Remove the events of the webhook of a watch that could not be delivered from the list that watch list
--format json shows. They are not sent again.`,
		Example: "  omnigraph watch dismiss --server http://127.0.0.1:8080 --graph code $WATCH",
		Args:    usage.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				w, err := s.graph.DismissUndelivered(ctx, args[0])
				if err != nil {
					return nil, err
				}
				return single(w, "", watchColumns(*w)...), nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// newWatchWebhooks makes the command omnigraph watch webhooks.
func newWatchWebhooks() *cobra.Command {
	var f graphFlags
	var end string
	cmd := &cobra.Command{
		Use:   "webhooks (--store DIR | --server URL --graph ID)",
		Short: "List the webhooks of all actors, or end one; this needs admin",
		Long: `List the webhooks of all actors with their owners and health. With --end, delete a watch with its
webhook, for example that of somebody who has left. Both need the permission admin.`,
		Example: "  omnigraph watch webhooks --store data/code\n" +
			"  omnigraph watch webhooks --server http://127.0.0.1:8080 --graph code --end $WATCH",
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				if end != "" {
					d, err := s.graph.EndWebhook(ctx, end)
					if err != nil {
						return nil, err
					}
					return single(d, "", "deleted"), nil
				}
				a, err := s.graph.Webhooks(ctx)
				if err != nil {
					return nil, err
				}
				return &report{
					doc: a, objects: rowsOf(a.Webhooks), rows: rowsOf(a.Webhooks),
					columns: columns("watch_id", "owner", "query", "branch", "host", "state", "undelivered", "created_at"),
				}, nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&end, "end", "", "the `id` of the watch to delete")
	return cmd
}

// newWatchDelete makes the command omnigraph watch delete.
func newWatchDelete() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "delete (--store DIR | --server URL --graph ID) ID",
		Short:   "Delete one of your watches",
		Example: "  omnigraph watch delete --store data/code $WATCH",
		Args:    usage.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				d, err := s.graph.DeleteWatch(ctx, args[0])
				if err != nil {
					return nil, err
				}
				return single(d, "", "deleted"), nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}
