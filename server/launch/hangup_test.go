package launch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/auth"
)

// TestReloadTokens sends hangups. New tokens must replace the old ones, and a fault must leave them.
func TestReloadTokens(t *testing.T) {
	tokens := func(raw ...string) *auth.Tokens {
		all := &auth.Tokens{}
		for _, token := range raw {
			if err := all.Add(token, "act-"+token); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	served := tokens("old")
	var log strings.Builder
	next := make(chan func() (*auth.Tokens, error))
	hangups := make(chan os.Signal)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		reloadTokens(ctx, hangups, served, func() (*auth.Tokens, error) { return (<-next)() }, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	for _, load := range []func() (*auth.Tokens, error){
		func() (*auth.Tokens, error) { return tokens("new", "other"), nil },
		func() (*auth.Tokens, error) { return nil, errors.New("line 3 is wrong") },
		func() (*auth.Tokens, error) { return tokens(), nil },
	} {
		hangups <- syscall.SIGHUP
		next <- load
	}
	cancel()
	<-done
	for token, want := range map[string]bool{"old": false, "new": true, "other": true} {
		if actor, err := served.Verify(t.Context(), token); err != nil || (actor != nil) != want {
			t.Errorf("token %s: %v, %v; want known %v", token, actor, err, want)
		}
	}
	for _, want := range []string{"tokens=2", "line 3 is wrong", "there are no static tokens any more"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q: %s", want, log.String())
		}
	}
}
