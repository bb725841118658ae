package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Differs returns the sign of a running server that was started before this one and that has another
// configuration. The result `found` is false if there is none. A server for which `found` is true should
// receive no requests: it might apply another policy than the servers that are already in use. For the same
// reason, it takes over no graph.
func (n *Node) Differs() (other Sign, found bool) {
	if s := n.differs.Load(); s != nil {
		return *s, true
	}
	return Sign{}, false
}

// mayTakeOver returns an error if this server must not become the writer of a graph; see Differs.
func (n *Node) mayTakeOver() error {
	if other, found := n.Differs(); found {
		return &engine.Unavailable{Reason: ConfigError(other).Error(), RetryAfter: retryAfter}
	}
	return nil
}

// differ sets the server that Differs returns, or nil for none.
func (n *Node) differ(from *Sign) {
	was := n.differs.Swap(from)
	if (was == nil) != (from == nil) || was != nil && was.Node != from.Node {
		n.tell()
	}
}

// runCompare compares the configurations regularly until ctx ends. It has its own goroutine, so that slow
// reads of many signs do not delay the sign of this server.
func (n *Node) runCompare(ctx context.Context) {
	ticker := time.NewTicker(n.opts.Renew)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_ = n.compare(ctx) // if the storage does not answer, the sign of this server fails, too, and is reported
	}
}

// A server removes the sign of a command that was killed when the sign has not changed for clearAfter,
// and is older than clearAge. The first time is measured by the server, so the sign of a command that still
// runs stays, whatever its clock shows. In the second time, the collector keeps what the sign states as
// needed.
const (
	clearAfter = 10 * time.Minute
	clearAge   = 24 * time.Hour
)

// clear removes the sign of a command if the command has ended without removing it.
func (n *Node) clear(ctx context.Context, id string, content []byte) {
	n.observing.Lock()
	defer n.observing.Unlock()
	var s Sign
	if json.Unmarshal(content, &s) != nil || n.leases.Unchanged(id) < max(clearAfter, n.opts.Lease) || clock.Now().Sub(s.Renewed) < clearAge {
		return
	}
	_ = n.leases.Clear(ctx, id) // the next comparison tries again
}

// compare looks for the server that Differs returns, removes the signs of commands that were killed, and
// offers a graph to another server if that one writes fewer. A command compares nothing.
func (n *Node) compare(ctx context.Context) error {
	if n.opts.Config == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, n.opts.Lease)
	defer cancel()
	entries, err := object.ListAll(ctx, n.opts.Bucket, nodePrefix)
	if err != nil {
		return fmt.Errorf("listing the servers: %w", err)
	}
	var same []Sign
	for _, e := range entries {
		id := strings.TrimPrefix(e.Name, nodePrefix)
		if id == n.opts.ID {
			continue
		}
		n.observing.Lock()
		content, expired, err := n.leases.Look(ctx, id)
		n.observing.Unlock()
		if err != nil {
			return err
		}
		if expired && strings.HasPrefix(id, commandPrefix) {
			n.clear(ctx, id, content)
			continue
		}
		var s Sign
		if expired || json.Unmarshal(content, &s) != nil || s.Config == "" {
			continue
		}
		if s.Config == n.opts.Config {
			same = append(same, s)
			continue
		}
		if s.Started.Before(n.started) || s.Started.Equal(n.started) && s.Node < n.opts.ID {
			n.differ(&s)
			return nil
		}
	}
	n.differ(nil)
	n.balance(ctx, same)
	return nil
}

// ConfigError returns the reason why a server with another configuration than `other` is not ready.
func ConfigError(other Sign) error {
	return errors.New("the configuration of this server differs from that of the server " + other.Node +
		", which was started earlier: give all servers the same cluster.yaml, schemas, queries, policies and program, and restart the servers with the old ones; this server is ready when no earlier server differs")
}
