package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// serveBare serves until the context ends. POST /N reads the body and answers with N bytes. The
// handler does as little as net/http allows for an answer of that size.
func serveBare(ctx context.Context, stdout io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "OMNIGRAPH_LISTEN_ADDR=%s\n", l.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{size}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("size"))
		if err != nil || n < 0 || n > 1<<20 {
			http.Error(w, "the path must be the size of the answer in bytes, at most 1 MiB", http.StatusBadRequest)
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return // the client has disconnected
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(bytes.Repeat([]byte{' '}, n)) // the client sees the error
	})
	srv := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { srv.Close() })
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
