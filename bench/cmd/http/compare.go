package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// calls lists the requests to measure: the same stored lookup by key over both transports.
var calls = []struct {
	label, path, headers, body string
}{
	{"REST, stored lookup", "/graphs/" + graphID + "/queries/get_package", "", `{"params":{"path":%q}}`},
	{"MCP, stored lookup", "/graphs/" + graphID + "/mcp", "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-11-25\r\n",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_package","arguments":{"params":{"path":%q}}}}`},
}

// target is a server with its connections, the head of its requests, and its measurements.
type target struct {
	server *serverproc.Server // the running server
	head   string             // of each request; ends in "Content-Length: "
	conns  []*conn            // open connections to the server

	took []time.Duration // time of each call
	rate []float64       // calls per second in each round
	cpu  time.Duration   // processor time of the server
}

// measure runs one round.
func (t *target) measure(round time.Duration, body func(conn, n int) string) error {
	before, err := t.server.CPU()
	if err != nil {
		return err
	}
	begin := clock.Now()
	took, err := hammer(t.conns, round, func(conn, n int) (string, string) { return t.head, body(conn, n) })
	if err != nil {
		return err
	}
	t.rate = append(t.rate, float64(len(took))/clock.Since(begin).Seconds())
	t.took = append(t.took, took...)
	after, err := t.server.CPU()
	t.cpu += after - before
	return err
}

// compare prints a row for each call and number of connections. The servers take turns, so that
// other work on the machine slows both equally.
func compare(ctx context.Context, stdout io.Writer, ours, other *serverproc.Server, o options) error {
	name := "bare"
	switch {
	case o.applied:
		name = "compiled"
	case o.other != "":
		name = "other"
	}
	fmt.Fprintf(stdout, "| call | answer | connections | omnigraph p50 | p99 | a second | processor a call | %s p50 | p99 | a second | processor a call | p50 ratio | processor ratio | rate ratio |\n", name)
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range calls {
		head := requestHead(ours.Addr, c.path, c.headers)
		body := func(conn, n int) string {
			return fmt.Sprintf(c.body, codegraph.PackagePath((conn*7919+n)%codegraph.Medium.Packages))
		}
		size, err := answerSize(ours.Addr, head, body(0, 0))
		if err != nil {
			return fmt.Errorf("%s: %w", c.label, err)
		}
		otherHead := head
		switch {
		case o.applied:
			otherHead = requestHead(other.Addr, c.path, c.headers)
		case o.other == "":
			otherHead = fmt.Sprintf("POST /%d HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: ", size, other.Addr, c.headers)
		}
		for _, connections := range []int{1, 16} {
			us, them := &target{server: ours, head: head}, &target{server: other, head: otherHead}
			if err := inTurns(ctx, []*target{us, them}, connections, body, o); err != nil {
				return fmt.Errorf("%s: %w", c.label, err)
			}
			fmt.Fprintf(stdout, "| %s | %d B | %d | %s | %s | %.2f | %.2f | %.2f |\n", c.label, size, connections, us.cells(), them.cells(),
				float64(quantile(us.took, 0.5))/float64(quantile(them.took, 0.5)), float64(us.perCall())/float64(them.perCall()), median(us.rate)/median(them.rate))
		}
	}
	return nil
}

// requestHead returns the head of a request to our server, up to the value of Content-Length. Each of the headers
// ends in \r\n.
func requestHead(addr, path, headers string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: " + addr + "\r\nAuthorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\n" + headers + "Content-Length: "
}

// median returns the median of some numbers.
func median(numbers []float64) float64 {
	return slices.Sorted(slices.Values(numbers))[len(numbers)/2]
}

// inTurns warms up the targets. Then it measures one round of each target after the other, until
// all rounds are done.
func inTurns(ctx context.Context, targets []*target, connections int, body func(conn, n int) string, o options) error {
	for _, t := range targets {
		var err error
		if t.conns, err = dial(t.server.Addr, connections); err != nil {
			return err
		}
		defer hangUp(t.conns)
		if _, err := hammer(t.conns, o.round, func(conn, n int) (string, string) { return t.head, body(conn, n) }); err != nil {
			return err
		}
	}
	for range o.rounds {
		for _, t := range targets {
			if err := t.measure(o.round, body); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// cells returns the table cells of the target.
func (t *target) cells() string {
	return fmt.Sprintf("%v | %v | %.0f | %v", quantile(t.took, 0.5), quantile(t.took, 0.99), median(t.rate), t.perCall())
}

// perCall returns the processor time of the server per call.
func (t *target) perCall() time.Duration {
	return (t.cpu / time.Duration(len(t.took))).Round(100 * time.Nanosecond)
}

// answerSize returns the length of the body of an answer, in bytes.
func answerSize(addr, head, body string) (int, error) {
	conns, err := dial(addr, 1)
	if err != nil {
		return 0, err
	}
	defer hangUp(conns)
	answer, err := conns[0].post(head, body)
	return len(answer), err
}

// quantile returns the smallest time t such that the fraction q of all times is t or less.
func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return measure.Quantile(d, q).Round(100 * time.Nanosecond)
}
