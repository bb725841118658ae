package admission

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ada, bob = Actor{ID: "ada"}, Actor{ID: "bob"}

// TestSetLimits changes the limits while requests are in flight and wait.
func TestSetLimits(t *testing.T) {
	g := New(Options{PerActor: 1, Wait: time.Minute})
	if r := g.Enter(t.Context(), ada, 0); r != nil {
		t.Fatal(r)
	}
	admitted := make(chan *Refusal)
	go func() { admitted <- g.Enter(t.Context(), ada, 0) }()
	for g.Load().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	g.SetLimits(2, 0, 0)
	if r := <-admitted; r != nil {
		t.Errorf("with a larger limit, a request that waits is refused: %+v", r)
	}
	g.opts.Wait = 0
	g.SetLimits(1, 0, 0)
	if r := g.Enter(t.Context(), ada, 0); r == nil || r.Limit != 1 || r.Actual != 3 {
		t.Errorf("with a smaller limit: %+v", r)
	}
	g.Leave(ada, 0)
	g.Leave(ada, 0)
	if r := g.Enter(t.Context(), ada, 0); r != nil {
		t.Errorf("after the requests have ended: %+v", r)
	}
}

func TestLimits(t *testing.T) {
	type enter struct {
		actor Actor
		bytes int64
		want  Reason // "" if admitted
	}
	tests := []struct {
		name  string
		o     Options
		steps []enter
	}{
		{"no limits", Options{}, []enter{{ada, 1 << 40, ""}, {ada, 1 << 40, ""}, {ada, 0, ""}}},
		{"per actor", Options{PerActor: 2}, []enter{{ada, 0, ""}, {ada, 0, ""}, {ada, 0, ByActor}, {bob, 0, ""}}},
		{"tenants differ", Options{PerActor: 1}, []enter{{ada, 0, ""}, {Actor{Tenant: "t", ID: "ada"}, 0, ""}, {ada, 0, ByActor}}},
		{"total", Options{PerActor: 2, Total: 3}, []enter{{ada, 0, ""}, {ada, 0, ""}, {bob, 0, ""}, {bob, 0, ByTotal}}},
		{"bytes of all", Options{Bytes: 100}, []enter{{ada, 50, ""}, {bob, 50, ""}, {Actor{ID: "eve"}, 1, ByBytes}, {Actor{ID: "eve"}, 0, ""}}},
		{"bytes of one", Options{Bytes: 100}, []enter{{ada, 30, ""}, {ada, 30, ByBytes}, {ada, 20, ""}, {bob, 50, ""}}},
		{"one that is larger than all", Options{Bytes: 100}, []enter{{ada, 500, ""}, {bob, 1, ByBytes}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var told []Reason
			tt.o.Refused = func(r Reason) { told = append(told, r) }
			g := New(tt.o)
			var in []enter
			refused := 0
			for i, s := range tt.steps {
				var got Reason
				if r := g.Enter(t.Context(), s.actor, s.bytes); r != nil {
					got = r.Reason
					refused++
					if r.Actual <= r.Limit {
						t.Errorf("step %d: refused for %d of %d", i, r.Actual, r.Limit)
					}
				} else {
					in = append(in, s)
				}
				if got != s.want {
					t.Errorf("step %d: got %q, want %q", i, got, s.want)
				}
			}
			if len(told) != refused {
				t.Errorf("was told of %v, want %d refusals", told, refused)
			}
			for _, s := range in {
				g.Leave(s.actor, s.bytes)
			}
			if l := g.Load(); l != (Load{}) {
				t.Errorf("when all have left the load is %+v", l)
			}
		})
	}
}

func TestWait(t *testing.T) {
	g := New(Options{PerActor: 1, Total: 8, Wait: time.Minute})
	if r := g.Enter(t.Context(), ada, 0); r != nil {
		t.Fatal(r)
	}
	entered := make(chan *Refusal)
	go func() { entered <- g.Enter(context.Background(), ada, 0) }()
	for g.Load().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	if r := g.Enter(t.Context(), bob, 0); r != nil {
		t.Errorf("whoever waits holds up another actor: %+v", r)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r := g.Enter(ended, ada, 0); r == nil || r.Reason != ByActor {
		t.Errorf("a wait went on after its context: %+v", r)
	}
	g.Leave(ada, 0)
	if r := <-entered; r != nil {
		t.Errorf("whoever waited was refused: %+v", r)
	}
	g.Leave(ada, 0)
	g.Leave(bob, 0)
	if l := g.Load(); l != (Load{}) {
		t.Errorf("when all have left the load is %+v", l)
	}

	g = New(Options{PerActor: 1, Wait: 5 * time.Millisecond})
	if r := g.Enter(t.Context(), ada, 0); r != nil {
		t.Fatal(r)
	}
	if r := g.Enter(t.Context(), ada, 0); r == nil {
		t.Error("nobody left, and a second one is in")
	}
}

// TestQueueIsBounded checks that the number of waiting requests is at most the limit on
// requests in flight.
func TestQueueIsBounded(t *testing.T) {
	g := New(Options{PerActor: 1, Total: 3, Wait: time.Minute})
	if r := g.Enter(t.Context(), ada, 0); r != nil {
		t.Fatal(r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if g.Enter(ctx, ada, 0) == nil {
				t.Error("two of one actor are in")
			}
		})
	}
	for g.Load().Waiting < 3 {
		time.Sleep(time.Millisecond)
	}
	if r := g.Enter(t.Context(), ada, 0); r == nil {
		t.Error("a fourth one is in")
	}
	cancel()
	wg.Wait()
}

// TestMany lets many actors enter and leave. The limits must hold at every moment, and at the end
// the limiter must have no entry of any actor left.
func TestMany(t *testing.T) {
	o := Options{PerActor: 3, Total: 10, Bytes: 1000, Wait: time.Millisecond}
	g := New(o)
	var now [50]atomic.Int64
	var all, bytes atomic.Int64
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := range 300 {
				n := (w*31 + i) % len(now)
				a, size := Actor{ID: fmt.Sprint(n)}, int64(i%4)*100
				if g.Enter(context.Background(), a, size) != nil {
					continue
				}
				if mine, total, held := now[n].Add(1), all.Add(1), bytes.Add(size); mine > 3 || total > 10 || held > 1000 {
					t.Errorf("%d of the actor, %d in all, %d bytes", mine, total, held)
				}
				now[n].Add(-1)
				all.Add(-1)
				bytes.Add(-size)
				g.Leave(a, size)
			}
		})
	}
	wg.Wait()
	if l := g.Load(); l != (Load{}) || len(g.spare) > maxSpare {
		t.Errorf("when all have left the load is %+v, with %d spare", l, len(g.spare))
	}
}

func TestWrap(t *testing.T) {
	g := New(Options{PerActor: 1, Total: 4, Bytes: 1 << 20, MaxBody: 1 << 20})
	inside, leave := make(chan struct{}), make(chan struct{})
	h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Hold") != "" {
			inside <- struct{}{}
			<-leave
		}
	}))
	send := func(actor *access.Actor, addr, body string, hold bool) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/graphs/code/query", strings.NewReader(body))
		r.RemoteAddr = addr
		if actor != nil {
			r = r.WithContext(access.WithActor(r.Context(), actor))
		}
		if hold {
			r.Header.Set("Hold", "1")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	ada, bob := &access.Actor{ID: "act-ada", Source: "token"}, &access.Actor{ID: "act-bob", Source: "token"}
	everybody := &access.Actor{ID: "anonymous", Source: "none"}
	var wg sync.WaitGroup
	wg.Go(func() { send(ada, "192.0.2.1:1", "", true) })
	<-inside
	w := send(ada, "192.0.2.2:1", "", false)
	var body client.Envelope
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 429 || w.Header().Get("Retry-After") != "1" ||
		body.Code != client.CodeTooManyRequests || body.ResourceLimit == nil || body.ResourceLimit.Limit != 1 || body.ResourceLimit.Actual != 2 {
		t.Errorf("got %d %v %s, %v", w.Code, w.Header(), w.Body, err)
	}
	if w := send(bob, "192.0.2.1:1", "", false); w.Code != 200 {
		t.Errorf("another actor got %d %s", w.Code, w.Body)
	}
	wg.Go(func() { send(everybody, "192.0.2.7:1", "", true) })
	<-inside
	if w := send(everybody, "192.0.2.7:2", "", false); w.Code != 429 {
		t.Errorf("the same address got %d", w.Code)
	}
	if w := send(everybody, "192.0.2.8:1", "", false); w.Code != 200 {
		t.Errorf("another address got %d", w.Code)
	}
	wg.Go(func() { send(bob, "192.0.2.1:1", strings.Repeat(" ", 1<<20), true) })
	<-inside
	if w := send(&access.Actor{ID: "act-cy", Source: "token"}, "192.0.2.1:1", strings.Repeat(" ", 1<<17), false); w.Code != 429 || w.Header().Get("Retry-After") != "5" {
		t.Errorf("bodies above the limit got %d %v", w.Code, w.Header())
	}
	close(leave)
	wg.Wait()
	if l := g.Load(); l != (Load{}) {
		t.Errorf("when all have left the load is %+v", l)
	}
}

func TestBytesOfABody(t *testing.T) {
	g := New(Options{MaxBody: 32 << 20})
	for length, want := range map[int64]int64{
		-1: 32 << 20, 0: 0, SmallBody: 0, SmallBody + 1: SmallBody + 1, 32 << 20: 32 << 20, 1 << 40: 32 << 20,
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.ContentLength = length
		if got := g.bytesOf(r); got != want {
			t.Errorf("a body of %d bytes counts as %d, want %d", length, got, want)
		}
	}
}

// TestRefusedBody sends refused requests with bodies. A client that sends its whole body before it
// reads must still get the answer. A client that sends Expect: 100-continue must not have to send
// the body.
func TestRefusedBody(t *testing.T) {
	g := New(Options{PerActor: 1, MaxBody: 32 << 20})
	s := httptest.NewServer(g.Wrap(http.NotFoundHandler()))
	defer s.Close()
	if r := g.Enter(t.Context(), Actor{ID: "127.0.0.1"}, 0); r != nil {
		t.Fatal(r)
	}
	for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const size = 16 << 20
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n%s\r\n", size, expect)
		if expect == "" {
			if _, err := conn.Write(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // a closed connection would be gone after this time
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusTooManyRequests {
			t.Errorf("with %q it answered %d", expect, res.StatusCode)
		}
	}
}
