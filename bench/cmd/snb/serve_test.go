package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// TestServe serves a graph and calls a stored query over REST.
func TestServe(t *testing.T) {
	graph := filepath.Join(t.TempDir(), "snb")
	if err := run(t.Context(), []string{"-scale", "0.003", "-graph", graph}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	n, err := snb.Generate(0.003, 42)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stdout, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"-graph", graph, "-serve", "127.0.0.1:0", "-token", "a-token-of-the-test"}, w, io.Discard)
		w.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "OMNIGRAPH_LISTEN_ADDR=")
	p := n.Persons[0]
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/graphs/snb/queries/is1", strings.NewReader(fmt.Sprintf(`{"params":{"person":%d}}`, p.ID)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer a-token-of-the-test")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || !strings.Contains(string(text), fmt.Sprintf("%q:%q", "firstName", p.FirstName)) {
		t.Errorf("status %d, %s; expected the first name %s", res.StatusCode, text, p.FirstName)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
