package launch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// newHealth returns the health check for an image that has neither a shell nor curl.
func newHealth() *cobra.Command {
	var addr string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health [--addr HOST:PORT]",
		Short: "Ask a running server whether it is alive",
		Long: `Ask a running server whether it is alive. The exit code is 0 if it answers, and 1 if it
does not. The command needs no token, so a container can run it as its health check.`,
		Example: "  omnigraph-server health\n  omnigraph-server health --addr 127.0.0.1:9090 --timeout 1s",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return checkAlive(ctx, addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "the `ADDRESS` of the server")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	_ = cmd.RegisterFlagCompletionFunc("addr", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("timeout", cobra.NoFileCompletions)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// checkAlive returns nil if a server answers at addr. A server that does not accept this host name
// answers 403 from its host check; it is alive too.
func checkAlive(ctx context.Context, addr string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return usageError{fmt.Errorf("--addr is %q, expected host:port, such as 127.0.0.1:8080", addr)}
	}
	res, err := http.DefaultClient.Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer in time", addr)
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusForbidden {
		return fmt.Errorf("%s answers %s", addr, res.Status)
	}
	return nil
}
