package replica

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// commandPrefix is the prefix of the ids of the nodes of commands.
const commandPrefix = "command-"

// OpenForCommand connects to the shared storage of a URL for one command. The cache is a new
// temporary folder. The caller closes the graphs, and then calls the function that OpenForCommand
// returns.
func OpenForCommand(ctx context.Context, storage string) (*Storage, func() error, error) {
	bucket, done, err := address.Open(ctx, storage)
	if err != nil {
		return nil, nil, fmt.Errorf("the shared storage %s: %w", address.Redacted(storage), err)
	}
	cache, err := os.MkdirTemp("", "omnigraph-cache-")
	if err != nil {
		done()
		return nil, nil, err
	}
	node := NewNode(NodeOptions{Bucket: bucket, ID: commandPrefix + strings.ToLower(rand.Text())[:8], Renew: commandRenew})
	leave := func() error {
		// If the lease cannot be removed, servers wait until it ends. The command itself has succeeded.
		_ = node.Leave(context.WithoutCancel(ctx))
		done()
		return os.RemoveAll(cache)
	}
	return &Storage{Bucket: bucket, Cache: cache, Node: node, Command: true}, leave, nil
}
