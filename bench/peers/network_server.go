package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/stored"
)

// serverToken is the bearer token of the server, which listens only on the loopback interface and only
// during the run.
const serverToken = "a-token-for-the-benchmark"

// openServer starts the server on the graph that openEngine made. A statement is a POST over one
// connection that stays open, and it reads the whole JSON answer.
func (n *network) openServer(ctx context.Context, _ *snb.Network) (*networkDatabase, error) {
	if n.server == "" {
		return nil, absent("no command to serve the graph; name it with -snb-server")
	}
	_, plans, err := stored.Compile()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(n.server, "-graph", filepath.Join(n.dir, networkGraph), "-serve", "127.0.0.1:0", "-token", serverToken)
	s, err := serverproc.Start(ctx, cmd, os.Stderr)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}}
	return &networkDatabase{
		prepare: func(_ context.Context, read string) (statement, error) {
			url := "http://" + s.Addr + "/graphs/" + networkGraph + "/queries/" + read
			return func(ctx context.Context, args []any, keep *[][]any) (int, error) {
				return post(ctx, client, url, args[0].([]byte), keep)
			}, nil
		},
		convert: func(read string, args []any) []any {
			params := map[string]any{}
			for i, p := range plans[read].Params {
				params[p.Name] = args[i]
				if t, ok := args[i].(snb.Millis); ok {
					params[p.Name] = t.String()
				}
			}
			body, err := json.Marshal(map[string]any{"params": params})
			if err != nil {
				panic(err) // all arguments have a JSON form
			}
			return []any{body}
		},
		countsOnly: true,
		close: func() error {
			client.CloseIdleConnections()
			_, err := s.Terminate(30 * time.Second)
			return err
		},
	}, nil
}

// post calls a stored query and reads its answer. If `keep` is not nil, post appends an empty row for
// each row of the answer.
func post(ctx context.Context, client *http.Client, url string, body []byte, keep *[][]any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+serverToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	if keep == nil {
		return 0, nil
	}
	var answer struct {
		Rows []json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, err
	}
	for range answer.Rows {
		*keep = append(*keep, nil)
	}
	return len(answer.Rows), nil
}
