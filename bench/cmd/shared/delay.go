package main

import (
	"context"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// delays are the delays that a proxy adds to requests. The defaults are about those of an object
// store in the same region.
type delays struct {
	read  time.Duration // of GET and HEAD
	write time.Duration // of all other methods
}

// proxy returns a handler that delays each request and then passes it to a server with the Host that the
// client has signed. It calls wait with the context of the request and the delay.
func proxy(to *url.URL, d delays, wait func(context.Context, time.Duration)) http.Handler {
	// Connections that wait for their delay do not occupy a connection to the server. Without this limit
	// the proxy would close all but two idle connections.
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	reverse := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delay := d.write
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			delay = d.read
		}
		wait(r.Context(), delay)
		reverse.ServeHTTP(w, r)
	})
}

// pause waits for d or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
