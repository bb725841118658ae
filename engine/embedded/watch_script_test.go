package embedded

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// watchesScript makes watches and deletes some of them, before and after checkpoints.
func watchesScript() []deed {
	return []deed{
		insert("", "ann", 30),
		watching("ann", "people", ""),
		watching("ann", "notes", ""),
		forking("side", ""),
		watching("bob", "people", "side"),
		checkpoint,
		unwatching("ann", "notes"),
		restating("ann", "at a"),
		restating("bob", "at b"),
		restating("bob", ""),
		insert("side", "bob", 31),
		watching("", "notes", "side"),
		checkpoint,
		restating("ann", "at c"),
		dropping("side"),
		unwatching("bob", "people"),
		watching("bob", "people", ""),
	}
}

// watching makes a watch.
func watching(owner, query, branch string) deed {
	return deed{"CreateWatch", func(g *Graph) error {
		_, err := g.CreateWatch(context.Background(), engine.Watch{
			Owner: owner, Query: query, Branch: branch, Arguments: []byte(`{"name":"` + owner + `"}`), Debounce: 1500 * time.Millisecond,
		}, 0)
		return err
	}}
}

// unwatching deletes the watches that an owner has of a query.
func unwatching(owner, query string) deed {
	return deed{"DeleteWatch", func(g *Graph) error {
		list, err := g.Watches(context.Background(), engine.WatchRange{Owner: owner})
		for _, w := range list {
			if err == nil && w.Query == query {
				err = g.DeleteWatch(context.Background(), w.ID)
			}
		}
		return err
	}}
}

// restating gives the watches of an owner a state; an empty one is none.
func restating(owner, state string) deed {
	return deed{"ChangeWatch", func(g *Graph) error {
		list, err := g.Watches(context.Background(), engine.WatchRange{Owner: owner})
		for _, w := range list {
			if err == nil {
				err = g.ChangeWatch(context.Background(), w.ID, func([]byte) ([]byte, error) { return []byte(state), nil })
			}
		}
		return err
	}}
}

// dumpWatches describes the watches without ids and times.
func dumpWatches(g *Graph) string {
	var b strings.Builder
	for i, w := range must1(g.Watches(context.Background(), engine.WatchRange{})) {
		fmt.Fprintf(&b, "watch %d of %q: %s %s on %s after %s", i, w.Owner, w.Query, w.Arguments, w.Branch, w.Debounce)
		if len(w.State) > 0 {
			fmt.Fprintf(&b, ", state %q", w.State)
		}
		b.WriteString("\n")
	}
	return b.String()
}
