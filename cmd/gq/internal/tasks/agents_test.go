package tasks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// depotTasks returns the tasks about the depot, which needs no stored queries.
func depotTasks(t *testing.T) *Compiled {
	t.Helper()
	set, err := Make("depot", 3)
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: set.Schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return &Compiled{Set: set, Catalog: schema}
}

// script decides what the scripted model says next: calls of tools, or its last words.
type script func(task *Task, answers []any) (calls []Call, words string)

// solves returns a script that makes the calls of a solution, one at a time, and answers with its answer.
func solves(which func(*Task) Solution) script {
	return func(task *Task, answers []any) ([]Call, string) {
		s := which(task)
		if n := len(answers); n < len(s.Calls) {
			args, err := resolve(s.Calls[n].Arguments, answers)
			if err != nil {
				return nil, err.Error()
			}
			return []Call{{Tool: s.Calls[n].Tool, Arguments: args.(map[string]any)}}, ""
		}
		if len(s.Columns) == 0 {
			text, _ := encoded(s.Answer)
			return nil, "I am done.\n\n**ANSWER: " + text + "**"
		}
		rows, err := columns(answers[len(answers)-1], s.Columns)
		if err != nil {
			return nil, err.Error()
		}
		text, _ := encoded(rows)
		return nil, "Here it is.\n" + answerMark + " " + text
	}
}

// endpoint serves a scripted model behind the API of chat completions.
func endpoint(t *testing.T, c *Compiled, s script) *httptest.Server {
	t.Helper()
	e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model    string        `json:"model"`
			Messages []message     `json:"messages"`
			Tools    []offeredTool `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" ||
			request.Model != "scripted" || len(request.Tools) < 20 || request.Messages[0].Role != "system" {
			t.Errorf("%s %q: %v, %d tools", r.URL.Path, r.Header.Get("Authorization"), err, len(request.Tools))
			http.Error(w, "no such request", http.StatusBadRequest)
			return
		}
		var task *Task
		var answers []any
		for _, m := range request.Messages {
			switch m.Role {
			case "user":
				for i := range c.Tasks {
					if strings.HasPrefix(*m.Content, strings.TrimSpace(c.Tasks[i].Prompt)) {
						task = &c.Tasks[i]
					}
				}
			case "tool":
				var v any
				if decode([]byte(*m.Content), &v) != nil {
					v = *m.Content
				}
				answers = append(answers, v)
			}
		}
		calls, words := s(task, answers)
		m := message{Role: "assistant"}
		for i, c := range calls {
			tc := toolCall{ID: fmt.Sprintf("call-%d-%d", len(answers), i), Type: "function"}
			args, _ := encoded(c.Arguments)
			tc.Function.Name, tc.Function.Arguments = c.Tool, args
			m.ToolCalls = append(m.ToolCalls, tc)
		}
		if len(calls) == 0 {
			m.Content = &words
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": m}}, "usage": map[string]any{"total_tokens": 1000}})
	}))
	t.Cleanup(e.Close)
	return e
}

var budget = Budget{Calls: 12, Tokens: 50_000, Time: time.Minute}

// TestModels lets scripted models do the tasks: a right and a wrong one, one that calls nothing, and hostile ones.
func TestModels(t *testing.T) {
	slow.Test(t)
	c := depotTasks(t)
	sabotage := Call{Tool: "graph_mutate", Arguments: map[string]any{"query": "query d() { delete Order where number != \"\" }"}}
	for _, tt := range []struct {
		name   string
		script script
		passed int
		wrote  bool   // every try writes to main
		why    string // a part of the reason why the first task does not pass
	}{
		{"right", solves(func(t *Task) Solution { return t.Right }), 20, false, ""},
		{"wrong", solves(func(t *Task) Solution { return t.Wrong }), 0, false, "the answer is"},
		{"lazy", func(*Task, []any) ([]Call, string) { return nil, "I would call graph_query." }, 0, false, "no line that begins with ANSWER:"},
		{"guesses null", func(*Task, []any) ([]Call, string) { return nil, "ANSWER: null" }, 1, false, "the answer is null"},
		{"sabotage", func(t *Task, answers []any) ([]Call, string) {
			if len(answers) == 0 {
				return []Call{sabotage}, ""
			}
			return solves(func(t *Task) Solution { return t.Right })(t, answers[1:])
		}, 0, true, "of main changed"},
		{"loops", func(*Task, []any) ([]Call, string) { return []Call{{Tool: "branch_list"}}, "" }, 0, false, "called tools 12 times without an end"},
		{"calls what is not there", func(_ *Task, answers []any) ([]Call, string) {
			if len(answers) == 0 {
				return []Call{{Tool: "drop_all"}}, ""
			}
			return nil, "ANSWER: []"
		}, 0, false, "the answer is []"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &Model{URL: endpoint(t, c, tt.script).URL + "/v1", Name: "scripted", Key: "secret"}
			passed := 0
			for i := range c.Tasks {
				r, err := Run(t.Context(), c, &c.Tasks[i], m, 1, budget)
				if err != nil {
					t.Fatal(err)
				}
				try := r.Tries[0]
				if try.Passed {
					passed++
				}
				if tt.wrote != try.WroteMain && tt.name != "wrong" {
					t.Errorf("%s: wrote to main: %t, expected %t", r.Task, try.WroteMain, tt.wrote)
				}
				if i == 0 && !strings.Contains(try.Why, tt.why) {
					t.Errorf("%s: %q, expected %q", r.Task, try.Why, tt.why)
				}
				if try.Tokens < 1000 || try.Calls > budget.Calls {
					t.Errorf("%s: %d tokens, %d calls", r.Task, try.Tokens, try.Calls)
				}
			}
			if passed != tt.passed {
				t.Errorf("%d tasks passed, expected %d", passed, tt.passed)
			}
		})
	}
}

// TestEndpointFails checks what a try says about an endpoint that does not work.
func TestEndpointFails(t *testing.T) {
	c := depotTasks(t)
	for answer, why := range map[string]string{
		"":                "the endpoint answered 503",
		`{"choices": []}`: "no chat completion",
	} {
		e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if answer == "" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, answer)
		}))
		r, err := Run(t.Context(), c, &c.Tasks[0], &Model{URL: e.URL, Name: "none"}, 2, budget)
		e.Close()
		if err != nil || len(r.Tries) != 2 || r.Tries[1].Passed || !strings.Contains(r.Tries[1].Why, why) {
			t.Errorf("%q: %v, %+v", answer, err, r)
		}
	}
}

// TestOutside lets another program, which opens its own session, do a task at the second try.
func TestOutside(t *testing.T) {
	c := depotTasks(t)
	task := &c.Tasks[1]
	fromRunner, toProgram := io.Pipe()
	fromProgram, toRunner := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			defer toRunner.Close()
			lines := bufio.NewScanner(fromRunner)
			for lines.Scan() {
				var w outsideTask
				if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
					return err
				}
				if w.Graph != "depot" || w.Number != 2 || strings.Contains(lines.Text(), task.Name) {
					return fmt.Errorf("the program got %s", lines.Text())
				}
				reply := `{"answer": "ANSWER: 0", "tokens": 77}`
				if w.Try == 2 {
					s := &server{address: w.Address}
					session, err := s.connect(t.Context())
					if err != nil {
						return err
					}
					a, err := call(t.Context(), session, task.Right.Calls[0].Tool, task.Right.Calls[0].Arguments)
					if err != nil {
						return err
					}
					var v any
					if err := decode([]byte(a.text), &v); err != nil {
						return err
					}
					rows, err := columns(v, task.Right.Columns)
					if err != nil {
						return err
					}
					text, _ := encoded(map[string]any{"answer": fmt.Sprintf("ANSWER: %v", rows[0][0])})
					if reply = text; session.Close() != nil {
						return err
					}
				}
				if w.Try == 3 {
					return nil
				}
				if _, err := fmt.Fprintln(toRunner, reply); err != nil {
					return err
				}
			}
			return lines.Err()
		}()
	}()
	a := NewOutside(toProgram, fromProgram)
	r, err := Run(t.Context(), c, task, a, 2, budget)
	if err != nil || r.within(1) || !r.within(2) || r.Tries[0].Tokens != 77 || r.Tries[1].Calls != 1 || r.Tries[1].Tokens == 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	// A program that ends stops the run.
	if _, err := Run(t.Context(), c, task, a, 3, budget); err == nil || !strings.Contains(err.Error(), "read the answer to the task "+task.Name) {
		t.Errorf("%v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAnswers compares answers in the forms that models give them.
func TestAnswers(t *testing.T) {
	one, two, wide := [][]any{{"a"}}, [][]any{{"a"}, {"b"}}, [][]any{{"a", 5}}
	for _, tt := range []struct {
		words   string
		want    [][]any
		ordered bool
		same    bool
	}{
		{"ANSWER: [[\"a\"]]", one, false, true},
		{"ANSWER: \"a\"", one, false, true},
		{"Text.\n  **ANSWER: [\"b\", \"a\"]**", two, false, true},
		{"ANSWER: [\"b\", \"a\"]", two, true, false},
		{"ANSWER: [\"a\", \"5\"]", wide, false, true},
		{"ANSWER: [[\"a\", 5]]\nANSWER: [[\"a\", 6]]", wide, false, false},
		{"ANSWER: [\"a\", \"a\"]", one, false, false},
		{"ANSWER: []", one, false, false},
		{"ANSWER: []", nil, false, false},
		{"ANSWER: null", nil, false, true},
		{"ANSWER: null", [][]any{}, false, false},
		{"ANSWER: []", [][]any{}, false, true},
		{"ANSWER: 9007199254740993", [][]any{{json.Number("9007199254740993")}}, false, true},
	} {
		got, found := finalAnswer(tt.words)
		if same := sameRows(answerRows(got, tt.want), tt.want, tt.ordered); !found || same != tt.same {
			t.Errorf("%q against %v: %t, expected %t", tt.words, tt.want, same, tt.same)
		}
	}
	for _, words := range []string{"", "The answer is 5.", "ANSWER:", "ANSWER: [1", "My ANSWER: 5"} {
		if v, found := finalAnswer(words); found {
			t.Errorf("%q gives %v", words, v)
		}
	}
}

// TestSeeds checks that a right solution can pass for each seed, and that the answer of a wrong one differs.
func TestSeeds(t *testing.T) {
	slow.Test(t)
	for seed := range uint64(300) {
		d := depotWorld(seed)
		if total := d.facts["total"]["want"].([][]any)[0][0].(int); total <= depotSites {
			t.Errorf("seed %d: %d pieces of an item in all, which may be the number of its sites", seed, total)
		}
		if n := d.facts["ship"]["count"].(int); n == 0 {
			t.Errorf("seed %d: no order to ship", seed)
		}
	}
	for _, seed := range []uint64{7, 333, 387, 521} { // for all but the first, nothing but tests calls the function with the new name
		c := codeWorld(seed)
		for _, row := range c.facts["unused"]["want"].([][]any) {
			if path, _ := encoded(row[0]); !bytes.Contains(c.data.Bytes(), []byte(path)) {
				t.Errorf("seed %d: there is no function %s", seed, path)
			}
		}
	}
}
