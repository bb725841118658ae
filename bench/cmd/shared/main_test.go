package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain is also the main function of the processes that a run starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == readCommand {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRun makes every measurement once, on a folder, which needs no server.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		tables string
		cells  map[int]int // number of lines by number of cells
	}{
		// Two tables of six columns, with two and four rows; one of four with two; one of seven with four.
		{"commits,lag,open,warm", map[int]int{6: 2 + 2 + 2 + 4, 4: 2 + 2, 7: 2 + 4}},
		{"warm", map[int]int{6: 2 + 4}},
		{"open", map[int]int{7: 2 + 4}},
	} {
		var out bytes.Buffer
		args := []string{"-dir", t.TempDir(), "-storages", "folder", "-writers", "1,4", "-rows", "2000,3000", "-time", "20ms", "-samples", "1", "-runs", "1", "-warmup", "20ms", "-rounds", "2", "-tables", c.tables}
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		cells := map[int]int{}
		for line := range strings.Lines(out.String()) {
			if n := strings.Count(line, "|"); n > 0 {
				cells[n-1]++
			}
		}
		if !maps.Equal(cells, c.cells) {
			t.Errorf("-tables %s: the numbers of lines by number of cells are %v, want %v\n%s", c.tables, cells, c.cells, out.String())
		}
	}
}

// TestProxy checks the delay of each method, and that the request arrives as the client has signed it.
func TestProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Found", r.Host+" "+r.URL.RequestURI()+" "+string(body))
	}))
	defer server.Close()
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var waited time.Duration
	front := httptest.NewServer(proxy(to, delays{read: 60 * time.Millisecond, write: 100 * time.Millisecond}, func(_ context.Context, d time.Duration) { waited = d }))
	defer front.Close()
	for method, want := range map[string]time.Duration{
		http.MethodGet: 60 * time.Millisecond, http.MethodHead: 60 * time.Millisecond,
		http.MethodPut: 100 * time.Millisecond, http.MethodDelete: 100 * time.Millisecond,
	} {
		body := ""
		if method == http.MethodPut {
			body = "content"
		}
		req, err := http.NewRequestWithContext(t.Context(), method, front.URL+"/graphs/a%2Fb?list-type=2", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		signed := strings.TrimPrefix(front.URL, "http://") + " /graphs/a%2Fb?list-type=2 " + body
		if found := resp.Header.Get("X-Found"); found != strings.TrimSpace(signed) || waited != want {
			t.Errorf("%s: the server found %q after %v; want %q after %v", method, found, waited, signed, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-rows many", `-rows "many"`},
		{"-writers 0", `-writers "0"`},
		{"-runs 0", "-runs"},
		{"-get -1s", "-get"},
		{"-warmup -1s", "-warmup"},
		{"-tables opens", `-tables has "opens"; write some of commits, lag, open, warm`},
		{"-storages tape", `-storages has "tape"`},
		{"extra", `unexpected argument "extra"`},
	} {
		err := run(t.Context(), append([]string{"-dir", t.TempDir()}, strings.Fields(test.args)...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", test.args, err, test.want)
		}
	}
}

// TestTurns sends turns to a process that reads a graph.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	rows, err := graphOf(options{seed: 1}, 2000)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	at, err := loadFolder(t.Context(), options{dir: dir}, c, "g", rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		turns   string
		answers int
		want    string // in the error; empty for none
	}{
		{"0 0\n3 7\n", 2, ""},
		{"0 0\n4 1\n", 1, `the turn "4 1" is not known`},
		{"-1 1\n", 0, `the turn "-1 1" is not known`},
		{"0\n", 0, `the turn "0" is not known`},
	} {
		var out bytes.Buffer
		err := serveTurns(t.Context(), []string{"-at", at, "-rows", "2000", "-seed", "1"}, strings.NewReader(test.turns), &out, io.Discard)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.turns, err, test.want)
		}
		if n := strings.Count(out.String(), "\n"); n != test.answers {
			t.Errorf("%q: %d answers, want %d: %q", test.turns, n, test.answers, out.String())
		}
	}
}

func TestRatio(t *testing.T) {
	w := &warm{folder: []time.Duration{10, 10, 20}, shared: []time.Duration{11, 20, 20}}
	if median, least, greatest := w.ratio(); median != 1.1 || least != 1 || greatest != 2 {
		t.Errorf("the ratios are %v, %v and %v; want 1.1, 1 and 2", median, least, greatest)
	}
}

func TestQuantiles(t *testing.T) {
	times := []time.Duration{12 * time.Second, 1500 * time.Microsecond, 2 * time.Microsecond}
	if got, want := quantiles(times, 0, 0.5, 1), "2.0 µs | 1.5 ms | 12.0 s"; got != want {
		t.Errorf("the cells are %q, want %q", got, want)
	}
}
