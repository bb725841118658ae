package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// loadTokens reads the static tokens of the environment. With --dev it adds the development token of the
// data folder, and returns that token too.
func loadTokens(config *cluster.Config, dev bool) (tokens *auth.Tokens, token string, err error) {
	if tokens, err = auth.Load(os.Environ(), config.Server.Claims); err != nil || !dev {
		return tokens, "", err
	}
	folder := config.Folder()
	if token, err = devToken(folder); err != nil {
		return nil, "", err
	}
	if err := tokens.Add(token, devActor); err != nil {
		return nil, "", fmt.Errorf("the development token in %s: %w", folder, err)
	}
	return tokens, token, nil
}

// reloadTokens replaces the tokens at each hangup, until the context ends. If the new ones cannot be read,
// or there are none, the server keeps those that it has: without tokens it would have to decide again who
// may do what, as it does at the start.
func reloadTokens(ctx context.Context, hangups <-chan os.Signal, tokens *auth.Tokens, load func() (*auth.Tokens, error), log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		}
		fresh, err := load()
		if err == nil && fresh.Len() == 0 && tokens.Len() > 0 {
			err = errors.New("there are no static tokens any more; to serve without them, start the server again")
		}
		if err != nil {
			log.Error("a hangup signal arrived, but the tokens could not be read; the server keeps those that it has", "error", err)
			continue
		}
		tokens.Replace(fresh)
		log.Info("a hangup signal arrived; the server read the tokens again, and everything else takes effect at the next start", "tokens", fresh.Len())
	}
}
