package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// question is what a developer asks about a module. A name that the developer types exactly stands in backquotes.
type question struct {
	asks string
	want string // parts of the right answer, separated by semicolons; or [nothing]
	not  string // parts that no right answer has, separated by semicolons
}

// nothing is the right answer if no row is right. It needs a note.
const nothing = "nothing"

// parcelQuestions are about testdata/questions/module.txtar. They were written by somebody who knew the descriptions of the tools. Names that a developer types exactly make them
// easier than free prose, so the count of right answers says that nothing is wrong in silence, and little about other words.
var parcelQuestions = []question{
	// Who calls.
	{"Who calls `Fold`?", "api.Quote; api.Track; core.zone", "store.Memory"},
	{"who calls `core.Price`", "api.Quote; core.TestPrice", "api.Track"},
	{"Which functions call time.Now, I mean `time.Now`?", "store.Memory.Put", "Memory.Get"},
	{"What calls the method `Memory.Get`?", "api.Track; store.Keeper.Get", "api.Cancel"},
	{"what does `Quote` call internally?", "core.Price; text.Fold", "store."},
	{"Which code uses the constant `MaxGrams`?", "core.Price; core.TestPrice", "api."},
	{"Where is the type `TooHeavy` mentioned?", "core.Price", "store."},
	// What breaks.
	{"What breaks if I change `Fold`?", "core.zone; core.Price; api.Quote; api.Track", "store.Memory.Drop"},
	{"What is affected by a change of `core.zone`?", "core.Price; api.Quote", "api.Cancel"},
	{"blast radius of `Memory.Drop`", "api.Cancel", "api.Track"},
	{"I am adding a method to `Keeper`: which structs will stop compiling?", "store.Memory", "core.TooHeavy"},
	{"what may run when somebody calls `api.Track`, several levels down?", "text.Fold; store.Memory.Get", "core.Price"},
	// Which tests.
	{"Which tests cover `Price`?", "core.TestPrice", "TestFold"},
	{"which tests should I run after changing `text.Fold`?", "TestFold; TestPrice", ""},
	{"Which tests exercise `Surcharge`?", "TestPrice", "TestFold"},
	// Where is the text.
	{"Where is `RetryUpload` defined?", "store/store.go", "api/"},
	{"What is the exact signature of `Track`?", "store.Keeper, id string) (string, error)", ""},
	{"What's the doc comment of `Discount` say?", "nobody uses", ""},
	{"List the functions declared in the source file `core.go`, in order.", "core.Price; core.zone; core.Discount", "api."},
	{"Which exported symbols does the package `store` offer, its public interface?", "store.Keeper; store.ErrUnknown; store.RetryUpload", "core."},
	// Dead code.
	{"Is there any dead code: exported functions that nobody ever calls?", "core.Discount", "core.Price"},
	{"Which functions are only used by tests?", "core.Surcharge", "text.Fold"},
	// Layering.
	{"Who imports the package `store`?", "parcel/api; cmd/parcel", "parcel/core"},
	{"Which packages does `api` import, itself or through others?", "parcel/core; parcel/text; parcel/store", "cmd/parcel"},
	{"do we still use the package `strings` anywhere", "parcel/text", "parcel/api"},
	// Hot spots.
	{"Which function has the most callers?", "text.Fold", ""},
	{"Which packages are the biggest, by lines?", "parcel/store; parcel/core", ""},
	// By meaning.
	{"Is there some function that retries failed uploads?", "store.RetryUpload", ""},
	{"What is the package `parcel/text` for?", "folds what people type", ""},
	{"Which code computes what a parcel costs?", "core.Price", ""},
}

// exact matches a name that a question has in backquotes.
var exact = regexp.MustCompile("`([^`]+)`")

// TestThirtyQuestions answers questions about two modules through MCP alone. A script takes the first query that the search finds
// for the words of the question. Its only argument is the exact name in the question, or else the question itself. No answer may
// be wrong without a note, and at least 25 of 30 must be right at once. Of the questions that the search was not mended for, eight.
func TestThirtyQuestions(t *testing.T) {
	t.Run("parcel", func(t *testing.T) { askAll(t, questionServer(t, parcelFolder(t)), parcelQuestions, 25) })
	t.Run("cobra", func(t *testing.T) {
		slow.Test(t)
		s := questionServer(t, cobraFolder(t))
		askAll(t, s, cobraQuestions, 25)
		askAll(t, s, heldQuestions, 8)
	})
}

// askAll asks questions, of which at least `least` must be right at once.
func askAll(t *testing.T, s *evalServer, asked []question, least int) {
	t.Helper()
	right, noted, silent := 0, 0, 0
	for _, q := range asked {
		name, answer, fault := ask(t, s, q.asks)
		var a struct {
			Rows  []json.RawMessage `json:"rows"`
			Notes []string          `json:"notes"`
			Cut   bool              `json:"truncated"`
		}
		if fault == "" {
			if err := json.Unmarshal([]byte(answer), &a); err != nil {
				t.Fatal(err)
			}
		}
		// A note that a name was completed does not warn that the answer may be wrong.
		a.Notes = slices.DeleteFunc(a.Notes, func(n string) bool { return strings.Contains(n, " was read as ") })
		var found strings.Builder
		for _, r := range a.Rows {
			found.Write(r)
			found.WriteByte('\n')
		}
		switch {
		case fault == "" && q.want == nothing && len(a.Rows) == 0 && len(a.Notes) > 0, fault == "" && q.want != nothing && holds(found.String(), q):
			right++
		case fault != "" || len(a.Notes) > 0 || a.Cut:
			noted++
			t.Logf("not at once: %s\n\t%s: %s%s", q.asks, name, fault, answer)
		default:
			silent++
			t.Logf("wrong in silence: %s\n\t%s: %s", q.asks, name, answer)
		}
	}
	t.Logf("%d questions: %d right at once, %d not at once, with a note, %d wrong in silence", len(asked), right, noted, silent)
	if right < least || silent > 0 {
		t.Errorf("expected at least %d right at once, and none wrong in silence", least)
	}
}

// holds reports whether rows answer a question.
func holds(rows string, q question) bool {
	for _, p := range strings.Split(q.want, "; ") {
		if !mentions(rows, p) {
			return false
		}
	}
	for _, p := range strings.Split(q.not, "; ") {
		if p != "" && mentions(rows, p) {
			return false
		}
	}
	return true
}

// mentions reports whether rows have a part that no letter or digit continues.
func mentions(rows, part string) bool {
	for rest := rows; ; {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		if next, _ := utf8.DecodeRuneInString(after); !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			return true
		}
		rest = after
	}
}

// ask asks the search for a query, runs the first that it finds, and returns the answer or the fault.
func ask(t *testing.T, s *evalServer, words string) (name, answer, fault string) {
	t.Helper()
	call := func(tool string, args any) (string, string) {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		a, fault, err := s.Call(t.Context(), tool, raw)
		if err != nil {
			t.Fatal(err)
		}
		return string(a), fault
	}
	given := ""
	if m := exact.FindStringSubmatch(words); m != nil {
		given = m[1]
	}
	list, fault := call("stored_query_list", map[string]any{"filter": words})
	if fault != "" {
		t.Fatalf("%s: %s", words, fault)
	}
	var found struct {
		Queries []struct {
			Name   string `json:"name"`
			Params struct {
				Required []string `json:"required"`
			} `json:"params"`
		} `json:"queries"`
	}
	if err := json.Unmarshal([]byte(list), &found); err != nil {
		t.Fatalf("%s: %v in %s", words, err, list)
	}
	if len(found.Queries) == 0 {
		return "", "", "no query is found"
	}
	q := found.Queries[0]
	params := map[string]any{}
	for _, p := range q.Params.Required {
		if params[p] = given; given == "" || p == "words" {
			params[p] = words
		}
	}
	answer, fault = call("stored_query_run", map[string]any{"name": q.Name, "params": params})
	return q.Name, answer, fault
}

// parcelFolder writes the module of the first questions.
func parcelFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a, err := txtar.ParseFile("testdata/questions/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// questionServer serves the graph of a module, with the two tools that find and run stored queries.
func questionServer(t *testing.T, dir string) *evalServer {
	t.Helper()
	g, err := gocode.Read(t.Context(), gocode.Options{Dir: dir, Env: append(os.Environ(), "GOWORK=off", "GOPROXY=off")})
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "code.ndjson")
	out, err := os.Create(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.WriteNDJSON(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return codeServer(t, data, 1)
}

// codeServer serves a graph of source code, with the meta tools if there are at least `threshold` queries.
func codeServer(t *testing.T, data string, threshold int) *evalServer {
	t.Helper()
	text, err := os.ReadFile("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema := compiled(t, string(text))
	var queries []tool.StoredQuery
	queries = append(queries, code.Catalog().Queries...)
	s := newEvalServer("code", string(text), schema, queries, nil)
	s.config.MetaThreshold, s.data = threshold, data
	if _, err := s.Reset(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// compiled compiles a schema.
func compiled(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return schema
}
