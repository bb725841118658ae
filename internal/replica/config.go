package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object"
)

// Differs returns the sign of a running server that was started before this one and that has another
// configuration. The result `found` is false if there is none. A server for which `found` is true should
// receive no requests: it might apply another policy than the servers that are already in use.
func (n *Node) Differs() (other Sign, found bool) {
	if s := n.differs.Load(); s != nil {
		return *s, true
	}
	return Sign{}, false
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

// compare looks for the server that Differs returns. A command compares nothing.
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
		var s Sign
		if expired || json.Unmarshal(content, &s) != nil || s.Config == "" || s.Config == n.opts.Config {
			continue
		}
		if s.Started.Before(n.started) || s.Started.Equal(n.started) && s.Node < n.opts.ID {
			n.differs.Store(&s)
			return nil
		}
	}
	n.differs.Store(nil)
	return nil
}

// ConfigError returns the reason why a server with another configuration than `other` is not ready.
func ConfigError(other Sign) error {
	return errors.New("the configuration of this server differs from that of the server " + other.Node +
		", which was started earlier: give all servers the same cluster.yaml, schemas, queries, policies and program, and restart the servers with the old ones; this server is ready when no earlier server differs")
}
