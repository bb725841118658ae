package evaluation

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func described(name, description string, questions ...string) Tool {
	return Tool{Descriptor: &tool.Descriptor{Name: name, Description: description}, Questions: questions, Stored: true}
}

// TestScore compares a score with one that was computed by hand: two tools with three and one terms,
// and a question with a term of the first.
func TestScore(t *testing.T) {
	x := newIndex([]Tool{described("open_tickets", "tickets"), described("people", "")})
	weight := math.Log(1 + (2-1+0.5)/(1+0.5))
	want := weight * 2 * 2.2 / (2 + 1.2*(0.25+0.75*3/2.0))
	if got := x.score(0, []string{"ticket"}); math.Abs(got-want) > 1e-9 {
		t.Errorf("found %v, wanted %v", got, want)
	}
	if got := x.score(1, []string{"ticket"}); got != 0 {
		t.Errorf("the other tool has %v, wanted 0", got)
	}
}

func TestFind(t *testing.T) {
	tools := []Tool{
		described("open_tickets", "List the tickets that wait.", "Which tickets are waiting?", "What are the open tickets?"),
		described("people", "List the people of a team.", "Who is in the team?", "Is anybody ill?"),
		described("first_twin", "Twins.", "Is there a twin?"), described("second_twin", "Twins."),
		described("third_twin", "Twins."), described("fourth_twin", "Twins."),
	}
	f, pairs := find(tools)
	if f.Questions != 5 || f.Found != 2 {
		t.Errorf("found %d of %d, wanted 2 of 5", f.Found, f.Questions)
	}
	want := []Missed{
		{Tool: "open_tickets", Question: "What are the open tickets?", Rank: 1, Reason: "the question contains the name of the tool"},
		{Tool: "people", Question: "Is anybody ill?"},
		// Tools with the same score come first, so a tool that is no better than three others is missed.
		{Tool: "first_twin", Question: "Is there a twin?", Rank: 4, First: []string{"second_twin", "third_twin", "fourth_twin"}},
	}
	if !slices.EqualFunc(f.Missed, want, func(a, b Missed) bool {
		return a.Tool == b.Tool && a.Question == b.Question && a.Rank == b.Rank && a.Reason == b.Reason && slices.Equal(a.First, b.First)
	}) {
		t.Errorf("missed %+v\nwanted %+v", f.Missed, want)
	}
	if !slices.Equal(f.Without, []string{"second_twin", "third_twin", "fourth_twin"}) {
		t.Errorf("without a question are %v", f.Without)
	}
	if len(pairs) != 0 {
		t.Errorf("%v are easily confused", pairs)
	}
}

func TestPairs(t *testing.T) {
	_, pairs := find([]Tool{
		described("callers", "List the urgent tickets that a customer opened, with state, owner and due date."),
		described("people", "List the people of a team."),
		described("callees", "List the urgent tickets that a customer opened, with state, owner and due date."),
	})
	if len(pairs) != 1 || pairs[0].First != "callers" || pairs[0].Second != "callees" || pairs[0].Alike >= 1 {
		t.Errorf("%v are easily confused", pairs)
	}
}

func TestGives(t *testing.T) {
	for _, tt := range []struct {
		question, name string
		want           bool
	}{
		{"What are the open tickets?", "open_tickets", true},
		{"Is open_tickets the one?", "open_tickets", true},
		{"Which tickets are open?", "open_tickets", false},
		{"Reopen tickets", "open_tickets", false},
		{"Why is that?", "why", true},
		{"What is publicApi?", "public_api", true},
	} {
		if got := gives(tt.question, tt.name); got != tt.want {
			t.Errorf("%q and %s: %t", tt.question, tt.name, got)
		}
	}
}

// TestQuestions checks that each built-in tool has questions, and that each question has a tool.
func TestQuestions(t *testing.T) {
	count := 0
	for _, b := range builtin.All("") {
		name := b.Descriptor().Name
		own := Questions(name)
		if len(own) == 0 {
			t.Errorf("%s has no question", name)
		}
		for _, q := range own {
			if gives(q, name) {
				t.Errorf("%s: %q contains the name", name, q)
			}
		}
		count += len(own)
	}
	for _, meta := range []string{"stored_query_list", "stored_query_run"} {
		count += len(Questions(meta))
	}
	if all := strings.Count("\n"+questionsText, "\n\t"); all != count {
		t.Errorf("the file has %d questions, and the tools have %d", all, count)
	}
}
