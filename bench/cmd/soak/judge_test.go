package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// sound returns the result of a run without faults.
func sound() *result {
	r := &result{book: newBook(), checked: 1, end: ending{took: time.Second}}
	for operation, statuses := range explained {
		r.book.enter(outcome{operation: operation, status: statuses[0]})
	}
	for i := range 180 {
		r.samples = append(r.samples, sample{at: time.Duration(i) * time.Second, rss: 100_000 + int64(i%7)*1000, threads: 10, goroutines: 50 + int64(i%5)})
	}
	return r
}

// TestVerdict adds one fault at a time to a sound result and checks that verdict reports it.
func TestVerdict(t *testing.T) {
	if err := sound().verdict(); err != nil {
		t.Fatalf("a sound run: %v", err)
	}
	for _, tt := range []struct {
		name  string
		spoil func(*result)
		want  string // part of the error that verdict returns; empty if it returns nil
	}{
		{"an error that nothing explains", func(r *result) {
			r.book.enter(outcome{operation: "insert", status: 500, request: "POST x", body: []byte("oh")})
		}, "insert: answered 500"},
		{"a conflict where none may be", func(r *result) { r.book.enter(outcome{operation: "update", status: 409}) }, "update: answered 409"},
		{"a success where a refusal was due", func(r *result) { r.book.enter(outcome{operation: "denied", status: 200}) }, "denied: answered 200"},
		{"an operation of no name", func(r *result) { r.book.enter(outcome{operation: "forged", status: 200}) }, "forged: answered 200"},
		{"a lost connection while serving", func(r *result) { r.book.enter(outcome{operation: "load", err: errors.New("reset")}) }, "load: answered 0"},
		{"a lost connection while stopping", func(r *result) {
			r.book.stop()
			r.book.enter(outcome{operation: "load", err: errors.New("reset")})
		}, ""},
		{"a panic while stopping", func(r *result) {
			r.book.stop()
			r.book.enter(outcome{operation: "load", status: 500})
		}, "load: answered 500"},
		{"an admission limit", func(r *result) {
			r.book.enter(outcome{operation: "insert", status: http.StatusTooManyRequests})
		}, ""},
		{"a torn read", func(r *result) { r.book.complain("note %s is torn", "n") }, "note n is torn"},
		{"an operation that never ran", func(r *result) { delete(r.book.pages, "branch merge") }, `"branch merge" was never tried`},
		{"an operation that was refused every time", func(r *result) {
			r.book.pages["branch merge"].statuses = map[int]int{http.StatusTooManyRequests: 9}
		}, `"branch merge" was never answered`},
		{"a bad end", func(r *result) { r.end.err = errors.New("exit status 1") }, "exit status 1"},
		{"a lost write", func(r *result) { r.lost = []string{"note n is lost"} }, "note n is lost"},
		{"nothing compared", func(r *result) { r.checked = 0 }, "compared no note or branch"},
		{"leaking goroutines", func(r *result) {
			for i := range r.samples {
				r.samples[i].goroutines += int64(i)
			}
		}, "goroutines grew"},
		{"metrics that are not there", func(r *result) {
			for i := range r.samples {
				r.samples[i].goroutines = 0
			}
		}, "did not give the number of goroutines"},
		{"memory that grows with the commits", func(r *result) {
			for i := range r.samples {
				r.samples[i].commits = int64(i) * 200
				r.samples[i].rss += int64(i) * 100
			}
		}, ""},
		{"two KiB of each commit", func(r *result) {
			for i := range r.samples {
				r.samples[i].commits = int64(i) * 600
				r.samples[i].rss += int64(i) * 1200
			}
		}, "resident memory in KiB grew"},
		{"leaking memory", func(r *result) {
			for i := range r.samples {
				r.samples[i].rss += int64(i) * 2000
			}
		}, "resident memory in KiB grew"},
		{"a short run, which is all growth", func(r *result) {
			r.samples = r.samples[:20]
			for i := range r.samples {
				r.samples[i].rss += int64(i) * 50_000
			}
		}, ""},
		{"leaking threads", func(r *result) {
			for i := range r.samples {
				r.samples[i].threads += int64(i) / 5
			}
		}, "threads grew"},
		{"memory that grows until it is level", func(r *result) {
			for i := range r.samples {
				r.samples[i].rss += int64(min(i, 60)) * 10_000
			}
		}, ""},
	} {
		r := sound()
		tt.spoil(r)
		err := r.verdict()
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: the verdict is %v, wanted %q in it", tt.name, err, tt.want)
		}
	}
}

// TestDiffer compares a ledger with stores that agree with the ledger, and with others that do not.
func TestDiffer(t *testing.T) {
	order := map[string]uint64{"c1": 1, "c2": 2, "c3": 3}
	filled := func() *ledger {
		l := newLedger()
		l.note("kept", "old", true)
		l.note("kept", "new", true)
		l.note("gone", "text", true)
		l.note("gone", absent, true)
		l.note("refused", absent, true)
		l.note("unsure", "before", true)
		l.note("unsure", "after", false)
		l.branch("b", made, true)
		l.branch("deleted", made, true)
		l.branch("deleted", absent, true)
		l.share("shared", write{commit: "c3", text: "third"}) // acknowledged before c2
		l.share("shared", write{commit: "c2", text: "second"})
		return l
	}
	for _, tt := range []struct {
		name  string
		spoil func(l *ledger, notes, branches map[string]string)
		want  []string // parts of the expected differences
	}{
		{"as acknowledged", func(*ledger, map[string]string, map[string]string) {}, nil},
		{"an unknown outcome that happened", func(_ *ledger, notes, _ map[string]string) { notes["unsure"] = "after" }, nil},
		{"an unknown outcome that is neither", func(_ *ledger, notes, _ map[string]string) { notes["unsure"] = "else" }, []string{"note unsure"}},
		{"a lost insert", func(_ *ledger, notes, _ map[string]string) { delete(notes, "kept") }, []string{"note kept"}},
		{"a lost update", func(_ *ledger, notes, _ map[string]string) { notes["kept"] = "old" }, []string{"note kept"}},
		{"a lost delete", func(_ *ledger, notes, _ map[string]string) { notes["gone"] = "text" }, []string{"note gone"}},
		{"a refused write", func(_ *ledger, notes, _ map[string]string) { notes["refused"] = "x" }, []string{"note refused"}},
		{"a note of nobody", func(_ *ledger, notes, _ map[string]string) { notes["stranger"] = "x" }, []string{"note stranger"}},
		{"a shared note by an earlier commit", func(_ *ledger, notes, _ map[string]string) { notes["shared"] = "second" }, []string{"shared note shared"}},
		{"a shared note by an unknown outcome", func(l *ledger, notes, _ map[string]string) {
			l.share("shared", write{text: "fourth", unsure: true})
			notes["shared"] = "fourth"
		}, nil},
		{"a commit that is not in the history", func(l *ledger, _, _ map[string]string) { l.share("shared", write{commit: "c9", text: "x"}) }, []string{"commit c9"}},
		{"a lost branch", func(_ *ledger, _, branches map[string]string) { delete(branches, "b") }, []string{"branch b"}},
		{"a branch that was deleted", func(_ *ledger, _, branches map[string]string) { branches["deleted"] = made }, []string{"branch deleted"}},
		{"a branch of nobody", func(_ *ledger, _, branches map[string]string) { branches["stranger"] = made }, []string{"branch stranger"}},
	} {
		l, notes, branches := filled(), map[string]string{"kept": "new", "unsure": "before", "shared": "third"}, map[string]string{"b": made}
		tt.spoil(l, notes, branches)
		got, checked := l.differ(notes, branches, order)
		if checked != 7 {
			t.Errorf("%s: %d keys were compared, wanted 7", tt.name, checked)
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q", tt.name, got)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, wanted %q in it", tt.name, got[i], want)
			}
		}
	}
}

func TestThirds(t *testing.T) {
	var samples []sample
	for _, n := range []int64{1, 9, 2, 5, 5, 5, 30, 10, 20} {
		samples = append(samples, sample{rss: n})
	}
	if got := thirds(samples, rss); got != [3]int64{2, 5, 20} {
		t.Errorf("the medians are %v", got)
	}
	if got := thirds(nil, rss); got != [3]int64{} {
		t.Errorf("the medians of no samples are %v", got)
	}
}

// TestEveryDeedIsExplained checks that each actor has deeds to perform, because a run without calls
// would pass.
func TestEveryDeedIsExplained(t *testing.T) {
	for _, actor := range []string{everything, reader, indexer} {
		if len(deeds[actor]) < 5 || slices.ContainsFunc(deeds[actor], func(d deed) bool { return d.weight < 1 }) {
			t.Errorf("%s has %d deeds", actor, len(deeds[actor]))
		}
	}
}
