package server_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
)

// setMark writes the files of a box whose stored query reads a property, which was renamed. The query states a number.
func (f *fleet) setMark(property, was string, n int) {
	f.t.Helper()
	rename := ""
	if was != "" {
		rename = fmt.Sprintf(" @rename_from(%q)", was)
	}
	f.write("thing.pg", "node Thing {\n  slug: String @key\n  "+property+": I64?"+rename+"\n}\n")
	f.write("queries/a.gq", strings.ReplaceAll(fmt.Sprintf("query things() @description(\"State %d.\") { match { $t: Thing } return { $t.MARK as mark, %d as n } }\n\n"+
		"query add($slug: String, $mark: I64) { insert new Thing { slug: $slug, MARK: $mark } }\n", n, n), "MARK", property))
	f.write("policy.yaml", "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-ada] }, actions: [read, change, invoke_query] }\n")
	f.write("cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  box: { schema: thing.pg, queries: queries/ }\n"+
		"policies:\n  base: { file: policy.yaml, applies_to: [box] }\n  server: { file: server.policy.yaml, applies_to: [cluster] }\n")
}

// half makes an apply that changes the schema of a graph and fails to record its revision.
func (f *fleet) half() {
	f.t.Helper()
	obstacle := filepath.Join(f.dir, "data", "cluster.revision.tmp", "x") // a folder in the place of the temporary file
	if err := os.MkdirAll(obstacle, 0o755); err != nil {
		f.t.Fatal(err)
	}
	out, err := f.applyHere(f.t.Context())
	if err == nil || !strings.Contains(err.Error(), "recording the revision failed") || len(out.Applied) != 1 {
		f.t.Fatalf("an apply that must fail: %+v, %v", out, err)
	}
	if err := os.RemoveAll(filepath.Dir(obstacle)); err != nil {
		f.t.Fatal(err)
	}
}

// TestHiddenAfterHalfAnApply changes the schema, and not the policy, by applies that fail to record their revisions. What the policy hides
// stays hidden under names that the policy does not know, and what it shows under a former name is shown.
func TestHiddenAfterHalfAnApply(t *testing.T) {
	f := newFleet(t, "box")
	write := func(properties, hidden string) {
		t.Helper()
		f.write("thing.pg", "node Thing {\n  slug: String @key\n"+properties+"}\n")
		f.write("policy.yaml", "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-ada, act-bo] }, actions: [read, change, export] }\n"+
			"  - id: pay\n    deny: { actors: { ids: [act-bo] }, actions: [read, change, export], properties: [Thing."+hidden+"] }\n")
	}
	write("  a: I64?\n  name: String?\n", "a")
	f.apply()
	o := f.serve()
	if status, answer, err := o.ask("POST", "/graphs/box/mutate", "ada", `{"query":"query add() { insert new Thing { slug: \"s\", a: 4711, name: \"seen\" } }"}`); err != nil || status != 200 {
		t.Fatal(status, answer, err)
	}
	check := func(when, text string) {
		t.Helper()
		for path, body := range map[string]string{
			"/graphs/box/query":  `{"query":"query all() { match { $t: Thing } return { $t } }"}`,
			"/graphs/box/export": "{}",
		} {
			if status, answer, err := o.ask("POST", path, "ada", body); err != nil || status != 200 || !strings.Contains(answer, "4711") {
				t.Errorf("%s: %s: act-ada gets %d %s, %v", when, path, status, answer, err)
			}
			status, answer, err := o.ask("POST", path, "bo", body)
			if err != nil || status != 200 || strings.Contains(answer, "4711") || strings.Contains(answer, "more") || !strings.Contains(answer, text) {
				t.Errorf("%s: %s: act-bo gets %d %s, %v", when, path, status, answer, err)
			}
		}
	}
	check("at first", `"name":"seen"`)
	write("  b: I64? @rename_from(\"a\")\n  label: String? @rename_from(\"name\")\n", "b")
	f.half()
	check("after half an apply", `"label":"seen"`)
	write("  c: I64? @rename_from(\"b\")\n  more: I64?\n  label: String? @rename_from(\"name\")\n", "c, Thing.more")
	f.half()
	check("after another one", `"label":"seen"`)
	if out, err := f.applyHere(t.Context()); err != nil || !out.Recorded {
		t.Fatalf("%+v, %v", out, err)
	}
	check("after the whole apply", `"label":"seen"`)
}

// TestHalfAnApply stops applies between the step of the schema and the record of the revision. The server, and one that starts then, serve
// the old revision whole on the new schema. A later apply completes the change, or takes it back.
func TestHalfAnApply(t *testing.T) {
	f := newFleet(t, "box")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.setMark("a", "", 1)
	f.apply()
	o := f.serve()
	written := 0
	check := func(when string, n int) {
		t.Helper()
		written++
		if status, answer, err := o.ask("POST", "/graphs/box/queries/add", "ada", fmt.Sprintf(`{"params":{"slug":"s%d","mark":7}}`, written)); err != nil || status != 200 {
			t.Errorf("%s: a write: %d %s, %v", when, status, answer, err)
		}
		_, answer, err := o.ask("POST", "/graphs/box/queries/things", "ada", `{}`)
		if err != nil || strings.Count(answer, `"mark":7`) != written || strings.Contains(answer, `"mark":null`) {
			t.Errorf("%s: %d things were written, and a read gets %s, %v", when, written, answer, err)
		}
		if _, list, err := o.ask("POST", "/graphs/box/mcp", "ada", listTools); err != nil || !strings.Contains(list, fmt.Sprintf("State %d.", n)) {
			t.Errorf("%s: the tools are not of revision %d: %s, %v", when, n, list, err)
		}
	}
	check("at first", 1)
	f.setMark("b", "a", 2)
	f.half()
	check("after half an apply", 1)
	if out, err := f.applyHere(t.Context()); err != nil || !out.Recorded || len(out.Applied) != 0 {
		t.Errorf("the apply that completes: %+v, %v", out, err)
	}
	check("after the whole apply", 2)
	f.setMark("c", "b", 3)
	f.half()
	f.setMark("b", "c", 2)
	if out, err := f.applyHere(t.Context()); err != nil || len(out.Applied) != 1 {
		t.Errorf("the apply that takes the change back: %+v, %v", out, err)
	}
	check("after the change was taken back", 2)
	f.setMark("d", "b", 4)
	f.half()
	o.stop()
	f.setMark("b", "", 2)
	o = f.serve()
	check("on a server that starts after half an apply", 2)
}

// TestSwapInHalfAnApply swaps the names of two properties in an apply that fails to record its revision. The new stored query has another
// contract, so the old one has no plan for the new schema. By names it would write the wrong property.
func TestSwapInHalfAnApply(t *testing.T) {
	f := newFleet(t, "box")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.setMark("a", "", 1)
	write := func(a, b, params string) {
		f.write("thing.pg", "node Thing {\n  slug: String @key\n  a: I64?"+a+"\n  b: I64?"+b+"\n}\n")
		f.write("queries/a.gq", "query add($slug: String, "+params+"$x: I64) { insert new Thing { slug: $slug, a: $x } }\n")
	}
	write("", "", "")
	f.apply()
	o := f.serve()
	check := func(when, slug, params string, want int) {
		t.Helper()
		if status, answer, err := o.ask("POST", "/graphs/box/queries/add", "ada", `{"params":{"slug":"`+slug+`","x":7`+params+`}}`); err != nil || status != want {
			t.Errorf("%s: %d %s, %v", when, status, answer, err)
		}
	}
	check("at first", "s1", "", 200)
	write(` @rename_from("b")`, ` @rename_from("a")`, "$y: I64?, ")
	f.half()
	check("after half an apply", "s2", "", 409)
	if out, err := f.applyHere(t.Context()); err != nil || !out.Recorded {
		t.Fatalf("%+v, %v", out, err)
	}
	check("after the whole apply", "s3", `,"y":1`, 200)
}

// TestForwardedRevision sends requests that state the revision of the server which forwarded them, to a server that has not noticed it yet.
// Only a server of the cluster can state one.
func TestForwardedRevision(t *testing.T) {
	f, bucket := newSharedFleet(t, "box")
	h, _ := f.mustOpen(func(o *server.Options) { o.Node = "og-1" })
	secret, err := os.ReadFile(filepath.Join(bucket, "cluster.secret"))
	if err != nil {
		t.Fatal(err)
	}
	stated := func(number, secret string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte("revision " + number))
		return number + " " + hex.EncodeToString(mac.Sum(nil))
	}
	ask := func(revision string) (int, uint64) {
		t.Helper()
		r := httptest.NewRequest("GET", "http://127.0.0.1/readyz", nil)
		if revision != "" {
			r.Header.Set("Omnigraph-Revision", revision)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, *readiness(t, h, "ada", 200).Detail.Revision
	}
	_, now := ask("")
	policy, err := os.ReadFile(filepath.Join(f.dir, "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("policy.yaml", string(policy)+"# another text\n")
	f.apply()
	next := fmt.Sprint(now + 1)
	for _, claimed := range []string{"", next, next + " 00", stated(next, "guess"), "x"} {
		if code, got := ask(claimed); code != 200 || got != now {
			t.Errorf("a request with the header %q: status %d, and then the server serves revision %d, want %d", claimed, code, got, now)
		}
	}
	if code, got := ask(stated(next, string(secret))); code != 200 || got != now+1 {
		t.Errorf("a request of revision %s: status %d, and then the server serves revision %d", next, code, got)
	}
	if code, _ := ask(stated(fmt.Sprint(now+2), string(secret))); code != 503 {
		t.Errorf("a request of a revision that is not recorded: status %d", code)
	}
}
