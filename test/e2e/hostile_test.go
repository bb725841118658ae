package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const (
	// heapLimit is the GOMEMLIMIT of the servers in these tests. memoryLimit bounds their resident
	// memory in MiB. heapLimit is not a hard limit and does not include the program itself.
	heapLimit   = "1GiB"
	memoryLimit = 1024 + 256

	// patience is how long the honest client may wait for an answer during an attack. It is long
	// enough for a machine that runs other tests at the same time.
	patience = 5 * time.Second

	// goodToken is the token of the honest client. Its actor has limits of its own for requests in
	// flight.
	goodToken = "token-of-good-faith"

	// largestFault bounds the size of a refusal in bytes. A refusal must not repeat the request.
	largestFault = 32 << 10
)

// besieged is a server under attack, and an honest client that reads from it all the time.
type besieged struct {
	*process
	took []time.Duration // durations of the reads; read it only after depart
	quit chan struct{}
	done sync.WaitGroup

	once sync.Once
}

// besiege starts a server with verbose logging. When the test ends, it checks that the honest
// client was always served, that the server's memory stayed below its limit, that every line of the
// log is one record, and that the server stops on a signal.
func besiege(t *testing.T, args ...string) *besieged {
	t.Setenv("GOMEMLIMIT", heapLimit)
	t.Setenv("OMNIGRAPH_TOKEN_ACT_ADA", goodToken)
	b := &besieged{process: start(t, clusterDir(t), append(args, "--verbose")...), quit: make(chan struct{})}
	b.done.Go(func() {
		for {
			start := clock.Now()
			status, err := readOnce(b.addr)
			b.took = append(b.took, clock.Since(start))
			if err != nil || status != http.StatusOK {
				t.Errorf("during the attacks the honest client was answered %d, %v", status, err)
			}
			select {
			case <-b.quit:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	t.Cleanup(b.leave)
	return b
}

// readOnce is one read of the honest client.
func readOnce(addr string) (status int, err error) {
	body := strings.NewReader(`{"params":{"symbol":"example.com/p.F1"}}`)
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/graphs/code/queries/notes_about", body)
	if err != nil {
		return 0, err
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + goodToken}, "Content-Type": {"application/json"},
		// The server may close an idle connection just when the client sends a request on it. This
		// entry makes net/http send the request again; the entry itself is not sent.
		"Idempotency-Key": {},
	}
	return send(req, nil)
}

// depart stops the honest client and waits for it.
func (b *besieged) depart() {
	close(b.quit)
	b.done.Wait()
}

func (b *besieged) leave() {
	b.once.Do(b.depart)
	if slowest := slices.Max(b.took); slowest > patience {
		b.t.Errorf("during the attacks the honest client waited %v, expected at most %v", slowest, patience)
	}
	if peak := b.memory("VmHWM"); peak > memoryLimit {
		b.t.Errorf("the server held %d MiB of memory, expected at most %d", peak, memoryLimit)
	} else {
		b.t.Logf("%d reads of the honest client, the slowest %v; the server held at most %d MiB", len(b.took), slices.Max(b.took), peak)
	}
	b.stop()
	checkLog(b.t, b.stderr.Bytes())
}

// memory returns one of the sizes in the status of the process, in MiB.
func (p *process) memory(name string) int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("memory cannot be measured here: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				p.t.Fatal(err)
			}
			return kib >> 10
		}
	}
	p.t.Fatalf("/proc has no %s", name)
	return 0
}

// quoted matches a quoted value in a line of the log.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// checkLog checks that each line of a log is one complete record without control characters.
func checkLog(t *testing.T, log []byte) {
	t.Helper()
	records := 0
	for line := range bytes.Lines(log) {
		text := strings.TrimSuffix(string(line), "\n")
		if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
			t.Errorf("a line of the log has %q at byte %d: %q", text[i], i, text)
		}
		isText := strings.HasPrefix(text, "time=") && strings.Contains(text, " level=") && strings.Contains(text, " msg=")
		if !isText && !json.Valid(line) {
			t.Errorf("a line of the log is not a record: %q", text)
		}
		if strings.Contains(quoted.ReplaceAllString(text, `""`), "msg=forged") || strings.Contains(text, `"msg":"forged"`) {
			t.Errorf("a record of the log was forged: %q", text)
		}
		records++
	}
	if records == 0 {
		t.Error("nothing was logged, so the check shows nothing")
	}
}

// reply is the answer on a connection. If there was none, the status is closed.
type reply struct {
	status int
	header http.Header
	body   []byte
	last   bool // the server closes the connection
}

// closed is the status of a connection that ended without an answer.
const closed = 0

// exchange sends bytes unchanged and reads one answer.
func (p *process) exchange(request []byte) (reply, error) {
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return reply{}, err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = conn.Write(request) // the server may refuse before it has read everything
	}()
	defer func() { conn.Close(); <-sent }()
	return readReply(bufio.NewReader(conn), "POST")
}

func readReply(r *bufio.Reader, method string) (reply, error) {
	res, err := http.ReadResponse(r, &http.Request{Method: method})
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return reply{}, fmt.Errorf("no answer and no end within the time: %w", err)
	case err != nil:
		return reply{status: closed}, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if errors.As(err, &timeout) && timeout.Timeout() {
		return reply{}, fmt.Errorf("half an answer within the time: %w", err)
	}
	return reply{res.StatusCode, res.Header, body, res.Close}, nil
}

// check checks that the status of an answer is in the list `want`. A refusal must be an error
// envelope; if the request was not valid HTTP, the refusal is a line of text, and the server closes
// the connection.
func (r reply) check(want ...int) error {
	if !slices.Contains(want, r.status) {
		return fmt.Errorf("answered %d %.300s, expected %v", r.status, r.body, want)
	}
	if r.status < 400 {
		return nil
	}
	if len(r.body) > largestFault {
		return fmt.Errorf("refused with %d bytes, expected at most %d: %.300s", len(r.body), largestFault, r.body)
	}
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	switch media := r.header.Get("Content-Type"); {
	case media == "application/json":
		if err := json.Unmarshal(r.body, &envelope); err != nil || len(envelope.Error) == 0 {
			return fmt.Errorf("refused without an envelope: %q", r.body)
		}
	case r.last && (strings.HasPrefix(media, "text/plain") || len(r.body) == 0) && slices.Contains([]int{400, 417, 431, 501, 505}, r.status):
		// A request that the HTTP library cannot parse reaches no handler.
	default:
		return fmt.Errorf("refused as %q: %q", media, r.body)
	}
	for name, values := range r.header {
		if strings.ContainsFunc(name+strings.Join(values, ""), unicode.IsControl) || strings.Contains(name, "Forged") {
			return fmt.Errorf("the header %q: %q was injected", name, values)
		}
	}
	return nil
}

// request returns a POST request with a token, a length, and the given header lines.
func (p *process) request(path, contentType, body string, header ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n",
		path, p.addr, p.token, len(body))
	if contentType != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", contentType)
	}
	for _, line := range header {
		fmt.Fprintf(&b, "%s\r\n", line)
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	return b.Bytes()
}

const (
	overREST = "/graphs/code/query"
	overMCP  = "/graphs/code/mcp"
	asJSON   = "application/json"
)

// attack is a hostile request, with the statuses that the server may return for it.
type attack struct {
	name    string
	request []byte
	want    []int
}

// repel sends the attacks one after another and checks the answers.
func (b *besieged) repel(t *testing.T, attacks []attack) {
	t.Helper()
	for _, a := range attacks {
		r, err := b.exchange(a.request)
		if err == nil {
			err = r.check(a.want...)
		}
		if err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
	}
}
